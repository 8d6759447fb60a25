"""What a player sees at a glance and a net over checker counts finds hard to learn.

All work on masks, as in `engine.kernels.movegen`: bit p stands for point p in the numbering of the
side in question, bit 25 for its bar. The features of a board, for each side, the player on roll
first:

    0  share of its rolls that hit a blot of the other side
    1  the same, of blots that would lose more than half the way round
    2  to 4  share of rolls that a checker on its three rearmost points can play in full
    5  the mean of that share over all its checkers
    6  how far back its rearmost checker is
    7  how far back its rearmost made point is
    8  how far back the nearest of its made points in the other side's half is
    9  pips that it must play until all its checkers are level with the other side's rearmost
    10  length of its longest prime
    11  share of rolls that would let it go a full roll from the bar
    12  the least such share from the bar, its 24-, 22- and 20-point

and after both sides one that says contact; without contact all are zero. Hits are counted for one
side's next roll, as if it were its turn, over every order of the dice; a roll's later steps may use
any checker.

The kernels keep them as whole numbers of a unit: `WHOLE` has how many are one.
"""

from typing import Any

import numpy as np
from numba import njit

from engine.kernels import inner, kernel
from engine.kernels.bits import highest_bit, lowest_bit, reverse
from engine.kernels.plans import POINTS_AND_BAR, in_contact
from engine.kernels.vector import mask_above

__all__ = ["CONTACT", "MOST", "TACTICS", "WHOLE", "tactics_into", "tactics_of"]

Array = np.ndarray[Any, Any]

TACTICS = 32  # features, the unused last ones zero, so that vectors come out even
PER_SIDE = 13
REAR = 3
AHEAD = 12  # points that a roll without doubles can cross
CONTACT = 2 * PER_SIDE
BAR = 25
ONE = 27_000  # a multiple of 36, 25, 24 and 6
HUNDRED_PIPS = 8_000
MOST = 7 * (ONE // 6)  # seven points made in a row; no feature has more units, and an int16 does
POINTS = 0x1FFFFFE  # the mask of points 1..24
FAR = 16  # bits of a count of hits below that of the far ones
FAR_HALF = 0x1FFE000  # points 13..24; a checker hit there loses more than twelve pips


def _whole() -> Array:
    """int16[TACTICS]: how many units of a feature are one."""
    whole = np.full(TACTICS, ONE, np.int16)
    whole[[9, PER_SIDE + 9]] = HUNDRED_PIPS
    return whole


WHOLE = _whole()


def _full_roll_table() -> Array:
    """uint8[4096]: of 36 rolls, how many a checker can play in full by itself.

    Bit i of the index: the point 12 - i ahead of the checker is blocked. Of doubles the first two
    steps count.
    """
    blocked = np.arange(1 << AHEAD)
    open_ahead = [blocked >> (AHEAD - pips) & 1 == 0 for pips in range(AHEAD + 1)]
    playable = [
        open_ahead[first + second] & (open_ahead[first] | open_ahead[second])
        for first in range(1, 7)
        for second in range(1, 7)
    ]
    return np.sum(playable, axis=0).astype(np.uint8)


_FULL_ROLLS = _full_roll_table()


# The larger and the smaller die of each roll, and that of each double. No checker can play a 31: it
# fills up the vectors.
_HIGH = np.array([high for high in range(2, 7) for _ in range(1, high)] + [31], np.uint32)
_LOW = np.array([low for high in range(2, 7) for low in range(1, high)] + [31], np.uint32)
_DOUBLE = np.array([1, 2, 3, 4, 5, 6, 31, 31], np.uint32)


@njit(inline="always")
def _full_rolls(blocked: int, point: int) -> int:
    """Of 36 rolls, how many a checker on this point can play in full; blocked is a uint64."""
    ahead = ((blocked << np.uint64(AHEAD)) >> np.uint64(point)) & np.uint64((1 << AHEAD) - 1)
    return np.int64(_FULL_ROLLS[ahead])


@njit(inline="always")
def _hits(reached: int, blots: int, far: int, weight: int) -> int:
    """The weight where a point reached has a blot, and shifted by FAR where it is a far one."""
    hit = np.uint32(weight) if reached & blots else np.uint32(0)
    return hit + (np.uint32(weight << FAR) if reached & far else np.uint32(0))


@njit(inline="always")
def _hitting_rolls(on_points: int, on_bar: int, free: int, blots: int) -> tuple[int, int]:
    """Of 36 rolls, how many hit one of the blots, and how many one in the far half.

    Both loops are without branches, so that they become vector instructions, a roll in each lane.
    """
    none = np.uint32(0)
    every = np.uint32(0xFFFFFFFF)
    far = blots & np.uint32(FAR_HALF)
    first_from = np.uint32(1) << np.uint32(BAR) if on_bar else on_points
    second = every if on_bar < 2 else none  # whether a second step may start from a point
    third = every if on_bar < 3 else none
    fourth = every if on_bar < 4 else none
    hits = none
    for roll in range(len(_HIGH)):
        high, low = _HIGH[roll], _LOW[roll]
        by_high = (first_from >> high) & free
        by_low = (first_from >> low) & free
        after_high = (on_points | by_high) & second if by_high else none
        after_low = (on_points | by_low) & second if by_low else none
        reached = by_high | by_low | (after_high >> low) | (after_low >> high)
        hits += _hits(reached, blots, far, 2)
    for roll in range(len(_DOUBLE)):
        die = _DOUBLE[roll]
        reached = (first_from >> die) & free
        sources = (on_points | reached) & fourth if reached else none
        landed = (sources >> die) & free
        reached |= landed
        sources = (sources | landed) & third
        landed = (sources >> die) & free
        reached |= landed
        sources = (sources | landed) & second
        reached |= (sources >> die) & free
        hits += _hits(reached, blots, far, 1)
    return np.int64(hits & np.uint32((1 << FAR) - 1)), np.int64(hits >> np.uint32(FAR))


@njit(inline="always")
def _side_into(
    boards: Array, row: int, start: int, own: int, own_made: int, other: int, other_made: int,
    out: Array, at: int,
) -> None:  # fmt: skip
    """The features of one side of int8 boards[row], whose columns begin at `start`, into out[at:].

    own, own_made: its occupied points (bar included) and made points in its numbering; other,
    other_made: the opponent's in the same numbering, where his bar is bit 0.
    """
    points = np.uint32(POINTS)
    blots = other & ~other_made & points
    if blots:
        on_bar = np.int64(boards[row, start + BAR])
        hits, far_hits = _hitting_rolls(own & points, on_bar, ~other_made & points, blots)
        out[at] = hits * (ONE // 36)
        out[at + 1] = far_hits * (ONE // 36)
    blocked = np.uint64(other_made)
    past = np.int64(lowest_bit(np.uint64(other)))
    mobility = 0
    to_play = 0
    checkers = 0
    left = own
    seen = 0
    while left:
        point = highest_bit(left)
        left ^= np.uint32(1) << np.uint32(point)
        count = np.int64(boards[row, np.uint64(start) + np.uint64(point)])
        full = _full_rolls(blocked, point)
        if seen < REAR:
            out[at + 2 + seen] = full * (ONE // 36)
        seen += 1
        checkers += count
        mobility += count * full
        to_play += count * max(point - past, 0)
    out[at + 5] = np.float32(mobility * (ONE // 36)) / np.float32(checkers) + np.float32(0.5)
    out[at + 6] = highest_bit(own) * (ONE // 25)
    if own_made:
        out[at + 7] = highest_bit(own_made) * (ONE // 24)
    anchors = own_made & np.uint32(FAR_HALF)
    if anchors:
        out[at + 8] = lowest_bit(np.uint64(anchors)) * (ONE // 24)
    out[at + 9] = to_play * (HUNDRED_PIPS // 100)
    run = own_made
    length = 0
    while run:
        run &= run >> np.uint32(1)
        length += 1
    out[at + 10] = length * (ONE // 6)
    from_bar = _full_rolls(blocked, BAR)
    from_far = min(_full_rolls(blocked, 24), _full_rolls(blocked, 22))
    out[at + 11] = from_bar * (ONE // 36)
    out[at + 12] = min(from_bar, from_far, _full_rolls(blocked, 20)) * (ONE // 36)


@inner
def tactics_into(boards: Array, row: int, out: Array) -> None:
    """The features of int8 boards[row], flat packed, into int16 out[TACTICS]."""
    for index in range(TACTICS):
        out[index] = 0
    start = row * 64
    columns = np.uint32(POINTS_AND_BAR)
    mine = mask_above(boards, start, 0) & columns
    theirs = mask_above(boards, start + 32, 0) & columns
    if not in_contact(mine, theirs):
        return
    mine_made = mask_above(boards, start, 1) & np.uint32(POINTS)
    theirs_made = mask_above(boards, start + 32, 1) & np.uint32(POINTS)
    # Point p of one side is point 25 - p of the other: bit p of 26 turns into bit 25 - p.
    theirs_faced = reverse(theirs) >> np.uint32(6)
    theirs_made_faced = reverse(theirs_made) >> np.uint32(6)
    mine_faced = reverse(mine) >> np.uint32(6)
    mine_made_faced = reverse(mine_made) >> np.uint32(6)
    _side_into(boards, row, 0, mine, mine_made, theirs_faced, theirs_made_faced, out, 0)
    _side_into(boards, row, 32, theirs, theirs_made, mine_faced, mine_made_faced, out, PER_SIDE)
    out[CONTACT] = ONE


@kernel
def tactics_of(boards: Array) -> Array:
    """float32[N, TACTICS] of int8[N, 64] flat packed boards."""
    features = np.empty((len(boards), TACTICS), np.float32)
    units = np.empty(TACTICS, np.int16)
    for row in range(len(boards)):
        tactics_into(boards, row, units)
        features[row] = units / WHOLE
    return features
