"""A net's forward pass over packed boards, incremental along the plays of a position.

The sums of the first layer come from `engine.kernels.first_layer`. After a ReLU most of a layer is
zero, and much the same units in each result: the later layers take a group of results of one game
plan at a time, and skip what is zero in all of them.

Outputs are the logits of the five probabilities and three unused ones.
"""

from typing import Any

import numpy as np
from numba import njit

from engine.kernels import inner, kernel
from engine.kernels.first_layer import all_sums, batch_sums
from engine.kernels.movegen import SIZE
from engine.kernels.net import (
    BATCH,
    COUNTS,
    GROUP,
    OUTPUTS,
    PRUNING,
    Net,
    Scratch,
    copy_into,
    make_scratch,
)
from engine.kernels.outcomes import known_values, make_possible
from engine.kernels.plans import plan_of
from engine.kernels.rows import WIDE, add_abreast_8, add_abreast_wide, rectify_abreast
from engine.kernels.short_rows import rectify_sums
from engine.kernels.vector import logistic_8

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
    hidden = net.sizes[0]
    start = plan * net.plan_weights
    below, above = 0, GROUP * stride
    active = rectify_sums(
        scratch.firsts, first * hidden, hidden, hidden, layers, stride, scratch.active
    )
    for layer in range(len(net.sizes) - 1):
        n_in, n_out = net.sizes[layer], net.sizes[layer + 1]
        if layer:
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
def _pruning_sums(net: Net, board: Array, sums: Array) -> None:
    """The pruning net's first sums, float32[PRUNING], of a flat packed board, from nothing."""
    for unit in range(PRUNING):
        sums[unit] = net.pruning_weights[unit]
    for slot in range(SIZE):
        if board[slot] > 0:
            row = np.uint64((slot * COUNTS + board[slot]) * PRUNING)
            for unit in range(PRUNING):
                sums[unit] += net.pruning_table[row + np.uint64(unit)]


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


@inner
def set_position(net: Net, scratch: Scratch, boards: Array, row: int) -> None:
    """Make ready for `best_result` of rolls of the position boards[row], uint64[., 8]."""
    for word in range(4):
        scratch.board[word] = boards[row, word]
        scratch.board[4 + word] = boards[row, 4 + word]
        scratch.parent[word] = boards[row, 4 + word]
        scratch.parent[4 + word] = boards[row, word]
    all_sums(net, scratch, scratch.parent_rows, 0, scratch.sums)
    copy_into(scratch.parent_tactics, scratch.tactics)
    if len(net.pruning_table):
        _pruning_sums(net, scratch.parent_bytes, scratch.pruning_sums)


@njit(inline="always")
def _clear_beyond(net: Net, scratch: Scratch, members: int) -> None:
    """Zeros beyond the first sums of the batch: a last group that is not full reads them too."""
    end = np.uint64(members * net.sizes[0])
    for place in range((GROUP - 1) * net.sizes[0]):
        scratch.firsts[end + np.uint64(place)] = 0


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
def _evaluate_batch(net: Net, scratch: Scratch, start: int, stop: int) -> None:
    """`evaluate_kept` of kept[start:stop], no more than BATCH."""
    order, plans = scratch.order, scratch.plans
    members = _order_by_plan(net, scratch, start, stop)
    batch_sums(net, scratch, members)
    _clear_beyond(net, scratch, members)
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
        all_sums(net, scratch, boards, row, scratch.firsts)
        _clear_beyond(net, scratch, 1)
        at = _later_layers(net, scratch, 0, _plan(net, boards, row))
        _outputs_into(scratch, at, boards, row, values, 0)


@kernel
def evaluate_boards(net: Net, words: Array, values: Array) -> None:
    """Five probabilities of each packed board uint64[N, 8], into values float32[N, 5]."""
    scratch = make_scratch(net.sizes)
    boards = words.view(np.int8)
    for row in range(len(words)):
        evaluate_into(net, scratch, words, boards, row, values[row])
