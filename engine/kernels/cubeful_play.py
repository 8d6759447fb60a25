"""The play a net likes best with the cube: a result is worth what the next player has on roll."""

from typing import Any

import numpy as np
from numba import njit

from engine.kernels.cubeful import ACTIONS, Cubes, position_value, readiness
from engine.kernels.forward import Net, Scratch, evaluate_result, make_scratch, set_position
from engine.kernels.movegen import results_into

__all__ = ["best_cubeful_result", "choose_cubeful_results"]

Array = np.ndarray[Any, Any]


@njit
def best_cubeful_result(
    net: Net, scratch: Scratch, high: int, low: int,
    cubes: Cubes, situation: int, values: Array, actions: Array,
) -> int:  # fmt: skip
    """The row of scratch.results that is worth least to the next player, after `set_position`.

    cubes, situation: what the next player has. values: float32[5], written with that result's
    probabilities for him; actions: float64[ACTIONS], working memory.
    """
    count = results_into(
        scratch.board_bytes, scratch.board, high, low, scratch.results, 0, scratch.stack
    )
    scratch.evaluated[0] += count
    layers = scratch.layers
    at = (len(net.sizes) - 1) * scratch.stride
    chosen = 0
    lowest = np.inf
    for row in range(count):
        evaluate_result(net, scratch, row, at)
        ready = readiness(scratch.children, row)
        value = position_value(cubes, situation, layers, at, ready, actions)
        if value < lowest:
            lowest = value
            chosen = row
            for index in range(5):
                values[index] = layers[at + index]
    return chosen


@njit(cache=True, nogil=True)
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
        chosen[index] = scratch.results[row]
