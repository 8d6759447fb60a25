"""A net's forward pass over packed boards, incremental along the plays of a position.

The first layer needs no matrix product: every (slot, count) of a packed board selects one row of
`table`, and the hidden sum of a position is the sum of its rows. A play changes a few slots, so
the sum of a result is the sum of its parent plus a few differences of rows (the idea behind NNUE,
Nasu 2018). The sums of a batch of results are found together, a block of units at a time: they need
much the same differences, which are worked out once and stay in the processor's nearest cache.
After a ReLU most of a layer is zero, and much the same units in each result: the later layers take
a group of results of one game plan at a time, and skip what is zero in all of them.

Outputs are the logits of the five probabilities and three unused ones.
"""

from typing import Any

import numpy as np
from numba import njit

from engine.kernels import inner, kernel
from engine.kernels.bits import lowest_bit
from engine.kernels.movegen import OTHER, SIZE
from engine.kernels.net import (
    ACTIVE,
    BATCH,
    BLOCK,
    COUNTS,
    GROUP,
    OUTPUTS,
    PRUNING,
    ROWS,
    Net,
    Scratch,
    make_scratch,
)
from engine.kernels.outcomes import known_values, make_possible
from engine.kernels.plans import plan_of
from engine.kernels.rows import (
    WIDE,
    add_abreast_8,
    add_abreast_wide,
    add_listed_64,
    add_rows_64,
    list_nonzero,
    rectify_abreast,
)
from engine.kernels.tactics import TACTICS, tactics_into
from engine.kernels.vector import logistic_8, mask_above, mask_unequal

__all__ = [
    "evaluate_boards",
    "evaluate_into",
    "evaluate_kept",
    "set_position",
]

Array = np.ndarray[Any, Any]

NO_PLAN = -1  # of a board whose values are known without the net


@njit(inline="always")
def _later_layers(net: Net, scratch: Scratch, first: int, plan: int) -> int:
    """The sums of the later layers of the group, of one game plan, whose first sums begin with
    those of member `first` of the batch; where those of the outputs begin in layers.
    """
    layers, stride, weights = scratch.layers, scratch.stride, net.weights
    start = net.sizes[0] + plan * net.plan_weights
    below, above = first * stride, BATCH * stride
    for layer in range(len(net.sizes) - 1):
        n_in, n_out = net.sizes[layer], net.sizes[layer + 1]
        active = rectify_abreast(layers, below, stride, n_in, scratch.active)
        bias = start + n_in * n_out
        column = 0
        while column + WIDE <= n_out:
            add_abreast_wide(
                layers, above + column, bias + column, layers, below, stride,
                scratch.active, active, weights, start + column, n_out,
            )  # fmt: skip
            column += WIDE
        while column < n_out:
            add_abreast_8(
                layers, above + column, bias + column, layers, below, stride,
                scratch.active, active, weights, start + column, n_out,
            )  # fmt: skip
            column += 8
        start, below, above = bias + n_out, above, above + GROUP * stride
    return below


@inner(fastmath=True)
def _first_sums(
    table: Array, biases: Array, hidden: int, width: int, board: Array, sums: Array
) -> None:
    """The first sums, written to float32[H], of a flat packed board, from nothing.

    width: of the table's blocks.
    """
    for unit in range(hidden):
        sums[unit] = biases[unit]
    for start in range(0, SIZE, OTHER):
        occupied = np.uint64(mask_above(board, start, 0))
        while occupied:
            slot = start + lowest_bit(occupied)
            occupied &= occupied - np.uint64(1)
            row = (slot * COUNTS + board[slot]) * width
            for block in range(0, hidden, width):
                place = np.uint64(row + block * ROWS)
                for unit in range(width):
                    sums[np.uint64(block) + np.uint64(unit)] += table[place + np.uint64(unit)]


@njit(inline="always")
def _list_tactics(scratch: Scratch, at: int) -> int:
    """List in scratch.active_tactics[at:] which of scratch.tactics[at:] matter; how many."""
    return list_nonzero(scratch.tactics, at, TACTICS, scratch.active_tactics, at)


@njit(inline="always")
def _add_tactics(
    net: Net, scratch: Scratch, at: int, count: int, block: int, sums: Array, to: int
) -> None:
    """Add what the `count` listed ones of scratch.tactics[at:] bring to a block of first sums."""
    add_rows_64(
        sums, to, scratch.tactics, at, scratch.active_tactics, at, count,
        net.tactics, block * TACTICS,
    )  # fmt: skip


@njit(inline="always")
def _plan(net: Net, boards: Array, row: int) -> int:
    """The game plan of boards[row], 0 where the net has the same weights for all."""
    return plan_of(boards, row) if net.plan_weights else 0


@njit(inline="always")
def _outputs_into(
    scratch: Scratch, at: int, boards: Array, row: int, values: Array, to: int
) -> None:
    """From the sums of the outputs, which begin in layers[at:], to the five probabilities of
    boards[row], written to values[to:].
    """
    logistic_8(scratch.layers, at)
    for output in range(5):
        values[to + output] = scratch.layers[at + output]
    make_possible(boards, row, values, to)


@njit(inline="always")
def _all_sums(net: Net, scratch: Scratch, boards: Array, row: int, sums: Array) -> None:
    """The first sums of boards[row], from nothing; its tactical features into scratch.tactics."""
    hidden = net.sizes[0]
    _first_sums(net.table, net.weights, hidden, BLOCK, boards[row], sums)
    if len(net.tactics):
        tactics_into(boards, row, scratch.tactics, 0)
        count = _list_tactics(scratch, 0)
        for block in range(0, hidden, BLOCK):
            _add_tactics(net, scratch, 0, count, block, sums, block)


@inner
def set_position(net: Net, scratch: Scratch, boards: Array, row: int) -> None:
    """Make ready for `best_result` of rolls of the position boards[row], uint64[., 8]."""
    for word in range(4):
        scratch.board[word] = boards[row, word]
        scratch.board[4 + word] = boards[row, 4 + word]
        scratch.parent[word] = boards[row, 4 + word]
        scratch.parent[4 + word] = boards[row, word]
    _all_sums(net, scratch, scratch.parent_rows, 0, scratch.sums)
    if len(net.tactics):
        for index in range(TACTICS):
            scratch.parent_tactics[index] = scratch.tactics[index]
    if len(net.pruning_table):
        _first_sums(
            net.pruning_table, net.pruning_weights, PRUNING, PRUNING,
            scratch.parent_bytes, scratch.pruning_sums,
        )  # fmt: skip


@njit(inline="always")
def _clear_beyond(scratch: Scratch, members: int) -> None:
    """Zeros beyond the first sums of the batch: a last group that is not full reads them too."""
    end = members * scratch.stride
    for place in range(end, end + (GROUP - 1) * scratch.stride):
        scratch.layers[place] = np.float32(0)


@njit(inline="always")
def _order_by_plan(net: Net, scratch: Scratch, start: int, stop: int) -> int:
    """List in scratch.order the rows of kept[start:stop] that the net is asked for, game plan by
    game plan; how many. The values of the others are written to scratch.five.
    """
    words, boards, plans = scratch.kept, scratch.kept_bytes, scratch.plans
    waiting = 0  # the plans there are, a bit for each
    for row in range(start, stop):
        plans[row] = NO_PLAN
        if not known_values(net, words, boards, row, scratch.five, OUTPUTS * row):
            plans[row] = _plan(net, boards, row)
            waiting |= 1 << plans[row]
    count, plan = 0, 0
    while waiting >> plan:
        for row in range(start, stop if waiting >> plan & 1 else start):
            if plans[row] == plan:
                scratch.order[count] = row
                count += 1
        plan += 1
    return count


@njit(inline="always")
def _list_changes(scratch: Scratch, row: int, to: int, known: int) -> tuple[int, int]:
    """List in scratch.places[to:] what kept[row] changes of the parent; where the list ends, and
    how many changes of the batch are known then, `known` of them before.
    """
    boards, parent, numbers = scratch.kept_bytes, scratch.parent_bytes, scratch.numbers
    changed = np.uint64(mask_unequal(boards, row * SIZE, parent))
    while changed:
        slot = lowest_bit(changed)
        changed &= changed - np.uint64(1)
        after = slot * COUNTS + boards[row, slot]
        number = numbers[after]
        if number < 0:
            number = known
            numbers[after] = number
            scratch.changes[2 * number] = after
            scratch.changes[2 * number + 1] = slot * COUNTS + parent[slot]
            known += 1
        scratch.places[to] = number * BLOCK
        to += 1
    return to, known


@njit(inline="always")
def _list_batch(net: Net, scratch: Scratch, members: int) -> int:
    """List what each member of the batch changes of the parent's first sums; how many changes of
    checkers there are in all.

    A play changes about a quarter of the tactical features.
    """
    starts, tactics, parent_tactics = scratch.place_starts, scratch.tactics, scratch.parent_tactics
    starts[0] = 0
    known = 0
    for member in range(members):
        row = scratch.order[member]
        starts[member + 1], known = _list_changes(scratch, row, starts[member], known)
        if len(net.tactics):
            at = member * ACTIVE
            tactics_into(scratch.kept_bytes, row, tactics, at)
            for index in range(TACTICS):
                tactics[np.uint64(at) + np.uint64(index)] -= parent_tactics[index]
            scratch.tactic_counts[member] = _list_tactics(scratch, at)
    for number in range(known):
        scratch.numbers[scratch.changes[2 * number]] = -1
    return known


@njit(inline="always")
def _difference_rows(net: Net, scratch: Scratch, known: int, block: int) -> None:
    """What each change of the batch adds to a block of first sums, into scratch.differences."""
    table, differences, changes = net.table, scratch.differences, scratch.changes
    for number in range(known):
        after = np.uint64(block * ROWS + changes[2 * number] * BLOCK)
        before = np.uint64(block * ROWS + changes[2 * number + 1] * BLOCK)
        to = np.uint64(number * BLOCK)
        for unit in range(BLOCK):
            lane = np.uint64(unit)
            differences[to + lane] = table[after + lane] - table[before + lane]


@njit(inline="always")
def _add_batch(net: Net, scratch: Scratch, members: int, known: int) -> None:
    """The first sums of the members of the batch, into layers, from those of the parent."""
    layers, starts, stride = scratch.layers, scratch.place_starts, scratch.stride
    for block in range(0, net.sizes[0], BLOCK):
        _difference_rows(net, scratch, known, block)
        for member in range(members):
            to = member * stride + block
            add_listed_64(
                layers, to, scratch.sums, block, scratch.differences,
                scratch.places, starts[member], starts[member + 1] - starts[member],
            )  # fmt: skip
            if len(net.tactics):
                _add_tactics(
                    net, scratch, member * ACTIVE, scratch.tactic_counts[member], block, layers, to
                )


@njit(inline="always")
def _evaluate_batch(net: Net, scratch: Scratch, start: int, stop: int) -> None:
    """`evaluate_kept` of kept[start:stop], no more than BATCH."""
    order, plans = scratch.order, scratch.plans
    members = _order_by_plan(net, scratch, start, stop)
    known = _list_batch(net, scratch, members)
    _add_batch(net, scratch, members, known)
    _clear_beyond(scratch, members)
    first = 0
    while first < members:
        plan = plans[order[first]]
        at = _later_layers(net, scratch, first, plan)
        end = min(first + GROUP, members)
        while first < end and plans[order[first]] == plan:
            row = order[first]
            _outputs_into(scratch, at, scratch.kept_bytes, row, scratch.five, OUTPUTS * row)
            at += scratch.stride
            first += 1


@inner
def evaluate_kept(net: Net, scratch: Scratch, stop: int) -> None:
    """The five probabilities of kept[:stop] for the next player, after `set_position`.

    Those of kept[row] are written to scratch.five[OUTPUTS * row:].
    """
    scratch.evaluated[0] += stop
    for start in range(0, stop, BATCH):
        _evaluate_batch(net, scratch, start, min(start + BATCH, stop))


@inner
def evaluate_into(net: Net, scratch: Scratch, words: Array, boards: Array, row: int,
                  values: Array) -> None:  # fmt: skip
    """Five probabilities of the packed board words[row], into float32[5].

    words: uint64[., 8]; boards: the same memory as int8[., 64].
    """
    if not known_values(net, words, boards, row, values, 0):
        _all_sums(net, scratch, boards, row, scratch.layers)
        at = _later_layers(net, scratch, 0, _plan(net, boards, row))
        _outputs_into(scratch, at, boards, row, values, 0)


@kernel
def evaluate_boards(net: Net, words: Array, values: Array) -> None:
    """Five probabilities of each packed board uint64[N, 8], into values float32[N, 5]."""
    scratch = make_scratch(net.sizes)
    boards = words.view(np.int8)
    for row in range(len(words)):
        evaluate_into(net, scratch, words, boards, row, values[row])
