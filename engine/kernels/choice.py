"""The play a net likes best, without and with the cube, and the exact one-ply backup.

A result is worth what it is worth to the next player, who is on roll then.
"""

from typing import Any

import numpy as np
from numba import njit

from engine.kernels import inner, kernel
from engine.kernels.bearoff import is_covered
from engine.kernels.cubeful import ACTIONS, Cubes, outcome_worths
from engine.kernels.forward import evaluate_kept, set_position
from engine.kernels.movegen import HIGH, LOW, OTHER, ROLLS, THROWS, WEIGHTS, results_into
from engine.kernels.net import OUTPUTS, Net, Scratch, copy_into, make_scratch
from engine.kernels.pruning import PROMISING, keep_promising, weigh_outcomes
from engine.kernels.worth import value_of_board

__all__ = [
    "CUBELESS",
    "backup_rolls",
    "best_cubeful_result",
    "best_kept_cubeful",
    "best_result",
    "choose_cubeful_results",
    "choose_results",
    "evaluate_rolls",
    "five_into",
    "keep_worthy",
    "value_of_kept",
]

Array = np.ndarray[Any, Any]

CUBELESS = (2.0, 1.0, 1.0, -1.0, -1.0)  # what the five probabilities add to the money equity


@njit(inline="always")
def _cubeless(values: Array, at: int) -> float:
    """One more than the cubeless money equity of the five probabilities from `at`."""
    return 2 * values[at] + values[at + 1] + values[at + 2] - values[at + 3] - values[at + 4]


@njit(inline="always")
def _keep(
    net: Net, scratch: Scratch, high: int, low: int, outcomes: tuple[float, ...], start: int
) -> int:
    """Find the results of a roll and copy those worth evaluating to scratch.kept[start:]; where
    they end. After `set_position` and `weigh_outcomes`.
    """
    results, kept = scratch.results, scratch.kept
    count = results_into(scratch.board_bytes, scratch.board, high, low, results, 0, scratch.stack)
    if len(net.pruning_table) and count > 1 and not is_covered(net.bearoff, results, 0):
        count = keep_promising(net, scratch, count, PROMISING * outcomes[0] / 2)
        for place in range(count):
            copy_into(kept[start + place], results[scratch.promising[place]])
    else:
        for row in range(count):
            copy_into(kept[start + row], results[row])
    return start + count


@njit(inline="always")
def keep_worthy(
    net: Net, scratch: Scratch, high: int, low: int, outcomes: tuple[float, ...]
) -> int:
    """Write to scratch.kept the results of a roll that are worth evaluating; how many they are.
    After `set_position`.

    outcomes: what each of the five probabilities counts for to the next player.
    """
    weigh_outcomes(net, scratch, outcomes)
    return _keep(net, scratch, high, low, outcomes, 0)


@njit(inline="always")
def evaluate_rolls(net: Net, scratch: Scratch, outcomes: tuple[float, ...]) -> None:
    """Find and evaluate the results of every roll that are worth it, after `set_position`.

    Those of roll number n are scratch.kept[starts[n]:starts[n + 1]]. outcomes: what each of the
    five probabilities counts for to the next player.
    """
    starts = scratch.starts
    weigh_outcomes(net, scratch, outcomes)
    starts[0] = 0
    for roll in range(ROLLS):
        starts[roll + 1] = _keep(net, scratch, HIGH[roll], LOW[roll], outcomes, starts[roll])
    evaluate_kept(net, scratch, starts[ROLLS])


@njit(inline="always")
def value_of_kept(
    net: Net, scratch: Scratch, row: int, cubes: Cubes, situation: int, actions: Array
) -> float:
    """What kept[row] is worth to the next player, with the cube, after `evaluate_kept`.

    actions: float64[ACTIONS], working memory.
    """
    return value_of_board(
        net.bearoff, scratch.kept, scratch.kept_bytes, row,
        cubes, situation, scratch.five, OUTPUTS * row, actions,
    )  # fmt: skip


@njit(inline="always")
def _more_off(scratch: Scratch, row: int, other: int) -> bool:
    """Whether the mover has borne off more checkers in kept[row] than in kept[other]."""
    return scratch.kept_bytes[row, OTHER] > scratch.kept_bytes[other, OTHER]


@inner
def best_kept(scratch: Scratch, start: int, stop: int) -> int:
    """The row of kept[start:stop] that the mover likes best without a cube."""
    chosen = start
    lowest = np.float32(np.inf)
    for row in range(start, stop):
        equity = _cubeless(scratch.five, OUTPUTS * row)
        if equity < lowest or (equity == lowest and _more_off(scratch, row, chosen)):
            lowest, chosen = equity, row
    return chosen


@inner
def best_kept_cubeful(
    net: Net, scratch: Scratch, start: int, stop: int, cubes: Cubes, situation: int, actions: Array
) -> tuple[int, float]:
    """The row of kept[start:stop] that is worth least to the next player, and what.

    Where he cashes after every play, for instance, all are worth the same, and the one that is
    worth least without the cube is chosen; among equal ones that with most checkers off.

    cubes, situation: what the next player has; actions: float64[ACTIONS], working memory.
    """
    chosen = start
    lowest, lowest_equity = np.inf, np.float32(np.inf)
    for row in range(start, stop):
        value = value_of_kept(net, scratch, row, cubes, situation, actions)
        equity = _cubeless(scratch.five, OUTPUTS * row)
        tie = value == lowest
        better = value < lowest or (tie and equity < lowest_equity)
        if better or (tie and equity == lowest_equity and _more_off(scratch, row, chosen)):
            lowest, lowest_equity, chosen = value, equity, row
    return chosen, lowest


@njit(inline="always")
def five_into(values: Array, scratch: Scratch, row: int) -> None:
    """Copy the probabilities of kept[row] to values, float32[5]."""
    for index in range(5):
        values[index] = scratch.five[OUTPUTS * row + index]


@inner
def best_result(net: Net, scratch: Scratch, high: int, low: int, values: Array) -> int:
    """The row of scratch.kept that the mover likes best without a cube, after `set_position`.

    values: float32[5], written with that result's probabilities for the next player.
    """
    count = keep_worthy(net, scratch, high, low, CUBELESS)
    evaluate_kept(net, scratch, count)
    chosen = best_kept(scratch, 0, count)
    five_into(values, scratch, chosen)
    return chosen


@inner
def best_cubeful_result(
    net: Net, scratch: Scratch, high: int, low: int,
    cubes: Cubes, situation: int, values: Array, actions: Array,
) -> int:  # fmt: skip
    """The same with the cube that the next player has, as `best_kept_cubeful` chooses."""
    count = keep_worthy(net, scratch, high, low, outcome_worths(cubes, situation))
    evaluate_kept(net, scratch, count)
    chosen, _ = best_kept_cubeful(net, scratch, 0, count, cubes, situation, actions)
    five_into(values, scratch, chosen)
    return chosen


@kernel
def choose_results(net: Net, boards: Array, dice: Array, chosen: Array, values: Array) -> None:
    """The best result of each position and roll.

    boards: uint64[N, 8] packed; dice: int8[N, 2]. Written: chosen uint64[N, 8], the results as
    the next player sees them; values: float32[N, 5], their five probabilities for that player.
    """
    scratch = make_scratch(net.sizes)
    for index in range(len(boards)):
        set_position(net, scratch, boards, index)
        high, low = max(dice[index, 0], dice[index, 1]), min(dice[index, 0], dice[index, 1])
        row = best_result(net, scratch, high, low, values[index])
        chosen[index] = scratch.kept[row]


@kernel
def choose_cubeful_results(
    net: Net, boards: Array, dice: Array, cubes: Cubes, situations: Array,
    chosen: Array, values: Array,
) -> None:  # fmt: skip
    """The best result of each position and roll with the cube.

    boards: uint64[N, 8] packed; dice: int8[N, 2]; cubes: what the next players have; situations:
    int64[N], which of them each has. Written: chosen uint64[N, 8], the results as the next player
    sees them; values: float32[N, 5], their five probabilities for that player.
    """
    scratch = make_scratch(net.sizes)
    actions = np.empty(ACTIONS)
    for index in range(len(boards)):
        set_position(net, scratch, boards, index)
        high, low = max(dice[index, 0], dice[index, 1]), min(dice[index, 0], dice[index, 1])
        row = best_cubeful_result(
            net, scratch, high, low, cubes, situations[index], values[index], actions
        )
        chosen[index] = scratch.kept[row]


@inner
def _back_up(
    net: Net, scratch: Scratch, boards: Array, row: int, best: Array, totals: Array
) -> None:
    """`backup_rolls` of boards[row]; best: float32[5], working memory."""
    set_position(net, scratch, boards, row)
    evaluate_rolls(net, scratch, CUBELESS)
    totals[:] = 0
    for roll in range(ROLLS):
        five_into(best, scratch, best_kept(scratch, scratch.starts[roll], scratch.starts[roll + 1]))
        weight = np.float32(WEIGHTS[roll] / THROWS)
        totals[0] += weight * (1 - best[0])
        totals[1] += weight * best[3]
        totals[2] += weight * best[4]
        totals[3] += weight * best[1]
        totals[4] += weight * best[2]
    for column in range(5):
        totals[column] = min(max(totals[column], np.float32(0)), np.float32(1))


@kernel
def backup_rolls(net: Net, boards: Array, values: Array) -> int:
    """The exact one-ply backup: the mean over the 21 rolls of the best result's value.

    boards: uint64[N, 8] packed, none finished. values: float32[N, 5], for the player on roll.
    Returns how many results were evaluated.
    """
    scratch = make_scratch(net.sizes)
    best = np.empty(5, np.float32)
    for row in range(len(boards)):
        _back_up(net, scratch, boards, row, best, values[row])
    return scratch.evaluated[0]
