"""A net's forward pass over packed boards, incremental along the plays of a position.

The first layer needs no matrix product: every (slot, count) of a packed board selects one row of
`table`, and the hidden sum of a position is the sum of its rows. A play changes a few slots, so
the sum of a result is the sum of its parent plus a few differences of rows (the idea behind NNUE,
Nasu 2018). After a ReLU most of a layer is zero, and the next layer skips the zeros, four inputs
at a time so that the sums are loaded and stored a quarter as often.

Outputs are the logits of the five probabilities and three unused ones.
"""

from typing import Any

import numpy as np
from numba import njit

from engine.kernels import inner, kernel
from engine.kernels.bearoff import bearoff_values
from engine.kernels.bits import lowest_bit
from engine.kernels.movegen import OTHER, SIZE
from engine.kernels.net import (
    COUNTS,
    PRUNING,
    Net,
    Scratch,
    copy_into,
    make_scratch,
)
from engine.kernels.plans import is_race, plan_of
from engine.kernels.tactics import TACTICS, tactics_into
from engine.kernels.vector import (
    CHAINS,
    add_differences_8,
    add_differences_32,
    add_differences_64,
    add_rows_8,
    add_rows_32,
    add_rows_64,
    list_nonzero,
    list_positive,
    logistic_8,
    mask_above,
    mask_unequal,
)

__all__ = [
    "changed_sums",
    "evaluate_boards",
    "evaluate_into",
    "evaluate_result",
    "first_sums",
    "has_won",
    "set_position",
]

Array = np.ndarray[Any, Any]


@njit(inline="always")
def _add_active(
    inputs: Array, at: int, n_in: int, active: Array, count: int, weights: Array, start: int,
    sums: Array, to: int, n_out: int,
) -> None:  # fmt: skip
    """Add inputs[at:][:n_in] @ weight[n_in, n_out], at weights[start:], to sums[to:].

    active: int32[.], the `count` inputs that matter. The place behind the inputs is set to zero:
    it pads the list.
    """
    inputs[at + n_in] = 0
    while count % CHAINS:
        active[count] = n_in
        count += 1
    column = 0
    while column + 64 <= n_out:
        add_rows_64(sums, to + column, inputs, at, active, count, weights, start + column, n_out)
        column += 64
    while column + 32 <= n_out:
        add_rows_32(sums, to + column, inputs, at, active, count, weights, start + column, n_out)
        column += 32
    while column < n_out:
        add_rows_8(sums, to + column, inputs, at, active, count, weights, start + column, n_out)
        column += 8


@njit(inline="always")
def _layer(net: Net, start: int, scratch: Scratch, at: int, n_in: int, to: int, n_out: int) -> int:
    """layers[to:] = bias + relu(layers[at:]) @ weight, from weights[start:]; the next start."""
    layers, weights = scratch.layers, net.weights
    bias = start + n_in * n_out
    for out in range(n_out):
        layers[np.uint64(to) + np.uint64(out)] = weights[np.uint64(bias) + np.uint64(out)]
    active = list_positive(layers, at, n_in, scratch.active)
    _add_active(layers, at, n_in, scratch.active, active, weights, start, layers, to, n_out)
    return bias + n_out


@inner(fastmath=True)
def first_sums(table: Array, biases: Array, hidden: int, board: Array, sums: Array) -> None:
    """The first sums, written to float32[H], of a flat packed board, from nothing."""
    for unit in range(hidden):
        sums[unit] = biases[unit]
    for start in range(0, SIZE, OTHER):
        occupied = np.uint64(mask_above(board, start, 0))
        while occupied:
            slot = start + lowest_bit(occupied)
            occupied &= occupied - np.uint64(1)
            row = np.uint64((slot * COUNTS + board[slot]) * hidden)
            for unit in range(hidden):
                sums[unit] += table[row + np.uint64(unit)]


@njit(inline="always")
def changed_sums(
    table: Array, hidden: int, sums: Array, scratch: Scratch, row: int, out: Array
) -> None:
    """The first sums of results[row], into out, from the sums of the parent."""
    changes = scratch.changes
    count = 0
    changed = np.uint64(mask_unequal(scratch.children, row * SIZE, scratch.parent_bytes))
    while changed:
        slot = lowest_bit(changed)
        changed &= changed - np.uint64(1)
        changes[2 * count] = (slot * COUNTS + scratch.children[row, slot]) * hidden
        changes[2 * count + 1] = (slot * COUNTS + scratch.parent_bytes[slot]) * hidden
        count += 1
    unit = 0
    while unit + 64 <= hidden:
        add_differences_64(out, unit, sums, unit, table, changes, count)
        unit += 64
    while unit + 32 <= hidden:
        add_differences_32(out, unit, sums, unit, table, changes, count)
        unit += 32
    while unit < hidden:
        add_differences_8(out, unit, sums, unit, table, changes, count)
        unit += 8


@njit(inline="always")
def _add_tactics(net: Net, scratch: Scratch, sums: Array) -> None:
    """Add what scratch.tactics bring to first sums."""
    count = list_nonzero(scratch.tactics, 0, TACTICS, scratch.active)
    _add_active(
        scratch.tactics, 0, TACTICS, scratch.active, count, net.tactics, 0, sums, 0, net.sizes[0]
    )


@njit(inline="always")
def _add_changed_tactics(net: Net, scratch: Scratch, row: int) -> None:
    """Add what the tactical features of results[row] bring beyond the parent's to layers.

    A play changes about half of them.
    """
    tactics_into(scratch.children, row, scratch.tactics, 0)
    for index in range(TACTICS):
        scratch.tactics[index] -= scratch.parent_tactics[index]
    _add_tactics(net, scratch, scratch.layers)


@njit(inline="always")
def _head(net: Net, scratch: Scratch, boards: Array, row: int) -> int:
    """From the first sums of boards[row] in layers to its five probabilities; where they begin."""
    start = net.sizes[0]
    if net.plan_weights:
        start += plan_of(boards, row) * net.plan_weights
    at = 0
    for layer in range(len(net.sizes) - 1):
        to = at + scratch.stride
        start = _layer(net, start, scratch, at, net.sizes[layer], to, net.sizes[layer + 1])
        at = to
    logistic_8(scratch.layers, at)
    return at


@njit(inline="always")
def _any_back(boards: Array, row: int, start: int) -> bool:
    """Whether a side has a checker on the bar or in the other's home board."""
    behind = 0
    for column in range(19, 26):
        behind |= boards[row, start + column]
    return behind != 0


@njit(inline="always")
def _make_possible(boards: Array, row: int, values: Array, at: int) -> None:
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
def _known(net: Net, words: Array, boards: Array, row: int, values: Array, at: int) -> bool:
    """Whether the game is over, or a bearoff database has it, and then its five values.

    words: uint64[., 8]; boards: the same memory as int8[., 64].
    """
    if _finished(words, boards, row, values, at):
        return True
    return bearoff_values(net.bearoff, words, boards, row, values, at)


@inner
def set_position(net: Net, scratch: Scratch, boards: Array, row: int) -> None:
    """Make ready for `best_result` of rolls of the position boards[row], uint64[., 8]."""
    for word in range(4):
        scratch.board[word] = boards[row, word]
        scratch.board[4 + word] = boards[row, 4 + word]
        scratch.parent[word] = boards[row, 4 + word]
        scratch.parent[4 + word] = boards[row, word]
    first_sums(net.table, net.weights, net.sizes[0], scratch.parent_bytes, scratch.sums)
    if len(net.tactics):
        tactics_into(scratch.parent_rows, 0, scratch.tactics, 0)
        copy_into(scratch.parent_tactics, scratch.tactics)
        _add_tactics(net, scratch, scratch.sums)
    if len(net.pruning_table):
        first_sums(
            net.pruning_table, net.pruning_weights, PRUNING,
            scratch.parent_bytes, scratch.pruning_sums,
        )  # fmt: skip


@inner
def evaluate_result(net: Net, scratch: Scratch, row: int, at: int) -> None:
    """The five probabilities of results[row] for the next player, into layers[at:]."""
    if not _known(net, scratch.results, scratch.children, row, scratch.layers, at):
        changed_sums(net.table, net.sizes[0], scratch.sums, scratch, row, scratch.layers)
        if len(net.tactics):
            _add_changed_tactics(net, scratch, row)
        _head(net, scratch, scratch.children, row)
        _make_possible(scratch.children, row, scratch.layers, at)


@inner
def evaluate_into(net: Net, scratch: Scratch, words: Array, boards: Array, row: int,
                  values: Array) -> None:  # fmt: skip
    """Five probabilities of the packed board words[row], into float32[5].

    words: uint64[., 8]; boards: the same memory as int8[., 64].
    """
    layers = scratch.layers
    at = (len(net.sizes) - 1) * scratch.stride
    if not _known(net, words, boards, row, layers, at):
        first_sums(net.table, net.weights, net.sizes[0], boards[row], scratch.layers)
        if len(net.tactics):
            tactics_into(boards, row, scratch.tactics, 0)
            _add_tactics(net, scratch, layers)
        _head(net, scratch, boards, row)
        _make_possible(boards, row, layers, at)
    for column in range(5):
        values[column] = layers[at + column]


@kernel
def evaluate_boards(net: Net, words: Array, values: Array) -> None:
    """Five probabilities of each packed board uint64[N, 8], into values float32[N, 5]."""
    scratch = make_scratch(net.sizes)
    boards = words.view(np.int8)
    for row in range(len(words)):
        evaluate_into(net, scratch, words, boards, row, values[row])
