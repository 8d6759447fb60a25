"""Bearoff databases by dynamic programming: exact, each position from those that come after it.

The numbers of positions and the layout of both databases are those of `engine.kernels.bearoff`. The
functions that solve take a range of positions that do not depend on each other, so that threads can
share them, and write into arrays that hold all positions before.
"""

from typing import Any

import numpy as np
from numba import njit

from engine.kernels import inner, kernel
from engine.kernels.bearoff import (
    ALL,
    FIRST,
    MAX_CHECKERS,
    NUMBERS,
    PAIR,
    position_number,
)
from engine.kernels.movegen import MAX_RESULTS, OTHER, results_into

__all__ = ["ROLLS", "list_plays", "place_positions", "solve_one_sided", "solve_pairs"]

Array = np.ndarray[Any, Any]

ROLLS = 21
TIE = 1e-12  # means no further apart are the same number, summed in another order


@inner
def _place(number: int, points: int, board: Array) -> None:
    """Put the checkers of a position on columns 1..points of an int8 board that has none."""
    left = number
    checkers = MAX_CHECKERS
    above = 0  # on the k + 1 highest points
    for k in range(points, 0, -1):
        while NUMBERS[k, checkers] > left:
            checkers -= 1
        left -= NUMBERS[k, checkers]
        if k < points:
            board[points - k] = above - checkers
        above = checkers
    board[points] = above


@kernel
def place_positions(count: int, points: int) -> Array:
    """int8[count, points + 1]: the checkers of each position on points 0..points, 0 on point 0."""
    counts = np.zeros((count, points + 1), np.int8)
    for number in range(count):
        _place(number, points, counts[number])
    return counts


@inner
def _set_up(counts: Array, number: int, board: Array) -> None:
    """Set a flat packed board up with a position of the mover, from `place_positions`.

    The opponent has one checker, on his ace point, that is in nobody's way.
    """
    board[:] = 0
    board[OTHER + 1] = 1
    for point in range(counts.shape[1]):
        board[point] = counts[number, point]


@kernel
def solve_one_sided(
    numbers: Array, counts: Array, points: int, width: int, tails: Array, means: Array
) -> None:
    """Solve one-sided positions whose plays all lead to solved ones.

    numbers: int64[.], the positions; counts: int8[N, points + 1], from `place_positions`. Written
    at the positions: tails float64[N * 2 * width] as in `Bearoff`; means float64[N, 2], the mean
    rolls until all checkers are off and until the first is.

    The first row is of a side that races to win: it makes the play with the least mean number of
    rolls, among equal ones the one that bears off most. The second is of a side that races to save
    the gammon: it makes the play with the least mean number of rolls until its first checker is
    off, among equal ones the best to win.
    """
    boards = np.empty((1, 64), np.int8)
    board = boards[0]
    words = board.view(np.uint64)
    results = np.empty((MAX_RESULTS, 8), np.uint64)
    children = results.view(np.int8)
    stack = np.empty((4, 4), np.uint32)
    for number in numbers:
        _set_up(counts, number, board)
        fewer = NUMBERS[points, board[1 : points + 1].sum()]  # from here on none is off yet
        at = number * 2 * width
        tails[at : at + 2 * width] = 0
        means[number] = 0
        if number == 0:
            continue
        for high in range(1, 7):
            for low in range(1, high + 1):
                count = results_into(board, words, high, low, results, 0, stack)
                weight = 1 if high == low else 2
                best, first = _best_plays(children, count, points, fewer, means)
                means[number, ALL] += weight * means[best, ALL]
                _add_later(tails, at, best * 2 * width, width, weight)
                if first >= fewer:
                    means[number, FIRST] += weight * means[first, FIRST]
                    _add_later(tails, at + width, (first * 2 + FIRST) * width, width, weight)
        for n in range(2 * width):
            tails[at + n] /= 36
        tails[at] = tails[at + width] = 1
        means[number] = 1 + means[number] / 36


@inner
def _best_plays(
    children: Array, count: int, points: int, fewer: int, means: Array
) -> tuple[int, int]:
    """The best results to win the race and to bear off the first checker, as numbers.

    children: int8[., 64], the results of a roll; those below `fewer` have a checker off. Numbers
    begin with the fewest checkers, so the lowest of equal results has most off.
    """
    best = first = -1
    least, soonest = np.inf, np.inf
    for row in range(count):
        result = position_number(children, row, OTHER, points)
        gain = least - means[result, ALL]
        if gain > TIE or (gain > -TIE and result < best):
            best, least = result, means[result, ALL]
        rolls = means[result, FIRST] if result >= fewer else 0.0
        gain = soonest - rolls
        if gain > TIE or (gain > -TIE and means[result, ALL] < means[first, ALL]):
            first, soonest = result, rolls
    return best, first


@njit(inline="always")
def _add_later(tails: Array, to: int, source: int, width: int, weight: int) -> None:
    """Add the chances of a result, one roll later, to those of a position.

    Whole weights and one division at the end keep what is certain exactly 1, and every chance at
    most the one before it.
    """
    for n in range(width - 1):
        tails[to + n + 1] += weight * tails[source + n]


@kernel
def list_plays(count: int, points: int) -> tuple[Array, Array]:
    """The distinct results of positions 1 .. count - 1 and all rolls.

    Returns offsets int64[count * 21 + 1] and results int32[.]: those of roll r of position i are
    results[offsets[21 * i + r] : offsets[21 * i + r + 1]]. Position 0 has none.
    """
    board = np.empty(64, np.int8)
    words = board.view(np.uint64)
    counts = place_positions(count, points)
    generated = np.empty((MAX_RESULTS, 8), np.uint64)
    children = generated.view(np.int8)
    stack = np.empty((4, 4), np.uint32)
    offsets = np.zeros(count * ROLLS + 1, np.int64)
    results = np.empty(count * ROLLS * 4 + MAX_RESULTS, np.int32)
    filled = 0
    for number in range(1, count):
        _set_up(counts, number, board)
        roll = number * ROLLS
        for high in range(1, 7):
            for low in range(1, high + 1):
                found = results_into(board, words, high, low, generated, 0, stack)
                if filled + found > len(results):
                    larger = np.empty(2 * len(results), np.int32)
                    larger[:filled] = results[:filled]
                    results = larger
                for row in range(found):
                    results[filled] = position_number(children, row, OTHER, points)
                    filled += 1
                roll += 1
                offsets[roll] = filled
    return offsets, results[:filled].copy()


@kernel
def solve_pairs(
    offsets: Array, results: Array, pairs: Array, count: int,
    mine_start: int, mine_stop: int, theirs_start: int, theirs_stop: int,
) -> None:  # fmt: skip
    """Solve the pairs of two ranges of positions whose plays all lead to solved pairs.

    offsets, results: from `list_plays`. Written: pairs float64[count * count * 4] as in `Bearoff`.
    In a money game at a cube of 1, let nd be the equity of not doubling for each owner of the cube;
    then a double that is taken is worth 2 nd_opponent, one that is passed 1, and a position

        with the cube in the centre  max(nd_centre, min(2 nd_opponent, 1))
        with the player              max(nd_player, min(2 nd_opponent, 1))
        with the opponent            nd_opponent.

    nd is the mean over the rolls of the best play's value, the opponent being on roll after it. The
    best play may be another one for each owner, and for the winning chance.
    """
    best = np.empty(PAIR)
    total = np.empty(PAIR)
    for mine in range(mine_start, mine_stop):
        for theirs in range(theirs_start, theirs_stop):
            at = (mine * count + theirs) * PAIR
            if mine == 0 or theirs == 0:
                pairs[at] = 1 if mine == 0 else 0
                pairs[at + 1] = pairs[at + 2] = pairs[at + 3] = 1 if mine == 0 else -1
                continue
            total[:] = 0
            roll = mine * ROLLS
            for high in range(1, 7):
                for low in range(1, high + 1):
                    _best_of_roll(
                        offsets[roll], offsets[roll + 1], results, pairs, theirs * count, best
                    )
                    weight = 1 if high == low else 2
                    for index in range(PAIR):
                        total[index] += weight * best[index]
                    roll += 1
            for index in range(PAIR):
                pairs[at + index] = total[index] / 36


@njit(inline="always")
def _best_of_roll(
    start: int, stop: int, results: Array, pairs: Array, opponent: int, best: Array
) -> None:
    """The most that the results of a roll are worth to the mover, float64[4] as a pair is.

    opponent: the number of the first pair in which the next player has his present position.
    """
    worst, centre, player, mover = 2.0, 2.0, 2.0, 2.0
    for entry in range(start, stop):
        at = (opponent + results[entry]) * PAIR
        doubled = min(2 * pairs[at + 3], 1.0)
        worst = min(worst, pairs[at])
        centre = min(centre, max(pairs[at + 1], doubled))
        player = min(player, max(pairs[at + 2], doubled))
        mover = min(mover, pairs[at + 3])
    best[0] = 1 - worst
    best[1] = -centre
    best[2] = -mover
    best[3] = -player
