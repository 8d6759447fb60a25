"""What the rules say of a position's probabilities: exact where the game is over or a bearoff
database has it, and bounds where it is not.
"""

from typing import Any

import numpy as np
from numba import njit

from engine.kernels.bearoff import bearoff_values
from engine.kernels.movegen import OTHER
from engine.kernels.net import Net
from engine.kernels.plans import is_race

__all__ = ["has_won", "known_values", "make_possible"]

Array = np.ndarray[Any, Any]


@njit(inline="always")
def _any_back(boards: Array, row: int, start: int) -> bool:
    """Whether a side has a checker on the bar or in the other's home board."""
    behind = 0
    for column in range(19, 26):
        behind |= boards[row, start + column]
    return behind != 0


@njit(inline="always")
def make_possible(boards: Array, row: int, values: Array, at: int) -> None:
    """Force the five probabilities values[at:] of int8 boards[row] to be possible and cumulative.

    A side that has borne a checker off cannot lose a gammon, nor in a race one that has none on the
    bar and in the winner's home board a backgammon; a part is not above its whole.
    """
    zero = np.float32(0)
    win = values[at]
    gammon = zero if boards[row, OTHER] > 0 else min(values[at + 1], win)
    lost_gammon = zero if boards[row, 0] > 0 else min(values[at + 3], np.float32(1) - win)
    race = is_race(boards, row)
    safe = race and not _any_back(boards, row, OTHER)
    lost_safe = race and not _any_back(boards, row, 0)
    values[at + 1] = gammon
    values[at + 2] = zero if safe else min(values[at + 2], gammon)
    values[at + 3] = lost_gammon
    values[at + 4] = zero if lost_safe else min(values[at + 4], lost_gammon)


@njit(inline="always")
def _empty(words: Array, row: int, side: int) -> bool:
    """Whether a side (0 or 1) of uint64 words[row] has no checker left to bear off."""
    first = 4 * side
    off = np.uint64(0xFF)  # byte 0 of a side counts the checkers borne off
    rest = words[row, first + 1] | words[row, first + 2] | words[row, first + 3]
    return (words[row, first] & ~off) | rest == 0


@njit(inline="always")
def has_won(words: Array, row: int) -> bool:
    """Whether the side that has just moved, in uint64 words[row], has borne off everything."""
    return _empty(words, row, 1)


@njit(inline="always")
def _finished(words: Array, boards: Array, row: int, values: Array, at: int) -> bool:
    """Whether the game is over, and then its exact five values; either side may have won.

    words: uint64[., 8]; boards: the same memory as int8[., 64].
    """
    lost = _empty(words, row, 1)
    if not lost and not _empty(words, row, 0):
        return False
    loser = 0 if lost else OTHER
    gammon = boards[row, loser] == 0
    backgammon = gammon and _any_back(boards, row, loser)
    values[at] = not lost
    values[at + 1] = not lost and gammon
    values[at + 2] = not lost and backgammon
    values[at + 3] = lost and gammon
    values[at + 4] = lost and backgammon
    return True


@njit(inline="always")
def known_values(net: Net, words: Array, boards: Array, row: int, values: Array, at: int) -> bool:
    """Whether the game is over, or a bearoff database has it, and then its five values.

    words: uint64[., 8]; boards: the same memory as int8[., 64].
    """
    if _finished(words, boards, row, values, at):
        return True
    return bearoff_values(net.bearoff, words, boards, row, values, at)
