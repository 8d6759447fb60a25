"""Exact values of bearoffs, looked up in databases.

A side with all its checkers on its first `points` points is a *bearoff position*, numbered so that
every play leads to a lower number and so that fewer checkers come first: with u_k checkers on its k
highest points, its number is the sum over k of C(u_k + k - 1, k), the combinatorial number system
of u_k + k - 1. No checker left is number 0.

The *one-sided* database has for each position the chances that after n rolls the side has not borne
off all its checkers, and that it has not borne off one. The *two-sided* database has exact values
for each pair of positions. `engine.kernels.bearoff_build` makes both.
"""

from math import comb
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from engine.kernels import inner, kernel
from engine.kernels.movegen import OTHER

__all__ = [
    "ALL",
    "FIRST",
    "MAX_CHECKERS",
    "MAX_POINTS",
    "NUMBERS",
    "PAIR",
    "Bearoff",
    "actions_of_boards",
    "bearoff_actions",
    "bearoff_values",
    "is_covered",
    "is_pair",
    "number_of_board",
    "outside",
    "pair_of_board",
    "position_number",
    "values_of_boards",
]

Array = np.ndarray[Any, Any]

MAX_POINTS = 12  # so that two sides within them have no contact and no backgammon is possible
MAX_CHECKERS = 15
ALL, FIRST = 0, 1  # rows of a one-sided position: all checkers off, the first checker off
PAIR = 4  # numbers of a two-sided pair: winning chance, then no double by owner of the cube

# C(u + k - 1, k), which numbers positions, at [k, u].
NUMBERS = np.array(
    [[comb(u + k - 1, k) if k else 0 for u in range(MAX_CHECKERS + 1)]
     for k in range(MAX_POINTS + 1)], np.int64
)  # fmt: skip


class Bearoff(NamedTuple):
    """The databases, either of which may be empty; `engine.evaluation.bearoff` loads them."""

    tails: Array
    """float64[N * 2 * width]: for each position and n = 0, 1, ... the chance that more than n rolls
    are needed, to bear off all checkers and then to bear off the first."""
    width: int
    positions: int
    """N: the positions with at most so many checkers; 0 without a one-sided database."""
    points: int
    """On how many points the checkers of the one-sided database are."""
    pairs: Array
    """float64[M * M * 4]: for each position of the player on roll and each of the opponent, the
    winning chance, and the money equity of not doubling with the cube in the centre, with the
    player and with the opponent, in points per unit of the cube."""
    pair_positions: int
    """M; 0 without a two-sided database."""
    pair_points: int
    outside: Array
    """uint64[2, 2]: the bytes of the first two words of a side that are points too high for the
    one-sided database (row 0) and for the two-sided one (row 1)."""


def outside(points: int) -> Array:
    """uint64[2]: the mask of the bytes of columns above `points` in a side's first two words."""
    columns = np.arange(16)
    return np.where(columns > points, 255, 0).astype(np.uint8).view(np.uint64)


@njit(inline="always")
def position_number(boards: Array, row: int, side: int, points: int) -> int:
    """The number of a side (0, or OTHER) of int8 boards[row]; its checkers are on the points."""
    number = 0
    checkers = 0
    for k in range(1, points + 1):
        checkers += boards[row, side + points + 1 - k]
        number += NUMBERS[k, checkers]
    return number


@njit(inline="always")
def _within(words: Array, row: int, mask: Array, database: int) -> bool:
    """Whether all checkers of uint64 words[row] are on the points of a database (0 or 1)."""
    far = words[row, 2] | words[row, 3] | words[row, 6] | words[row, 7]
    far |= (words[row, 0] | words[row, 4]) & mask[database, 0]
    far |= (words[row, 1] | words[row, 5]) & mask[database, 1]
    return far == 0


@njit(inline="always")
def _pair(bearoff: Bearoff, words: Array, boards: Array, row: int) -> int:
    """Where the pair of a position begins in `pairs`, or -1 when it is not there.

    There are no gammons in the database, so both sides must have borne off a checker.
    """
    if not _within(words, row, bearoff.outside, 1):
        return -1
    if boards[row, 0] == 0 or boards[row, OTHER] == 0:
        return -1
    count = bearoff.pair_positions
    mine = position_number(boards, row, 0, bearoff.pair_points)
    theirs = position_number(boards, row, OTHER, bearoff.pair_points)
    if mine >= count or theirs >= count:
        return -1
    return (mine * count + theirs) * PAIR


@njit(inline="always")
def _chance(tails: Array, racer: int, other: int, late: int, width: int) -> float:
    """The chance that a side is done before the other has had its last roll and is done too.

    racer, other: where their chances begin in `tails`; late: 0 when the racer rolls first, else 1.
    """
    chance = 0.0
    left = 1.0
    for n in range(width - 1):
        still = tails[racer + n + 1]
        chance += (left - still) * tails[other + n + late]
        if still == 0:
            break
        left = still
    return chance


@inner
def _one_sided(bearoff: Bearoff, boards: Array, row: int, values: Array, at: int) -> bool:
    """`bearoff_values` by the one-sided database, for a position on its points."""
    mine = position_number(boards, row, 0, bearoff.points)
    theirs = position_number(boards, row, OTHER, bearoff.points)
    if mine >= bearoff.positions or theirs >= bearoff.positions:
        return False
    tails, width = bearoff.tails, bearoff.width
    mine *= 2 * width
    theirs *= 2 * width
    values[at] = _chance(tails, mine, theirs, 0, width)
    values[at + 1] = values[at + 2] = values[at + 3] = values[at + 4] = 0
    if boards[row, OTHER] == 0:
        values[at + 1] = _chance(tails, mine, theirs + FIRST * width, 0, width)
    if boards[row, 0] == 0:
        values[at + 3] = _chance(tails, theirs, mine + FIRST * width, 1, width)
    return True


@inner
def is_pair(bearoff: Bearoff, words: Array, boards: Array, row: int) -> bool:
    """Whether the two-sided database has a position; arguments as in `bearoff_values`."""
    return _pair(bearoff, words, boards, row) >= 0


@njit(inline="always")
def is_covered(bearoff: Bearoff, words: Array, row: int) -> bool:
    """Whether all checkers of the packed board uint64 words[row] are on a database's points."""
    return _within(words, row, bearoff.outside, 0) or _within(words, row, bearoff.outside, 1)


@inner
def _look_up(
    bearoff: Bearoff, words: Array, boards: Array, row: int, values: Array, at: int
) -> bool:
    """`bearoff_values` of a position without checkers beyond the first 15 points."""
    pair = _pair(bearoff, words, boards, row)
    if pair >= 0:
        values[at] = bearoff.pairs[pair]
        values[at + 1] = values[at + 2] = values[at + 3] = values[at + 4] = 0
        return True
    if not _within(words, row, bearoff.outside, 0):
        return False
    return _one_sided(bearoff, boards, row, values, at)


@njit(inline="always")
def bearoff_values(
    bearoff: Bearoff, words: Array, boards: Array, row: int, values: Array, at: int
) -> bool:
    """Write the five probabilities of a position, if it is in a database, and whether it is.

    words: uint64[., 8] packed boards; boards: the same memory as int8[., 64]; the game is not over.
    values: float32[.], written from `at` on, for the player on roll. Exact from the two-sided
    database; from the one-sided one, exact for sides that race without looking at each other.
    """
    if words[row, 2] | words[row, 3] | words[row, 6] | words[row, 7]:
        return False
    return _look_up(bearoff, words, boards, row, values, at)


@inner
def bearoff_actions(
    bearoff: Bearoff, words: Array, boards: Array, row: int,
    owner: int, beavers: bool, actions: Array,
) -> bool:  # fmt: skip
    """Write what can be done with the cube in a money game, if the position is in the two-sided
    database, and whether it is.

    words, boards, row: as in `bearoff_values`. owner, beavers, actions: as in
    `engine.kernels.cubeful`: actions float64[4], the exact equities of no double, double and take,
    double and pass, double and beaver, in points per unit of the cube, for the player on roll;
    where he may not double, or may not be beavered, as if he might.

    Beavers do not change the other equities: who may be beavered rightly does better not to double.
    """
    pair = _pair(bearoff, words, boards, row)
    if pair < 0:
        return False
    opponent_owns = bearoff.pairs[pair + 3]
    actions[0] = bearoff.pairs[pair + 1 + owner]
    actions[1] = 2 * opponent_owns
    actions[2] = 1
    actions[3] = 4 * opponent_owns if beavers else actions[1]
    return True


@kernel
def number_of_board(words: Array, side: int, points: int) -> int:
    """The number of a side (0 or 1) of a packed board uint64[1, 8]; -1 when a checker is beyond
    the points.
    """
    boards = words.view(np.int8)
    for column in range(points + 1, 26):
        if boards[0, OTHER * side + column]:
            return -1
    return position_number(boards, 0, OTHER * side, points)


@kernel
def pair_of_board(bearoff: Bearoff, words: Array) -> int:
    """Where a packed board uint64[1, 8] begins in `pairs`, or -1 when it is not there."""
    return _pair(bearoff, words, words.view(np.int8), 0)


@kernel
def values_of_boards(bearoff: Bearoff, words: Array, values: Array, known: Array) -> None:
    """`bearoff_values` of N positions.

    words: uint64[N, 8]. Written: values float32[N * 5]; known bool[N], whether they are there.
    """
    boards = words.view(np.int8)
    for row in range(len(words)):
        known[row] = bearoff_values(bearoff, words, boards, row, values, 5 * row)


@kernel
def actions_of_boards(
    bearoff: Bearoff, words: Array, index: Array, money: Array, owner: Array, beavers: Array,
    actions: Array,
) -> None:  # fmt: skip
    """`bearoff_actions` of N positions.

    words: uint64[N, 8]; index: int64[N], which of C situations each is in; money bool[C], whether
    it is a money game with the cube in play; owner int64[C]; beavers bool[C]. Written: the rows of
    actions float64[N, 4] that the database knows.
    """
    boards = words.view(np.int8)
    for row in range(len(words)):
        at = index[row]
        if money[at]:
            bearoff_actions(bearoff, words, boards, row, owner[at], beavers[at], actions[row])
