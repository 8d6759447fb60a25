"""The process that `engine.players.peer` starts: another engine behind two pipes.

The packages keep global state and can crash, so each runs alone here. This file is run as a script
and imports nothing else of the engine:

    peer_process.py PARENT pubeval
    peer_process.py PARENT gnubg-nn|gnubg|sage DEPTH

Standard input brings requests, each a line of JSON and then `bytes` bytes for `count` positions,
none of them finished. A board is 52 bytes, int8[2, 26] with row 0 on roll; `match` is null when
the cube is out of play.

    play    uint16[N], how many legal results each has; N boards; int8[N, 2], the dice, the higher
            first; then all results, as the next player sees them. The answer is int16[N], the
            number of the result chosen, -1 if the engine's choice is none of them.
    cube    N boards, before the roll. The answer is bool[N, 3]: whether to double, and whether the
            opponent should take then, or beaver.
    value   N boards, before the roll. The answer is float32[N, 5]: the chances of the player on
            roll to win, win a gammon, a backgammon, lose a gammon, a backgammon.

The process ends with its input, or when it finds that process PARENT is gone.
"""

import contextlib
import ctypes
import json
import os
import re
import sys
import tempfile
from array import array
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO, Protocol

BOARD = 52
ROW = BOARD // 2

Row = list[int]
"""25 counts: points 1..24 numbered from their own side, then the bar; both gnubgs' own."""
Match = dict[str, Any]
Board = bytes


class Engine(Protocol):
    """What is asked of an engine."""

    def play(self, board: Board, dice: bytes, results: list[Board], match: Match | None) -> int:
        """The number of the result chosen; ValueError when it is not among them."""
        ...

    def cube(self, board: Board, match: Match) -> tuple[bool, bool, bool]:
        """Whether to double, and whether the opponent should take then, or beaver."""
        ...

    def value(self, board: Board) -> Sequence[float]:
        """The five probabilities of the player on roll."""
        ...


class Cubeless:
    """An engine that knows no cube; it is seated in cubeless games only."""

    def cube(self, *_: object) -> tuple[bool, bool, bool]:
        """Refused, as a fault of the caller."""
        raise TypeError(f"{type(self).__name__} knows no cube")


class Pubeval(Cubeless):
    """Tesauro's benchmark of 1993, as gnubg-nn has it."""

    def __init__(self) -> None:
        import gnubg_nn

        self._package = gnubg_nn

    def play(self, board: Board, dice: bytes, results: list[Board], _: Match | None) -> int:
        """See `Engine`."""
        opponent, mover = rows(board)
        steps = self._package.pub_best_move([opponent, mover], *dice)
        ones_based = [point + 1 for point in steps]
        return results.index(after_steps(board, ones_based))

    def value(self, *_: object) -> Sequence[float]:
        """Refused, as a fault of the caller."""
        raise TypeError("pubeval knows no probabilities")


class GnubgNn(Cubeless):
    """Gnubg's nets, cubeless for money."""

    def __init__(self, plies: int) -> None:
        import gnubg_nn

        self._package = gnubg_nn
        self._plies = plies

    def play(self, board: Board, dice: bytes, results: list[Board], _: Match | None) -> int:
        """See `Engine`."""
        _, key = self._package.best_move(list(rows(board)), *dice, self._plies, b=1)
        mover, next_player = self._package.board_from_position_key(key)
        return results.index(joined(next_player, mover, board))

    def value(self, board: Board) -> Sequence[float]:
        """See `Engine`."""
        found: Sequence[float] = self._package.probabilities(list(rows(board)), self._plies)
        return found


class Gnubg:
    """GNU Backgammon itself, with the cube and the score."""

    SETTINGS = (
        "set threads 1",  # without one `eval` never comes back
        "set player 0 human",
        "set player 1 human",
        "set automatic roll off",
        "set automatic game off",
        "set display off",
        "set evaluation cubedecision evaluation cubeful on",
        "set evaluation cubedecision evaluation prune off",
        "set evaluation cubedecision evaluation plies {}",
    )

    def __init__(self, plies: int) -> None:
        import gnubg

        self._package = gnubg
        self._context = gnubg.evalcontext(1, plies, 1, 0, 0.0)
        self._flush = ctypes.CDLL(None).fflush
        self._said = tempfile.TemporaryFile()  # noqa: SIM115  it lives as long as the process
        os.dup2(self._said.fileno(), 1)
        for command in self.SETTINGS:
            gnubg.command(command.format(plies))

    def play(self, board: Board, dice: bytes, results: list[Board], match: Match | None) -> int:
        """See `Engine`. Gnubg tells its play only up to the first checker borne off.

        From there its evaluation decides, which leaves out the cube.
        """
        assert match is not None
        steps = self._package.find_best_move(
            tuple(map(tuple, rows(board))), self._cube_info(match, 0), self._context, tuple(dice)
        )
        if len(steps) % 2 == 0:
            return results.index(after_steps(board, steps))
        return min(range(len(results)), key=lambda number: self._value(results[number], match))

    def cube(self, board: Board, match: Match) -> tuple[bool, bool, bool]:
        """See `Engine`. The verdict is only to be had as text."""
        position = self._package.position_id(tuple(map(tuple, rows(board))))
        self._package.command(f"set beavers {int(match['beavers'])}")
        self._package.set_gnubg_id(f"{position}:{match['id']}")
        self._said.seek(0)
        self._said.truncate()
        self._package.command("eval")
        self._flush(None)
        self._said.seek(0)
        text = self._said.read().decode()
        verdict = re.search(r"^Proper cube action: (.*)$", text, re.MULTILINE)
        if verdict is None:  # the match is the doubler's at the cube as it is: who passes loses it
            return False, True, False
        doubles = verdict[1].startswith(("Double", "Redouble"))
        return doubles, ", pass" not in verdict[1], "beaver" in verdict[1]

    def value(self, board: Board) -> Sequence[float]:
        """See `Engine`."""
        cube = self._package.cubeinfo(1, -1, 0, 0, (0, 0), 0, 0)
        found: Sequence[float] = self._package.evaluate(
            tuple(map(tuple, rows(board))), cube, self._context
        )
        return found[:5]

    def _cube_info(self, match: Match, on_roll: int) -> dict[str, Any]:
        """The player on roll in `match` is player 0; `on_roll` is whom the value is for."""
        cube = self._package.cubeinfo(
            match["cube"],
            match["owner"],
            on_roll,
            match["length"],
            tuple(match["score"]),
            int(match["crawford"]),
            0,
        )
        rules = {rule: int(match[rule]) for rule in ("jacoby", "beavers")}
        return {**cube, **rules}

    def _value(self, result: Board, match: Match) -> float:
        """What a result is worth to the next player."""
        next_player, mover = result[:ROW], result[ROW:]
        if not any(mover[1:]):
            return -float("inf")
        board = tuple(mover[1:]), tuple(next_player[1:])
        equity: float = self._package.evaluate(board, self._cube_info(match, 1), self._context)[5]
        return equity


class Sage:
    """Open Sage; what it calls 1-ply is the static evaluation."""

    OWNERS = ("player", "opponent", "centered")

    def __init__(self, level: int) -> None:
        from bgsage import BgBotAnalyzer

        self._cubeful, self._cubeless = (
            BgBotAnalyzer(eval_level=f"{level}ply", cubeful=cubeful, parallel_threads=1)
            for cubeful in (True, False)
        )

    def play(self, board: Board, dice: bytes, results: list[Board], match: Match | None) -> int:
        """See `Engine`."""
        analyser = self._cubeless if match is None else self._cubeful
        found = analyser.checker_play(signed(board), *dice, **self._situation(match))
        return results.index(after_signed(found.moves[0].board, board))

    def cube(self, board: Board, match: Match) -> tuple[bool, bool, bool]:
        """See `Engine`."""
        verdict = self._cubeful.cube_action(signed(board), **self._situation(match))
        return verdict.should_double, verdict.should_take, verdict.is_beaver

    def value(self, board: Board) -> Sequence[float]:
        """See `Engine`. Asked as the player who has just moved, the opponent."""
        opponent = board[ROW:] + board[:ROW]
        found = self._cubeless.post_move_analytics(signed(opponent), jacoby=False).probs
        lost_gammon, lost_backgammon = found.gammon_win, found.backgammon_win
        won = found.gammon_loss, found.backgammon_loss
        return 1 - found.win, *won, lost_gammon, lost_backgammon

    def _situation(self, match: Match | None) -> dict[str, Any]:
        if match is None:
            return {"jacoby": False, "beaver": False}
        mine, theirs = (max(0, match["length"] - points) for points in match["score"])
        return {
            "cube_value": match["cube"],
            "cube_owner": self.OWNERS[match["owner"]],
            "away1": mine,
            "away2": theirs,
            "is_crawford": match["crawford"],
            "jacoby": match["jacoby"],
            "beaver": match["beavers"],
        }


def rows(board: Board) -> tuple[Row, Row]:
    """(opponent, on roll), without the checkers borne off."""
    return list(board[ROW + 1 :]), list(board[1:ROW])


def joined(next_player: Sequence[int], mover: Sequence[int], before: Board) -> Board:
    """The board as the next player sees it, with as many checkers as there were before."""
    each = sum(before[:ROW])
    return bytes((each - sum(next_player), *next_player, each - sum(mover), *mover))


def after_steps(board: Board, steps: Sequence[int]) -> Board:
    """The board after (from, to) pairs of points 1..24, 25 the bar, 0 or less off."""
    opponent, mover = rows(board)
    for source, target in zip(steps[::2], steps[1::2], strict=True):
        mover[source - 1] -= 1
        if target > 0:
            mover[target - 1] += 1
            if opponent[24 - target]:
                opponent[24 - target] = 0
                opponent[24] += 1
    return joined(opponent, mover, board)


def signed(board: Board) -> list[int]:
    """Sage's 26 counts: the opponent's bar, the points of the side on roll, its bar."""
    opponent, mover = rows(board)
    points = [mover[point] - opponent[23 - point] for point in range(24)]
    return [opponent[24], *points, mover[24]]


def after_signed(result: Sequence[int], before: Board) -> Board:
    """The board for the next player, from Sage's for the side that has moved."""
    mover = [max(count, 0) for count in result[1:]]
    next_player = [max(-count, 0) for count in reversed(result[1:25])]
    return joined([*next_player, abs(result[0])], mover, before)


def engine_named(name: str, *depth: str) -> Engine:
    """The engine of the command line."""
    match name:
        case "pubeval":
            return Pubeval()
        case "gnubg-nn":
            return GnubgNn(int(depth[0]))
        case "gnubg":
            return Gnubg(int(depth[0]))
        case _:
            return Sage(int(depth[0]))


def cut(octets: bytes, size: int) -> list[bytes]:
    """Pieces of that size."""
    return [octets[start : start + size] for start in range(0, len(octets), size)]


def plays(engine: Engine, count: int, payload: bytes, match: Match | None) -> Iterator[bytes]:
    """The answer to each position of a `play` request."""
    boards_at, dice_at, results_at = 2 * count, (2 + BOARD) * count, (4 + BOARD) * count
    boards = cut(payload[boards_at:dice_at], BOARD)
    dice = cut(payload[dice_at:results_at], 2)
    results = iter(cut(payload[results_at:], BOARD))
    for many, board, roll in zip(array("H", payload[:boards_at]), boards, dice, strict=True):
        open_to = [next(results) for _ in range(many)]
        try:
            number = engine.play(board, roll, open_to, match)
        except ValueError:
            number = -1
        yield array("h", [number]).tobytes()


def answers(engine: Engine, request: dict[str, Any], payload: bytes) -> Iterator[bytes]:
    """The answer to each position of a request."""
    match = request["match"]
    if request["ask"] == "play":
        yield from plays(engine, request["count"], payload, match)
    elif request["ask"] == "cube":
        yield from (bytes(engine.cube(board, match)) for board in cut(payload, BOARD))
    else:
        yield from (array("f", engine.value(board)).tobytes() for board in cut(payload, BOARD))


def serve(source: BinaryIO, sink: BinaryIO, engine: Engine, parent: int) -> None:
    """Answer requests until there are no more."""
    while line := source.readline():
        request = json.loads(line)
        said = []
        for answer in answers(engine, request, source.read(request["bytes"])):
            if os.getppid() != parent:
                return
            said.append(answer)
        sink.write(b"".join(said))
        sink.flush()


def main() -> None:
    """Serve on the standard streams; what the packages themselves print is no answer."""
    parent, *engine = sys.argv[1:]
    with contextlib.suppress(BrokenPipeError), os.fdopen(os.dup(1), "wb") as sink:
        os.dup2(2, 1)
        serve(sys.stdin.buffer, sink, engine_named(*engine), int(parent))


if __name__ == "__main__":
    main()
