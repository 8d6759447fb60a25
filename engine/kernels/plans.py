"""Game plans: which of a net's later layers a position is for.

Without contact there is one plan, the race. Otherwise what counts for each side is how many of its
checkers are back, in the other's home board or on the bar: none or one, two (an anchor perhaps), or
three and more (a backgame perhaps). That makes nine.
"""

from typing import Any

import numpy as np
from numba import njit

from engine.kernels import kernel
from engine.kernels.bits import highest_bit
from engine.kernels.vector import mask_above

__all__ = ["PLANS", "POINTS_AND_BAR", "in_contact", "is_race", "plan_of", "plans_of"]

Array = np.ndarray[Any, Any]

PLANS = 10
RACE = 0
POINTS_AND_BAR = 0x3FFFFFE  # the mask of points 1..24 and the bar


@njit(inline="always")
def in_contact(mine: int, theirs: int) -> bool:
    """Whether the sides must still pass each other; uint32, the points that each occupies in its
    own numbering, with the bar at bit 25.
    """
    return mine != 0 and theirs != 0 and highest_bit(mine) + highest_bit(theirs) > 25


@njit(inline="always")
def is_race(boards: Array, row: int) -> bool:
    """Whether there is no contact in int8 boards[row], flat packed."""
    start = 64 * row
    columns = np.uint32(POINTS_AND_BAR)
    mine = mask_above(boards, start, 0) & columns
    return not in_contact(mine, mask_above(boards, start + 32, 0) & columns)


@njit(inline="always")
def _checkers_back(boards: Array, row: int, start: int) -> int:
    """0, 1 or 2: none or one, two, or more of a side's checkers on points 19..24 and the bar."""
    count = 0
    for column in range(19, 26):
        count += boards[row, start + column]
    return min(max(count, 1), 3) - 1


@njit(inline="always")
def plan_of(boards: Array, row: int) -> int:
    """The plan of int8 boards[row], flat packed: 0 is the race, 1 + 3 a + b what the player on roll
    (a) and the other (b) have back.
    """
    if is_race(boards, row):
        return RACE
    return 1 + 3 * _checkers_back(boards, row, 0) + _checkers_back(boards, row, 32)


@kernel
def plans_of(boards: Array) -> Array:
    """int64[N]: the plans of int8[N, 64] flat packed boards."""
    plans = np.empty(len(boards), np.int64)
    for row in range(len(boards)):
        plans[row] = plan_of(boards, row)
    return plans
