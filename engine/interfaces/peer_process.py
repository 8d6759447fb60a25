"""The process in which `acepoint bench` times another engine: they keep global state.

This file is run as a script and imports nothing of the engine:

    peer_process.py PACKAGE TASK

Standard input is a JSON object: `boards`, each the 52 counts of an int8[2, 26] board with row 0 on
roll, and `dice`, a pair for each. Standard output is one too: `seconds` of the processor for all
of them, the conversion of boards not counted, and `answers`, one for each board:

    results     the board after each legal play, as the next player sees it; none if none is legal
    evaluate    the five probabilities of the player on roll
    play        the board after the best play, as the next player sees it; null when it is not told
    look        the same two plies ahead, with the cube in the centre of a money game
    truncated1, truncated2, truncated3
                the same by Sage's truncated rollouts of these names
"""

import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

Board = list[int]  # 52 counts
Dice = list[int]
Row = list[int]  # 25 counts: points 1..24 from their own side, then the bar
Task = Callable[[list[Board], list[Dice]], tuple[float, list[Any]]]


def gnubg_nn_results(boards: list[Board], dice: list[Dice]) -> tuple[float, list[Any]]:
    """The move generator of gnubg-nn."""
    import gnubg_nn

    def board_after(key: str, board: Board) -> Board:
        next_player, mover = gnubg_nn.board_from_position_key(key)
        return joined(next_player, mover, checkers(board))

    calls = [(list(rows(board)), *roll) for board, roll in zip(boards, dice, strict=True)]
    seconds, found = timed(gnubg_nn.moves, calls)
    return seconds, [
        [board_after(key, board) for key in keys] for keys, board in zip(found, boards, strict=True)
    ]


def gnubg_nn_evaluate(boards: list[Board], _: list[Dice]) -> tuple[float, list[Any]]:
    """The nets of gnubg."""
    import gnubg_nn

    return timed(gnubg_nn.probabilities, [(list(rows(board)), 0) for board in boards])


def gnubg_play(boards: list[Board], dice: list[Dice]) -> tuple[float, list[Any]]:
    """GNU Backgammon's best play, cubeless."""
    import gnubg

    return gnubg_best(boards, dice, gnubg.cubeinfo(), gnubg.evalcontext())


def gnubg_look(boards: list[Board], dice: list[Dice]) -> tuple[float, list[Any]]:
    """GNU Backgammon's best play with the cube, 2-ply, with its pruning nets, which are faster."""
    import gnubg

    cube = {**gnubg.cubeinfo(), "jacoby": 0}
    return gnubg_best(boards, dice, cube, gnubg.evalcontext(1, 2, 1, 1, 0.0))


def gnubg_best(
    boards: list[Board], dice: list[Dice], cube: dict[str, Any], context: dict[str, Any]
) -> tuple[float, list[Any]]:
    """GNU Backgammon's best play."""
    import gnubg

    calls = [
        (tuple(map(tuple, rows(board))), cube, context, tuple(roll))
        for board, roll in zip(boards, dice, strict=True)
    ]
    seconds, plays = timed(gnubg.findbestmove, calls)
    return seconds, [after_steps(board, steps) for board, steps in zip(boards, plays, strict=True)]


def after_steps(board: Board, steps: Sequence[int]) -> Board | None:
    """The board after (from, to) pairs; gnubg cuts a play short where a checker is borne off."""
    if len(steps) % 2:
        return None
    opponent, mover = rows(board)
    for source, target in zip(steps[::2], steps[1::2], strict=True):
        mover[source - 1] -= 1
        mover[target - 1] += 1
        if target <= 24 and opponent[24 - target]:
            opponent[24 - target] = 0
            opponent[24] += 1
    return joined(opponent, mover, checkers(board))


def bgsage_results(boards: list[Board], dice: list[Dice]) -> tuple[float, list[Any]]:
    """Open Sage's move generator."""
    from bgsage import possible_moves

    calls = [(signed(board), *roll) for board, roll in zip(boards, dice, strict=True)]
    seconds, found = timed(possible_moves, calls)
    return seconds, [
        [after_signed(result, board) for result in results]
        for results, board in zip(found, boards, strict=True)
    ]


def bgsage_evaluate(boards: list[Board], _: list[Dice]) -> tuple[float, list[Any]]:
    """Open Sage's nets, which value a position for the side that has just moved."""
    from bgsage import batch_post_move_evaluate

    # The board as the side sees it that is not on roll, and the answers turned round.
    seen = [{"board": signed(board[26:] + board[:26])} for board in boards]
    batch_post_move_evaluate(seen[:1], n_threads=1)
    began = time.process_time()
    values = batch_post_move_evaluate(seen, n_threads=1)
    seconds = time.process_time() - began
    return seconds, [
        (1 - p.win, p.gammon_loss, p.backgammon_loss, p.gammon_win, p.backgammon_win)
        for p in (value.probs for value in values)
    ]


def bgsage_play(boards: list[Board], dice: list[Dice]) -> tuple[float, list[Any]]:
    """Open Sage's best play, cubeless; what it calls 1-ply is 0-ply here."""
    return bgsage_best(boards, dice, "1ply", cubeful=False)


def bgsage_look(boards: list[Board], dice: list[Dice]) -> tuple[float, list[Any]]:
    """Open Sage's best play with the cube; what it calls 3-ply is 2-ply here."""
    return bgsage_best(boards, dice, "3ply", cubeful=True)


def bgsage_best(
    boards: list[Board], dice: list[Dice], level: str, cubeful: bool
) -> tuple[float, list[Any]]:
    """Open Sage's best play."""
    from bgsage import BgBotAnalyzer

    analyser = BgBotAnalyzer(eval_level=level, cubeful=cubeful, parallel_threads=1)
    calls = [(signed(board), *roll) for board, roll in zip(boards, dice, strict=True)]
    seconds, found = timed(analyser.checker_play, calls)
    return seconds, [
        after_signed(choice.moves[0].board, board) if choice.moves else None
        for choice, board in zip(found, boards, strict=True)
    ]


def checkers(board: Board) -> int:
    """How many checkers a side has, with those borne off."""
    return sum(board[:26])


def rows(board: Board) -> tuple[Row, Row]:
    """(opponent, on roll), as both gnubg packages want them."""
    return board[27:], board[1:26]


def joined(on_roll: Sequence[int], opponent: Sequence[int], each: int) -> Board:
    """52 counts from two rows, with those borne off out of `each` side's checkers."""
    return [each - sum(on_roll), *on_roll, each - sum(opponent), *opponent]


def signed(board: Board) -> list[int]:
    """Sage's 26 counts: the opponent's bar, the points of the side on roll, its bar."""
    opponent, on_roll = rows(board)
    points = [on_roll[point] - opponent[23 - point] for point in range(24)]
    return [opponent[24], *points, on_roll[24]]


def after_signed(result: Sequence[int], board: Board) -> Board:
    """52 counts for the next player, from Sage's for the side that has moved from `board`."""
    mover = [max(count, 0) for count in result[1:]]
    next_player = [max(-count, 0) for count in reversed(result[1:25])] + [result[0]]
    return joined(next_player, mover, checkers(board))


def timed(
    function: Callable[..., Any], calls: Iterable[tuple[Any, ...]]
) -> tuple[float, list[Any]]:
    """Processor seconds for all calls, and what they return."""
    began = time.process_time()
    answers = [function(*arguments) for arguments in calls]
    return time.process_time() - began, answers


TASKS: dict[tuple[str, str], Task] = {
    ("gnubg_nn", "results"): gnubg_nn_results,
    ("gnubg_nn", "evaluate"): gnubg_nn_evaluate,
    ("gnubg", "play"): gnubg_play,
    ("gnubg", "look"): gnubg_look,
    ("bgsage", "results"): bgsage_results,
    ("bgsage", "evaluate"): bgsage_evaluate,
    ("bgsage", "play"): bgsage_play,
    ("bgsage", "look"): bgsage_look,
    ("bgsage", "truncated1"): partial(bgsage_best, level="truncated1", cubeful=True),
    ("bgsage", "truncated2"): partial(bgsage_best, level="truncated2", cubeful=True),
    ("bgsage", "truncated3"): partial(bgsage_best, level="truncated3", cubeful=True),
}


def main() -> None:
    """Answer one request; what the package prints goes to standard error."""
    package, task = sys.argv[1:]
    request = json.load(sys.stdin)
    with os.fdopen(os.dup(1), "w") as sink:
        os.dup2(2, 1)
        seconds, answers = TASKS[package, task](request["boards"], request["dice"])
        json.dump({"seconds": seconds, "answers": answers}, sink)


if __name__ == "__main__":
    main()
