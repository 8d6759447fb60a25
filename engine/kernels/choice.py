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
from engine.kernels.movegen import OTHER, results_into
from engine.kernels.net import OUTPUTS, Net, Scratch, make_scratch
from engine.kernels.pruning import PROMISING, keep_promising, weigh_outcomes
from engine.kernels.worth import value_of_board

__all__ = [
    "CUBELESS",
    "backup_rolls",
    "best_cubeful_result",
    "best_result",
    "choose_cubeful_results",
    "choose_results",
    "keep_all",
    "results_worth_evaluating",
    "value_of_kept",
]

Array = np.ndarray[Any, Any]

CUBELESS = (2.0, 1.0, 1.0, -1.0, -1.0)  # what the five probabilities add to the money equity


@njit(inline="always")
def _cubeless(values: Array, at: int) -> float:
    """One more than the cubeless money equity of the five probabilities from `at`."""
    return 2 * values[at] + values[at + 1] + values[at + 2] - values[at + 3] - values[at + 4]


@inner
def keep_all(scratch: Scratch, count: int) -> None:
    """Write all rows of scratch.results[:count] to scratch.kept."""
    for row in range(count):
        scratch.kept[row] = row


@njit(inline="always")
def results_worth_evaluating(
    net: Net, scratch: Scratch, high: int, low: int, outcomes: tuple[float, ...]
) -> int:
    """Find the results of a roll, and write to scratch.kept which are worth evaluating; how many.

    outcomes: what each of the five probabilities counts for to the next player.
    """
    count = results_into(
        scratch.board_bytes, scratch.board, high, low, scratch.results, 0, scratch.stack
    )
    if len(net.pruning_table) and count > 1 and not is_covered(net.bearoff, scratch.results, 0):
        weigh_outcomes(net, scratch, outcomes)
        return keep_promising(net, scratch, count, PROMISING * outcomes[0] / 2)
    keep_all(scratch, count)
    return count


@njit(inline="always")
def value_of_kept(
    net: Net, scratch: Scratch, place: int, cubes: Cubes, situation: int, actions: Array
) -> float:
    """What results[kept[place]] is worth to the next player, with the cube, after `evaluate_kept`.

    actions: float64[ACTIONS], working memory.
    """
    return value_of_board(
        net.bearoff, scratch.results, scratch.children, scratch.kept[place],
        cubes, situation, scratch.five, OUTPUTS * place, actions,
    )  # fmt: skip


@njit(inline="always")
def _more_off(scratch: Scratch, row: int, other: int) -> bool:
    """Whether the mover has borne off more checkers in results[row] than in results[other]."""
    return scratch.children[row, OTHER] > scratch.children[other, OTHER]


@inner
def best_result(net: Net, scratch: Scratch, high: int, low: int, values: Array) -> int:
    """The row of scratch.results that the mover likes best without a cube, after `set_position`.

    values: float32[5], written with that result's probabilities for the next player.
    """
    count = results_worth_evaluating(net, scratch, high, low, CUBELESS)
    evaluate_kept(net, scratch, count)
    chosen, best = 0, 0
    lowest = np.float32(np.inf)
    for place in range(count):
        row = scratch.kept[place]
        equity = _cubeless(scratch.five, OUTPUTS * place)
        if equity < lowest or (equity == lowest and _more_off(scratch, row, chosen)):
            lowest = equity
            chosen, best = row, place
    for index in range(5):
        values[index] = scratch.five[OUTPUTS * best + index]
    return chosen


@inner
def best_cubeful_result(
    net: Net, scratch: Scratch, high: int, low: int,
    cubes: Cubes, situation: int, values: Array, actions: Array,
) -> tuple[int, float]:  # fmt: skip
    """The row of scratch.results that is worth least to the next player, and what, after
    `set_position`.

    Where he cashes after every play, for instance, all are worth the same, and the one that is
    worth least without the cube is chosen; among equal ones that with most checkers off.

    cubes, situation: what the next player has. values: float32[5], written with that result's
    probabilities for him; actions: float64[ACTIONS], working memory.
    """
    outcomes = outcome_worths(cubes, situation)
    count = results_worth_evaluating(net, scratch, high, low, outcomes)
    evaluate_kept(net, scratch, count)
    chosen, best = 0, 0
    lowest, lowest_equity = np.inf, np.float32(np.inf)
    for place in range(count):
        row = scratch.kept[place]
        value = value_of_kept(net, scratch, place, cubes, situation, actions)
        equity = _cubeless(scratch.five, OUTPUTS * place)
        tie = value == lowest
        better = value < lowest or (tie and equity < lowest_equity)
        if better or (tie and equity == lowest_equity and _more_off(scratch, row, chosen)):
            lowest, lowest_equity = value, equity
            chosen, best = row, place
    for index in range(5):
        values[index] = scratch.five[OUTPUTS * best + index]
    return chosen, lowest


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
        chosen[index] = scratch.results[row]


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
        row, _ = best_cubeful_result(
            net, scratch, high, low, cubes, situations[index], values[index], actions
        )
        chosen[index] = scratch.results[row]


@kernel
def backup_rolls(net: Net, boards: Array, values: Array) -> int:
    """The exact one-ply backup: the mean over the 21 rolls of the best result's value.

    boards: uint64[N, 8] packed, none finished. values: float32[N, 5], for the player on roll.
    Returns how many results were evaluated.
    """
    scratch = make_scratch(net.sizes)
    best = np.empty(5, np.float32)
    for index in range(len(boards)):
        set_position(net, scratch, boards, index)
        totals = values[index]
        totals[:] = 0
        for high in range(1, 7):
            for low in range(1, high + 1):
                best_result(net, scratch, high, low, best)
                weight = np.float32((1 if high == low else 2) / 36)
                totals[0] += weight * (1 - best[0])
                totals[1] += weight * best[3]
                totals[2] += weight * best[4]
                totals[3] += weight * best[1]
                totals[4] += weight * best[2]
        for column in range(5):
            totals[column] = min(max(totals[column], np.float32(0)), np.float32(1))
    return scratch.evaluated[0]
