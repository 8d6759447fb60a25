"""Reference decisions: positions that a stronger player has judged, to score choices by.

A file has one JSON object a line, optionally gzipped. Each has a `position` (gnubg ID, player on
roll) and, unless it is a money game with a centred cube, a `match` (gnubg match ID). Then

- a checker decision has `dice`, and `candidates`, each with `result` (the position ID that the next
  player sees) and `equity`, and perhaps `probs`, the five probabilities after the play for the
  player who makes it, with `ply`, how many rolls they looked ahead;
- a cube decision has `probs`, the five probabilities, and the equities `no_double`, `double_take`
  and `double_pass`.

Equities are cubeful, on the scale of the cube as it is. Other fields are left alone.
"""

import gzip
import json
import math
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.backgammon.dice import Dice, parse_dice
from engine.backgammon.ids import decode_match, decode_positions, encode_position
from engine.backgammon.match import Match
from engine.backgammon.variants import BACKGAMMON
from engine.cube.context import CubeContext
from engine.cube.decisions import CubeActions
from engine.errors import AcepointError, FileFormatError
from engine.evaluation import outcome
from engine.kernels.movegen import legal_results, pack, unpack
from engine.players.base import CubefulPlayer

__all__ = [
    "PR_SCALE",
    "CheckerDecisions",
    "CheckerScore",
    "Choose",
    "CubeDecisions",
    "CubeScore",
    "played_by",
    "read_checker_decisions",
    "read_cube_decisions",
    "score_checker",
    "score_cube",
]

PR_SCALE = 500  # PR is 500 x the mean equity loss of a decision
JUDGED_PLIES = 4  # from which a candidate's probabilities are good enough to judge a net by
GZIP_MAGIC = b"\x1f\x8b"
_CUBE_EQUITIES = ("no_double", "double_take", "double_pass")
_ROUNDING = 0.002  # of probabilities written with three decimals
_NOT_JUDGED = [math.nan] * len(outcome.NAMES)

Packed = npt.NDArray[np.int8]
Choose = Callable[[Packed, npt.NDArray[np.int8]], Packed]
"""(packed int8[N, 2, 32], dice int8[N, 2]) -> chosen results int8[N, 2, 32], next player's view."""


@dataclass(frozen=True)
class CheckerDecisions:
    """N decisions with M candidate plays between them.

    packed: int8[N, 2, 32], row 0 on roll. matches: score and cube of each, before the roll, and
    contexts: the same for its player on roll. dice: int8[N, 2]. results: int8[M, 2, 32] as the next
    player sees them. equities: float64[M] for the player who moves. probabilities: float32[M, 5]
    for him, where they looked `JUDGED_PLIES` ahead, nan elsewhere. offsets: int64[N + 1]; the
    candidates of decision i are rows offsets[i] : offsets[i + 1], at least one.
    """

    packed: Packed
    matches: list[Match]
    contexts: list[CubeContext]
    dice: npt.NDArray[np.int8]
    results: Packed
    equities: npt.NDArray[np.float64]
    probabilities: npt.NDArray[np.float32]
    offsets: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.packed)


@dataclass(frozen=True)
class CheckerScore:
    """What a player's choices cost."""

    losses: npt.NDArray[np.float64]
    """float64[N]: equity lost by each decision, against the best candidate."""
    unlisted: int
    """Choices that are not among the candidates; each costs as much as the worst one."""

    @property
    def decisions(self) -> int:
        """How many there were."""
        return len(self.losses)

    @property
    def mean_loss(self) -> float:
        """Equity lost a decision."""
        return float(self.losses.mean())

    @property
    def pr(self) -> float:
        """Performance rating: 500 x the mean loss."""
        return PR_SCALE * self.mean_loss


@dataclass(frozen=True)
class CubeDecisions:
    """N cube decisions.

    packed: int8[N, 2, 32], row 0 on roll. contexts: the situation of each player on roll.
    probabilities: float32[N, 5] for him. no_double, double_take, double_pass: float64[N] equities
    for him.
    """

    packed: Packed
    contexts: list[CubeContext]
    probabilities: npt.NDArray[np.float32]
    no_double: npt.NDArray[np.float64]
    double_take: npt.NDArray[np.float64]
    double_pass: npt.NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.packed)


@dataclass(frozen=True)
class CubeScore:
    """What cube actions cost, in equity, each as a mean over all decisions."""

    double_loss: float
    """By doubling or not doubling, when the answer is right."""
    take_loss: float
    """By taking or passing after a double, whether or not that is right."""
    decisions: int


def read_checker_decisions(path: Path, limit: int | None = None) -> CheckerDecisions:
    """The decisions of a file, or its first `limit` ones.

    Raises FileFormatError naming the file, the line and the field at fault; a candidate that is not
    a legal result of its position and dice is at fault too.
    """
    ids: list[str] = []
    matches: list[Match] = []
    contexts: list[CubeContext] = []
    dice: list[Dice] = []
    results: list[str] = []
    equities: list[float] = []
    probabilities: list[list[float]] = []
    offsets = [0]

    def read(decision: dict[str, Any]) -> None:
        ids.append(_text(decision, "position"))
        matches.append(_match(decision))
        contexts.append(CubeContext.of(matches[-1]))
        dice.append(parse_dice(_text(decision, "dice")))
        for candidate in _candidates(decision):
            results.append(_text(candidate, "result"))
            equities.append(_number(candidate, "equity"))
            judged = "probs" in candidate and _number(candidate, "ply") >= JUDGED_PLIES
            probabilities.append(_probabilities(candidate) if judged else _NOT_JUDGED)
        offsets.append(len(results))

    _read(path, limit, read)
    lines = np.arange(1, len(ids) + 1)
    try:
        decisions = CheckerDecisions(
            _boards(ids, lines),
            matches,
            contexts,
            np.array(dice, np.int8),
            _boards(results, np.repeat(lines, np.diff(offsets))),
            np.array(equities),
            np.array(probabilities, np.float32),
            np.array(offsets, np.int64),
        )
        _require_legal(decisions)
    except AcepointError as error:
        raise FileFormatError(f"{path}: {error}") from None
    return decisions


def read_cube_decisions(path: Path, limit: int | None = None) -> CubeDecisions:
    """The decisions of a file, or its first `limit` ones.

    Raises FileFormatError naming the file, the line and the field at fault.
    """
    ids: list[str] = []
    contexts: list[CubeContext] = []
    probabilities: list[list[float]] = []
    equities: list[list[float]] = []

    def read(decision: dict[str, Any]) -> None:
        ids.append(_text(decision, "position"))
        contexts.append(CubeContext.of(_match(decision)))
        probabilities.append(_probabilities(decision))
        equities.append([_number(decision, name) for name in _CUBE_EQUITIES])

    _read(path, limit, read)
    try:
        packed = _boards(ids, np.arange(1, len(ids) + 1))
    except AcepointError as error:
        raise FileFormatError(f"{path}: {error}") from None
    columns = np.array(equities).T
    return CubeDecisions(packed, contexts, np.array(probabilities, np.float32), *columns)


def score_checker(decisions: CheckerDecisions, choose: Choose) -> CheckerScore:
    """Let `choose` play every position in one batch and add up what its choices cost."""
    first = decisions.offsets[:-1]
    chosen = choose(decisions.packed, decisions.dice)
    is_choice = _equal(decisions.results, np.repeat(chosen, np.diff(decisions.offsets), axis=0))
    listed = np.logical_or.reduceat(is_choice, first)
    best = np.maximum.reduceat(decisions.equities, first)
    worst = np.minimum.reduceat(decisions.equities, first)
    of_choice = np.maximum.reduceat(np.where(is_choice, decisions.equities, -np.inf), first)
    losses = best - np.where(listed, of_choice, worst)
    return CheckerScore(losses, int((~listed).sum()))


def played_by(player: CubefulPlayer, decisions: CheckerDecisions) -> Packed:
    """What a player with the cube chooses, int8[N, 2, 32]: a batch for each score and cube."""
    groups: dict[Match, list[int]] = {}
    for row, match in enumerate(decisions.matches):
        groups.setdefault(match, []).append(row)
    chosen = np.empty_like(decisions.packed)
    for match, rows in groups.items():
        chosen[rows] = player.best_packed(decisions.packed[rows], decisions.dice[rows], match)
    return chosen


def score_cube(decisions: CubeDecisions, actions: CubeActions) -> CubeScore:
    """Add up what cube actions cost, judged by the equities of the file."""
    doubled = np.minimum(decisions.double_take, decisions.double_pass)
    may_double = [context.may_double for context in decisions.contexts]
    best = np.where(may_double, np.maximum(decisions.no_double, doubled), decisions.no_double)
    double_losses = best - np.where(actions.doubles, doubled, decisions.no_double)
    answered = np.where(actions.takes, decisions.double_take, decisions.double_pass)
    take_losses = answered - doubled
    return CubeScore(float(double_losses.mean()), float(take_losses.mean()), len(decisions))


def _read(path: Path, limit: int | None, read: Callable[[dict[str, Any]], None]) -> None:
    """Let `read` take in the object of each line. Raises FileFormatError naming file and line."""
    number = 0
    numbers = count(1) if limit is None else range(1, limit + 1)
    for number, line in zip(numbers, _lines(path), strict=False):
        try:
            read(_object(json.loads(line), "the line"))
        except (ValueError, OverflowError, RecursionError) as error:
            raise FileFormatError(f"{path}: line {number}: {error}") from None
    if not number:
        raise FileFormatError(f"{path}: expected one decision a line, found none")


def _boards(ids: list[str], lines: npt.ArrayLike) -> Packed:
    """The boards of position IDs, of the file's lines int[N]. Raises FileFormatError naming one."""
    try:
        packed: Packed = pack(decode_positions(ids, BACKGAMMON.checkers))
    except AcepointError:
        for line, text in zip(np.asarray(lines), ids, strict=True):
            try:
                decode_positions([text], BACKGAMMON.checkers)
            except AcepointError as error:
                raise FileFormatError(f"line {line}: {error}") from None
        raise
    return packed


def _lines(path: Path) -> list[str]:
    """The lines of a text file, which may be gzipped. Raises FileFormatError."""
    try:
        content = path.read_bytes()
        if content.startswith(GZIP_MAGIC):
            content = gzip.decompress(content)
        return content.decode().splitlines()
    except OSError as error:
        raise FileFormatError(f"{path}: {error.strerror or error}") from None
    except (EOFError, zlib.error):
        raise FileFormatError(f"{path}: the gzip data are damaged or cut short") from None
    except UnicodeDecodeError:
        raise FileFormatError(f"{path}: expected lines of JSON, found binary data") from None


def _object(value: object, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise FileFormatError(f"{what} is {value!r:.60}: expected a JSON object")
    return value


def _text(fields: dict[str, Any], name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str):
        raise FileFormatError(f"{name} is {value!r:.60}: expected a text")
    return value


def _candidates(decision: dict[str, Any]) -> list[dict[str, Any]]:
    candidates = decision.get("candidates")
    if not isinstance(candidates, list) or not candidates:
        raise FileFormatError(f"candidates is {candidates!r:.60}: expected a list, not empty")
    return [_object(candidate, "a candidate") for candidate in candidates]


def _number(fields: dict[str, Any], name: str) -> float:
    value = fields.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise FileFormatError(f"{name} is {value!r:.60}: expected a number")
    return float(value)


def _match(decision: dict[str, Any]) -> Match:
    """The score and cube before the roll."""
    if "match" not in decision:
        return Match()
    return replace(decode_match(_text(decision, "match")), dice=None)


def _probabilities(decision: dict[str, Any]) -> list[float]:
    """Five probabilities, each part no more than its whole but for rounding."""
    given = decision.get("probs")
    if not isinstance(given, list) or len(given) != len(outcome.NAMES):
        raise FileFormatError(f"probs is {given!r:.60}: expected a list of five numbers")
    named = dict(zip(outcome.NAMES, given, strict=True))
    win, gammon, backgammon, lost_gammon, lost_backgammon = (
        _number(named, name) for name in outcome.NAMES
    )
    cumulative = 0 <= backgammon <= gammon <= win and lost_gammon <= 1 - win + _ROUNDING
    if not (cumulative and 0 <= lost_backgammon <= lost_gammon and win <= 1):
        raise FileFormatError(f"probs is {given!r:.60}: expected cumulative probabilities")
    return [win, gammon, backgammon, lost_gammon, lost_backgammon]


def _require_legal(decisions: CheckerDecisions) -> None:
    """Raises FileFormatError when a candidate is not a legal result."""
    legal, offsets = legal_results(decisions.packed, decisions.dice)
    for index in range(len(decisions)):
        allowed = {board.tobytes() for board in legal[offsets[index] : offsets[index + 1]]}
        for row in range(decisions.offsets[index], decisions.offsets[index + 1]):
            if decisions.results[row].tobytes() not in allowed:
                position, result = (
                    encode_position(unpack(boards[None])[0])
                    for boards in (decisions.packed[index], decisions.results[row])
                )
                high, low = decisions.dice[index]
                raise FileFormatError(
                    f"line {index + 1}: {result} is no legal result of {position} with {high}{low}"
                )


def _equal(some: Packed, others: Packed) -> npt.NDArray[np.bool_]:
    return np.asarray((some == others).all(axis=(1, 2)))
