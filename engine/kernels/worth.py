"""What a board is worth with the cube: as a bearoff database says exactly, else by the model.

Compiled into their callers: handing on this many arrays would take as long as the work.
"""

from typing import Any

import numpy as np
from numba import njit

from engine.kernels.bearoff import Bearoff, bearoff_actions, is_pair
from engine.kernels.cubeful import Cubes, best_action, cube_actions, timing
from engine.kernels.movegen import is_over

__all__ = ["actions_of_board", "is_exact", "value_of_board"]

Array = np.ndarray[Any, Any]


@njit(inline="always")
def is_exact(
    bearoff: Bearoff, words: Array, boards: Array, row: int, cubes: Cubes, situation: int
) -> bool:
    """Whether `value_of_board` is exact: the game is over, or the two-sided database has the
    position and money is played for or the cube is dead.
    """
    if is_over(boards[row]):
        return True
    if not cubes.endless[situation] and cubes.turns[situation] > 0:
        return False
    return is_pair(bearoff, words, boards, row)


@njit(inline="always")
def actions_of_board(
    bearoff: Bearoff, words: Array, boards: Array, row: int,
    cubes: Cubes, situation: int, values: Array, at: int, actions: Array,
) -> None:  # fmt: skip
    """`engine.kernels.cubeful.cube_actions` of the packed board words[row], uint64[., 8].

    boards: the same memory as int8[., 64]; values: float32[.], its five probabilities from `at`.
    Exact for money where the two-sided database has the position.
    """
    if cubes.endless[situation] and bearoff_actions(
        bearoff, words, boards, row, cubes.owner[situation], cubes.beavers[situation], actions
    ):
        return
    ready, ending = timing(boards, row)
    cube_actions(cubes, situation, values, at, ready, ending, actions)


@njit(inline="always")
def value_of_board(
    bearoff: Bearoff, words: Array, boards: Array, row: int,
    cubes: Cubes, situation: int, values: Array, at: int, actions: Array,
) -> float:  # fmt: skip
    """The value for the player on roll, who doubles where that is right and is answered rightly.

    The arguments are those of `actions_of_board`; actions: float64[ACTIONS], working memory.
    """
    actions_of_board(bearoff, words, boards, row, cubes, situation, values, at, actions)
    return best_action(cubes, situation, actions)
