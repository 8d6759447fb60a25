"""The sums of a net's first layer over packed boards, in fixed point.

It needs no matrix product: every (slot, count) of a packed board selects one row of `table`, and
the sums of a position are the sum of its rows and, for each tactical feature, a multiple of one
more. A play changes a few of these, so the sums of a result are those of its parent plus a few
differences (the idea behind NNUE, Nasu 2018). The results of a batch need much the same
differences, which are worked out once, a block of units at a time, and stay in the processor's
nearest cache.

All are whole numbers of 16 bits, at a scale of each unit's own at which no legal position
overflows (`engine.evaluation.fixed_point`), so a position has the same sums however they were
found.
"""

from typing import Any

import numpy as np
from numba import njit

from engine.kernels import inner
from engine.kernels.bits import lowest_bit
from engine.kernels.movegen import OTHER, SIZE
from engine.kernels.net import CHANGE_BITS, COUNTS, ROWS, Net, Scratch
from engine.kernels.short_rows import (
    BLOCK,
    add_listed,
    add_products,
    subtract_products,
    subtract_rows,
)
from engine.kernels.tactics import tactics_into
from engine.kernels.vector import mask_above, mask_unequal, mask_unequal_short

__all__ = ["all_sums", "batch_sums"]

Array = np.ndarray[Any, Any]

FEATURE_BITS = 15  # of a feature's units
HASH = np.uint64(0x9E3779B97F4A7C15)  # 2 ** 64 over the golden ratio


@inner
def all_sums(net: Net, scratch: Scratch, boards: Array, row: int, sums: Array) -> None:
    """The first sums of boards[row], from nothing, into int16 sums[H]; its tactical features into
    scratch.tactics.
    """
    count = 0
    for start in range(0, SIZE, OTHER):
        occupied = np.uint64(mask_above(boards, row * SIZE + start, 0))
        while occupied:
            slot = start + lowest_bit(occupied)
            occupied &= occupied - np.uint64(1)
            scratch.places[count] = (slot * COUNTS + boards[row, slot]) * BLOCK
            count += 1
    has_tactics = len(net.tactics) > 0
    if has_tactics:
        tactics_into(boards, row, scratch.tactics)
    for block in range(0, net.sizes[0], BLOCK):
        add_listed(
            sums, block, net.biases, block, net.table, block * ROWS, scratch.places, 0, count
        )
        if has_tactics:
            add_products(sums, block, net.tactics, block * len(scratch.tactics), scratch.tactics)


@njit(inline="always")
def _list_change(scratch: Scratch, change: int, to: int, known: int) -> int:
    """Write to scratch.places[to] where the difference for a change begins; how many are known
    then, `known` of them before.

    Known changes are looked up by a hash: of two with the same one the older is forgotten, and
    worked out once more where it returns.
    """
    numbers, changes = scratch.numbers, scratch.changes
    place = (np.uint64(change) * HASH) >> np.uint64(64 - CHANGE_BITS)
    number = numbers[place]
    if number >= known or changes[number] != change:
        number = known
        numbers[place] = number
        changes[number] = change
        known += 1
    scratch.places[to] = number * BLOCK
    return known


@njit(inline="always")
def _list_changes(net: Net, scratch: Scratch, row: int, to: int, known: int) -> tuple[int, int]:
    """List in scratch.places[to:] the differences of kept[row] from the parent; where the list
    ends, and how many changes of the batch are known then, `known` of them before.
    """
    boards = scratch.kept_bytes
    changed = np.uint64(mask_unequal(boards, row * SIZE, scratch.parent_bytes))
    while changed:
        slot = lowest_bit(changed)
        changed &= changed - np.uint64(1)
        known = _list_change(scratch, slot * COUNTS + boards[row, slot], to, known)
        to += 1
    if len(net.tactics):
        tactics = scratch.tactics
        tactics_into(boards, row, tactics)
        changed = np.uint64(mask_unequal_short(tactics, 0, scratch.parent_tactics))
        while changed:
            feature = lowest_bit(changed)
            changed &= changed - np.uint64(1)
            change = ROWS + (feature << FEATURE_BITS) + tactics[feature]
            known = _list_change(scratch, change, to, known)
            to += 1
    return to, known


@njit(inline="always")
def _differences(net: Net, scratch: Scratch, known: int, block: int) -> None:
    """What each change of the batch adds to a block of first sums, into scratch.differences."""
    for number in range(known):
        change = scratch.changes[number]
        if change < ROWS:
            before = change // COUNTS * COUNTS + scratch.parent_bytes[change // COUNTS]
            at = block * ROWS
            subtract_rows(
                scratch.differences, number * BLOCK, net.table, at + change * BLOCK,
                at + before * BLOCK,
            )  # fmt: skip
        else:
            feature = (change - ROWS) >> FEATURE_BITS
            after = (change - ROWS) & ((1 << FEATURE_BITS) - 1)
            at = block * len(scratch.tactics) + feature * BLOCK
            subtract_products(
                scratch.differences, number * BLOCK, net.tactics, at, after,
                scratch.parent_tactics[feature],
            )  # fmt: skip


@inner
def batch_sums(net: Net, scratch: Scratch, members: int) -> None:
    """The first sums of the rows scratch.order[:members] of scratch.kept, into scratch.firsts, from
    those of the parent.
    """
    starts, hidden = scratch.place_starts, net.sizes[0]
    starts[0] = 0
    known = 0
    for member in range(members):
        starts[member + 1], known = _list_changes(
            net, scratch, scratch.order[member], starts[member], known
        )
    for block in range(0, hidden, BLOCK):
        _differences(net, scratch, known, block)
        for member in range(members):
            add_listed(
                scratch.firsts, member * hidden + block, scratch.sums, block,
                scratch.differences, 0, scratch.places,
                starts[member], starts[member + 1] - starts[member],
            )  # fmt: skip
