"""What a player sees at a glance and a net over checker counts finds hard to learn.

All work on masks, as in `engine.kernels.movegen`: bit p stands for point p in the numbering of the
side in question, bit 25 for its bar. The features of a board, for each side, the player on roll
first:

    0  share of its rolls that hit a blot of the other side
    1  the same, of blots that would lose more than half the way round
    2  to 4  share of rolls that its three rearmost checkers' points let go a full roll
    5  how far back its rearmost checker is
    6  length of its longest prime
    7  share of rolls that would let it go a full roll from the bar
    8  the least such share from the bar, its 24-, 22- and 20-point

and after both sides one that says contact; without contact all are zero. Hits are counted for one
side's next roll, as if it were its turn, over every order of the dice; a roll's later steps may use
any checker.
"""

from typing import Any

import numpy as np
from numba import njit

from engine.kernels.bits import highest_bit, reverse
from engine.kernels.vector import mask_above

__all__ = ["TACTICS", "tactics_into", "tactics_of"]

Array = np.ndarray[Any, Any]

TACTICS = 24  # features, the unused last ones zero, so that vectors come out even
PER_SIDE = 9
REAR = 3
AHEAD = 12  # points that a roll without doubles can cross
BAR = 25
POINTS = 0x1FFFFFE  # the mask of points 1..24
FAR_HALF = 0x1FFE000  # points 13..24: a checker hit there loses more than twelve pips


def _full_roll_table() -> Array:
    """uint8[4096]: of 36 rolls, how many a checker can play in full by itself.

    Bit i of the index: the point 12 - i ahead of the checker is blocked. Of doubles the first two
    steps count.
    """
    table = np.zeros(1 << AHEAD, np.uint8)
    for blocked in range(1 << AHEAD):
        open_ahead = [True] + [not blocked >> (AHEAD - pips) & 1 for pips in range(1, AHEAD + 1)]
        table[blocked] = sum(
            open_ahead[first + second] and (open_ahead[first] or open_ahead[second])
            for first in range(1, 7)
            for second in range(1, 7)
        )
    return table


_FULL_ROLLS = _full_roll_table()


@njit(inline="always")
def _full_rolls(blocked: int, point: int) -> float:
    """The share of rolls that a checker on this point can play in full."""
    if point >= AHEAD:
        index = (blocked >> np.uint32(point - AHEAD)) & np.uint32(0xFFF)
    else:
        index = (blocked << np.uint32(AHEAD - point)) & np.uint32(0xFFF)
    return np.float32(_FULL_ROLLS[index]) * np.float32(1 / 36)


@njit
def _hitting_rolls(on_points: int, on_bar: int, free: int, blots: int) -> tuple[int, int]:
    """Of 36 rolls, how many hit one of the blots, and how many one in the far half."""
    bar = np.uint32(1) << np.uint32(BAR)
    far = blots & np.uint32(FAR_HALF)
    hits = 0
    far_hits = 0
    first_from = bar if on_bar else on_points
    for high in range(1, 7):
        by_high = (first_from >> np.uint32(high)) & free
        reached = by_high
        sources = on_points | by_high
        if by_high:
            for _ in range(4 - max(on_bar, 1)):
                landed = (sources >> np.uint32(high)) & free
                reached |= landed
                sources |= landed
        hits += (reached & blots) != 0
        far_hits += (reached & far) != 0
        for low in range(1, high):
            by_low = (first_from >> np.uint32(low)) & free
            reached = by_high | by_low
            if on_bar < 2:
                after_high = on_points | by_high if by_high else np.uint32(0)
                after_low = on_points | by_low if by_low else np.uint32(0)
                reached |= (after_high >> np.uint32(low)) | (after_low >> np.uint32(high))
            hits += 2 * ((reached & blots) != 0)
            far_hits += 2 * ((reached & far) != 0)
    return hits, far_hits


@njit(inline="always")
def _side_into(
    own: int, own_made: int, on_bar: int, other: int, other_made: int, out: Array, at: int
) -> None:
    """The features of one side into out[at:].

    own, own_made: its occupied points (bar included) and made points in its numbering; other,
    other_made: the opponent's in the same numbering.
    """
    blots = other & ~other_made & np.uint32(POINTS)
    if blots:
        free = ~other_made & np.uint32(POINTS)
        hits, far_hits = _hitting_rolls(own & np.uint32(POINTS), on_bar, free, blots)
        out[at] = np.float32(hits) * np.float32(1 / 36)
        out[at + 1] = np.float32(far_hits) * np.float32(1 / 36)
    out[at + 5] = np.float32(highest_bit(own)) * np.float32(1 / 25)
    for index in range(REAR):
        if own:
            point = highest_bit(own)
            own ^= np.uint32(1) << np.uint32(point)
            out[at + 2 + index] = _full_rolls(other_made, point)
    run = own_made & np.uint32(POINTS)
    length = 0
    while run:
        run &= run >> np.uint32(1)
        length += 1
    out[at + 6] = np.float32(length) * np.float32(1 / 6)
    from_bar = _full_rolls(other_made, BAR)
    out[at + 7] = from_bar
    from_far = min(_full_rolls(other_made, 24), _full_rolls(other_made, 22))
    out[at + 8] = min(from_bar, from_far, _full_rolls(other_made, 20))


@njit
def tactics_into(boards: Array, row: int, out: Array, at: int) -> None:
    """The features of int8 boards[row], flat packed, into float32 out[at:][:TACTICS]."""
    for index in range(TACTICS):
        out[at + index] = np.float32(0)
    start = row * 64
    columns = np.uint32(0x3FFFFFE)  # points and bar
    mine = mask_above(boards, start, 0) & columns
    theirs = mask_above(boards, start + 32, 0) & columns
    if mine == 0 or theirs == 0 or highest_bit(mine) + highest_bit(theirs) <= 25:
        return
    mine_made = mask_above(boards, start, 1) & np.uint32(POINTS)
    theirs_made = mask_above(boards, start + 32, 1) & np.uint32(POINTS)
    # Point p of one side is point 25 - p of the other: bit p of 26 turns into bit 25 - p.
    theirs_faced = reverse(theirs) >> np.uint32(6)
    theirs_made_faced = reverse(theirs_made) >> np.uint32(6)
    mine_faced = reverse(mine) >> np.uint32(6)
    mine_made_faced = reverse(mine_made) >> np.uint32(6)
    on_bar = np.int64(boards[row, BAR])
    their_bar = np.int64(boards[row, 32 + BAR])
    _side_into(mine, mine_made, on_bar, theirs_faced, theirs_made_faced, out, at)
    _side_into(theirs, theirs_made, their_bar, mine_faced, mine_made_faced, out, at + PER_SIDE)
    out[at + 2 * PER_SIDE] = np.float32(1)


@njit(cache=True, nogil=True)
def tactics_of(boards: Array) -> Array:
    """float32[N, TACTICS] of int8[N, 64] flat packed boards."""
    features = np.empty((len(boards), TACTICS), np.float32)
    for row in range(len(boards)):
        tactics_into(boards, row, features[row], 0)
    return features
