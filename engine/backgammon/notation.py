"""Reading plays as players write them, and saying why one cannot be made.

`8/5 6/5`, `bar/21*`, `25/21`, `6/off`, `6/0`, `13/7*/5`, `6/4(2)`, with spaces or commas, in upper
or lower case, with or without hit marks and intermediate points.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise

import numpy as np

from engine.backgammon.board import BAR, HOME, OFF
from engine.backgammon.dice import Dice
from engine.backgammon.plays import CANNOT_MOVE, Play, legal_plays
from engine.backgammon.position import Position
from engine.errors import NotationError, PlayError

__all__ = ["parse_play"]

_NOTHING = {"", CANNOT_MOVE, "can't move", "no move", "no play", "pass", "dance"}
_CHECKER = re.compile(r"([^()]+)(?:\(([1-4])\))?")
_POINT = re.compile(r"(\d{1,2}|bar|off)(\*?)", re.ASCII)

_Path = tuple[int, ...]  # the points still before one checker, the first being where it is


@dataclass(frozen=True)
class _State:
    """The middle of a play: counts of both sides in their own numbering, and what is left."""

    mine: tuple[int, ...]
    theirs: tuple[int, ...]
    dice: tuple[int, ...]
    paths: tuple[_Path, ...]
    hits: frozenset[int] = frozenset()

    @property
    def result_key(self) -> bytes:
        """The bytes of the board as the next player sees it."""
        return np.array([self.theirs, self.mine], np.int8).tobytes()


@dataclass
class _Readings:
    """The ways to make a written play step by step, and what stood in the way of others."""

    ends: list[_State] = field(default_factory=list)
    refusals: dict[int, list[str]] = field(default_factory=dict)  # by the dice still unplayed


def parse_play(text: str, position: Position, dice: Dice) -> Play:
    """The legal play that a text describes.

    Hit marks and intermediate points may be missing; where hits leave a choice of ways, the way
    that makes exactly the marked hits is meant. Raises NotationError when the text is no play, and
    PlayError with the reason when the play is illegal or ambiguous.
    """
    plays = legal_plays(position, dice)
    problem = f"play {text!r} with {dice[0]}{dice[1]}:"
    if not plays:
        raise PlayError(f"{problem} the game is over")
    paths, marks = _read(text)
    if not plays[0].steps:
        if paths:
            raise PlayError(f"{problem} nothing can be moved")
        return plays[0]
    if not paths:
        raise PlayError(f"{problem} nobody may pass while a play is legal, as {plays[0]} is")
    available = dice * 2 if dice[0] == dice[1] else dice
    reason = _impossible_steps(paths, available)
    if reason:
        raise PlayError(f"{problem} {reason}")
    mine, theirs = (tuple(row) for row in position.board.tolist())
    readings = _Readings()
    _explore(_State(mine, theirs, available, paths), readings)
    by_result = {play.result.board.tobytes(): play for play in plays}
    legal = [end for end in readings.ends if end.result_key in by_result]
    if not legal:
        raise PlayError(f"{problem} {_illegality(readings, plays)}")
    exact = [end for end in legal if end.hits == marks]
    keys = {end.result_key for end in exact or legal if end.hits >= marks}
    if not keys:
        false_mark = max(marks - legal[0].hits)
        raise PlayError(f"{problem} {false_mark}* marks a hit, but no checker is hit there")
    if len(keys) > 1:
        choice = " or ".join(sorted(str(by_result[key]) for key in keys))
        raise PlayError(f"{problem} ambiguous: {choice}")
    return by_result[keys.pop()]


def _read(text: str) -> tuple[tuple[_Path, ...], frozenset[int]]:
    """The paths of the checkers written, and the points marked as hit."""
    words = text.strip().lower()
    if words in _NOTHING:
        return (), frozenset()
    paths: list[_Path] = []
    marks: set[int] = set()
    for word in re.sub(r"\s+\(", "(", words).replace(",", " ").split():
        checker = _CHECKER.fullmatch(word)
        if checker is None:
            raise NotationError(f"play {text!r}: {word!r}: expected a form like 13/7*/5 or 6/4(2)")
        read = [_read_point(part, text) for part in checker[1].split("/")]
        points = tuple(point for point, _ in read)
        falling = all(before > after for before, after in pairwise(points))
        source_marked = read[0][1]
        if len(points) < 2 or not falling or source_marked:
            raise NotationError(f"play {text!r}: {word!r}: expected falling points, like 13/7*/5")
        marks.update(point for point, marked in read if marked)
        paths.extend([points] * int(checker[2] or 1))
    return tuple(paths), frozenset(marks)


def _read_point(part: str, text: str) -> tuple[int, bool]:
    """The point that a part between slashes names, and whether it is marked as hit."""
    match = _POINT.fullmatch(part)
    if match is not None:
        named = {"bar": BAR, "off": OFF}
        point = named[match[1]] if match[1] in named else int(match[1])
        marked = match[2] == "*"
        if point <= BAR and not (marked and point == OFF):
            return point, marked
    raise NotationError(f"play {text!r}: {part!r}: expected bar, off or a point from 1 to 24")


def _impossible_steps(paths: Sequence[_Path], dice: Sequence[int]) -> str | None:
    """Why the dice cannot make the steps whatever the position, or None when they may."""
    steps = sum(len(path) - 1 for path in paths)
    if steps > len(dice):
        return f"{steps} steps are written, and the dice give {len(dice)}"
    for path in paths:
        for source, target in pairwise(path):
            if not _can_cover(source - target, dice, bearing_off=target == OFF):
                pips = "pip" if source - target == 1 else "pips"
                return (
                    f"the dice do not make the {source - target} {pips} from {source} to {target}"
                )
    return None


def _can_cover(pips: int, dice: Sequence[int], bearing_off: bool) -> bool:
    """Whether some of the dice add up to so many pips, or to more in bearing off."""
    if bearing_off and sum(dice) >= pips:
        return True
    return any(
        sum(chosen) == pips
        for count in range(len(dice) + 1)
        for chosen in combinations(dice, count)
    )


def _explore(state: _State, readings: _Readings) -> None:
    """Make the next step in every way that brings a checker along its path."""
    if all(len(path) == 1 for path in state.paths):
        readings.ends.append(state)
        return
    for path in dict.fromkeys(path for path in state.paths if len(path) > 1):
        for die in sorted(set(state.dice), reverse=True):
            source, stop = path[:2]
            target = max(source - die, OFF)
            unplayed = list(state.dice)
            unplayed.remove(die)
            leads_on = target >= stop and _can_cover(target - stop, unplayed, stop == OFF)
            if not leads_on:
                continue
            refusal = _refusal(state, source, die)
            if refusal is None:
                _explore(_stepped(state, path, target, tuple(unplayed)), readings)
            else:
                readings.refusals.setdefault(len(unplayed), []).append(refusal)


def _refusal(state: _State, source: int, die: int) -> str | None:
    """The rule against moving a checker from a point by a die, or None when it is legal."""
    if state.mine[source] == 0:
        return f"there is no checker on {_name(source)}"
    if source != BAR and state.mine[BAR]:
        return "the checker on the bar must enter first"
    if source > die:
        blocked = state.theirs[BAR - (source - die)] >= 2
        return f"point {source - die} is blocked" if blocked else None
    rearmost = max(point for point in range(OFF + 1, BAR + 1) if state.mine[point])
    if rearmost > HOME:
        return f"no checker may be borne off while one is on {_name(rearmost)}"
    if die > source and rearmost > source:
        return f"the {die} may not bear off from {source} while a checker is on {rearmost}"
    return None


def _stepped(state: _State, path: _Path, target: int, unplayed: tuple[int, ...]) -> _State:
    """The state after the checker at the start of a path has moved to a target."""
    mine, theirs, hits = list(state.mine), list(state.theirs), state.hits
    mine[path[0]] -= 1
    mine[target] += 1
    if target != OFF and theirs[BAR - target] == 1:
        theirs[BAR - target] = 0
        theirs[BAR] += 1
        hits |= {target}
    paths = list(state.paths)
    paths[paths.index(path)] = path[1:] if path[1] == target else (target, *path[1:])
    return _State(tuple(mine), tuple(theirs), unplayed, tuple(paths), hits)


def _illegality(readings: _Readings, plays: Sequence[Play]) -> str:
    """Why none of the ways to read a play is legal."""
    if not readings.ends:
        if not readings.refusals:
            return "the dice do not make these steps together"
        # The way that came nearest to the end says most.
        return "; ".join(dict.fromkeys(readings.refusals[min(readings.refusals)]))
    unplayed = min((end.dice for end in readings.ends), key=len)
    fullest = max(plays, key=lambda play: len(play.steps))
    if len(set(fullest.dice)) == 1:
        played = 4 - len(unplayed)
        return f"{played} steps, and {len(fullest.steps)} can be made, as in {fullest}"
    if len(fullest.steps) == 2:
        return f"the {unplayed[0]} is left unplayed, and both dice can be played, as in {fullest}"
    return f"only one die can be played, and it must be the {max(fullest.dice)}: {fullest}"


def _name(point: int) -> str:
    return "the bar" if point == BAR else str(point)
