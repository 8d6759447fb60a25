"""A net's forward pass over packed boards, and the play it likes best, in one pass.

The first layer needs no matrix product: every (slot, count) of a packed board selects one row of
`table`, and the hidden sum of a position is the sum of its rows. A play changes a few slots, so
the sum of a result is the sum of its parent plus a few differences of rows (the idea behind NNUE,
Nasu 2018). After a ReLU most of a layer is zero, and the next layer skips the zeros, four inputs
at a time so that the sums are loaded and stored a quarter as often.

Outputs are the logits of the five probabilities and three unused ones.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from engine.kernels.bits import lowest_bit
from engine.kernels.movegen import MAX_RESULTS, results_into
from engine.kernels.vector import CHAINS, add_rows_8, add_rows_32, add_rows_64, list_positive

__all__ = [
    "OUTPUTS",
    "Net",
    "Scratch",
    "backup_rolls",
    "best_result",
    "choose_results",
    "evaluate_boards",
    "evaluate_into",
    "make_scratch",
    "set_position",
]

Array = np.ndarray[Any, Any]

SIZE = 64
OTHER = 32
OUTPUTS = 8


class Net(NamedTuple):
    """The weights of a net as the kernels want them; `engine.evaluation.network` makes them."""

    table: Array
    """float32[64, 16, H]: the row of each (slot, count); a slot is a byte of the packed board."""
    sizes: Array
    """int64[L + 1]: H and the inputs of each later layer, multiples of 8; then 8, the outputs."""
    weights: Array
    """float32[.]: the bias[H] of the first layer; then, for each later layer, its
    weight[inputs, outputs] row by row and its bias[outputs]."""


class Scratch(NamedTuple):
    """The working memory of one thread."""

    layers: Array
    """float32[L + 1, .]: the sums of each layer; the last row holds the outputs."""
    output_bits: Array
    """The first eight outputs as int32."""
    active: Array
    """int32[.]: indices of a layer's positive sums."""
    sums: Array
    """float32[H]: the first sums of `parent`."""
    results: Array
    """uint64[., 8]: the results of a roll."""
    stack: Array
    """uint32[4, 4], for the move generator."""
    board: Array
    """uint64[8]: the position whose plays are weighed."""
    parent: Array
    """uint64[8]: the same with sides switched, so it differs from a result by one play only."""


@njit(fastmath=True)
def _logistic(values: Array, bits: Array) -> None:
    """1 / (1 + exp(-x)) in place on float32[8], to 2e-7; bits is the same memory as int32[8].

    exp(-x) = 2^n 2^f with |f| <= 1/2; 2^f by its Taylor series, 2^n by setting the exponent.
    Written so that all eight run in one vector: a third of the time of calling exp five times.
    """
    for index in range(OUTPUTS):
        scaled = min(max(values[index] * np.float32(-1.4426950408889634), np.float32(-126)),
                     np.float32(126))  # fmt: skip
        whole = np.floor(scaled + np.float32(0.5))
        f = (scaled - whole) * np.float32(0.6931471805599453)
        power = np.float32(1 / 720)
        power = power * f + np.float32(1 / 120)
        power = power * f + np.float32(1 / 24)
        power = power * f + np.float32(1 / 6)
        power = power * f + np.float32(1 / 2)
        power = power * f + np.float32(1)
        power = power * f + np.float32(1)
        bits[index] = (np.int32(whole) + np.int32(127)) << np.int32(23)
        values[index] = np.float32(1) / (np.float32(1) + power * values[index])


@njit
def _layer(
    inputs: Array, n_in: int, active: Array, weights: Array, start: int, outputs: Array, n_out: int
) -> int:
    """outputs = bias + relu(inputs) @ weight, the weights read from `start` on; the next start.

    inputs has room for one more than n_in, which is set to zero: it pads the list of the active.
    """
    bias = start + n_in * n_out
    inputs[n_in] = 0
    count = list_positive(inputs, n_in, active)
    while count % CHAINS:
        active[count] = n_in
        count += 1
    for out in range(n_out):
        outputs[out] = weights[bias + out]
    column = 0
    while column + 64 <= n_out:
        add_rows_64(outputs, column, inputs, active, count, weights, start, n_out)
        column += 64
    while column + 32 <= n_out:
        add_rows_32(outputs, column, inputs, active, count, weights, start, n_out)
        column += 32
    while column < n_out:
        add_rows_8(outputs, column, inputs, active, count, weights, start, n_out)
        column += 8
    return bias + n_out


@njit(fastmath=True)
def _first_layer(table: Array, weights: Array, board: Array, sums: Array) -> None:
    """The sums float32[H] of a flat packed board from nothing."""
    hidden = len(sums)
    for unit in range(hidden):
        sums[unit] = weights[unit]
    for slot in range(SIZE):
        if board[slot]:
            row = table[slot, board[slot]]
            for unit in range(hidden):
                sums[unit] += row[unit]


@njit(fastmath=True)
def _changed_sums(
    table: Array, parent: Array, sums: Array, words: Array, child: Array, out: Array
) -> None:
    """The sums of a child board (uint64[8]) from the sums of its parent (uint64[8], as `words`).

    parent: int8[64], the same memory as words. Differing bytes are found by exclusive or.
    """
    hidden = len(sums)
    for unit in range(hidden):
        out[unit] = sums[unit]
    for word in range(8):
        difference = words[word] ^ child[word]
        for half in range(2):
            part = np.uint32((difference >> np.uint64(32 * half)) & np.uint64(0xFFFFFFFF))
            while part:
                byte = np.int64(lowest_bit(part)) >> 3
                part &= ~(np.uint32(0xFF) << np.uint32(8 * byte))
                slot = word * 8 + half * 4 + byte
                now = np.int64((child[word] >> np.uint64(8 * (half * 4 + byte))) & np.uint64(15))
                before = table[slot, parent[slot]]
                after = table[slot, now]
                for unit in range(hidden):
                    out[unit] += after[unit] - before[unit]


@njit
def _head(net: Net, scratch: Scratch) -> None:
    """From the first sums in layers[0] to the five probabilities in layers[-1, :8]."""
    start = net.sizes[0]
    depth = len(net.sizes) - 1
    for layer in range(depth):
        start = _layer(
            scratch.layers[layer], net.sizes[layer], scratch.active, net.weights, start,
            scratch.layers[layer + 1], net.sizes[layer + 1],
        )  # fmt: skip
    _logistic(scratch.layers[depth, :OUTPUTS], scratch.output_bits)


@njit
def _make_possible(board: Array, values: Array) -> None:
    """Force five probabilities of a flat packed board to be possible and cumulative.

    A side that has borne a checker off cannot lose a gammon; a part is not above its whole.
    """
    values[1] = 0 if board[OTHER] > 0 else min(values[1], values[0])
    values[2] = min(values[2], values[1])
    values[3] = 0 if board[0] > 0 else min(values[3], 1 - values[0])
    values[4] = min(values[4], values[3])


@njit
def _empty(words: Array, row: int) -> bool:
    """Whether a row (0 or 1) of a packed board, as uint64[8], has no checker left to bear off."""
    first = row * 4
    off = np.uint64(0xFF)  # byte 0 of a row counts the checkers borne off
    return (words[first] & ~off) | words[first + 1] | words[first + 2] | words[first + 3] == 0


@njit
def _finished(board: Array, words: Array, values: Array) -> bool:
    """Whether the game is over, and then its exact five values; either side may have won."""
    lost = _empty(words, 1)
    if not lost and not _empty(words, 0):
        return False
    loser = 0 if lost else OTHER
    gammon = board[loser] == 0
    behind = 0
    for column in range(19, 26):
        behind |= board[loser + column]
    backgammon = gammon and behind != 0
    values[0] = not lost
    values[1] = not lost and gammon
    values[2] = not lost and backgammon
    values[3] = lost and gammon
    values[4] = lost and backgammon
    return True


@njit
def _equity(values: Array) -> float:
    return 2 * values[0] + values[1] + values[2] - values[3] - values[4] - 1


@njit
def make_scratch(sizes: Array) -> Scratch:
    """The working memory of one thread for a net of these sizes."""
    layers = np.zeros((len(sizes), sizes.max() + 8), np.float32)
    return Scratch(
        layers,
        layers[len(sizes) - 1, :OUTPUTS].view(np.int32),
        np.empty(layers.shape[1] + 8, np.int32),
        np.empty(sizes[0], np.float32),
        np.empty((MAX_RESULTS, 8), np.uint64),
        np.empty((4, 4), np.uint32),
        np.empty(8, np.uint64),
        np.empty(8, np.uint64),
    )


@njit
def set_position(net: Net, scratch: Scratch, board: Array) -> None:
    """Make ready for `best_result` of rolls of this position (uint64[8])."""
    for word in range(4):
        scratch.board[word] = board[word]
        scratch.board[4 + word] = board[4 + word]
        scratch.parent[word] = board[4 + word]
        scratch.parent[4 + word] = board[word]
    _first_layer(net.table, net.weights, scratch.parent.view(np.int8), scratch.sums)


@njit
def best_result(net: Net, scratch: Scratch, high: int, low: int, values: Array) -> int:
    """The row of scratch.results that the mover likes best, after `set_position`.

    values: float32[5], written with that result's probabilities for the next player.
    """
    count = results_into(
        scratch.board.view(np.int8), scratch.board, high, low, scratch.results, 0, scratch.stack
    )
    layers = scratch.layers
    outputs = layers[len(net.sizes) - 1]
    children = scratch.results.view(np.int8)
    parent = scratch.parent.view(np.int8)
    chosen = 0
    lowest = np.float32(4)
    for row in range(count):
        if not _finished(children[row], scratch.results[row], outputs):
            _changed_sums(
                net.table, parent, scratch.sums, scratch.parent, scratch.results[row],
                layers[0, : net.sizes[0]],
            )  # fmt: skip
            _head(net, scratch)
            _make_possible(children[row], outputs)
        equity = _equity(outputs)
        if equity < lowest:
            lowest = equity
            chosen = row
            for index in range(5):
                values[index] = outputs[index]
    return chosen


@njit
def evaluate_into(net: Net, scratch: Scratch, words: Array, values: Array) -> None:
    """Five probabilities of one packed board (uint64[8]), into float32[5]."""
    board = words.view(np.int8)
    outputs = scratch.layers[len(net.sizes) - 1]
    if not _finished(board, words, outputs):
        _first_layer(net.table, net.weights, board, scratch.layers[0, : net.sizes[0]])
        _head(net, scratch)
        _make_possible(board, outputs)
    for column in range(5):
        values[column] = outputs[column]


@njit(cache=True, nogil=True)
def evaluate_boards(net: Net, boards: Array, values: Array) -> None:
    """Five probabilities of each packed board uint64[N, 8], into values float32[N, 5]."""
    scratch = make_scratch(net.sizes)
    for index in range(len(boards)):
        evaluate_into(net, scratch, boards[index], values[index])


@njit(cache=True, nogil=True)
def choose_results(
    net: Net, boards: Array, dice: Array, chosen: Array, values: Array
) -> None:
    """The best result of each position and roll.

    boards: uint64[N, 8] packed; dice: int8[N, 2]. Written: chosen uint64[N, 8], the results as
    the next player sees them; values: float32[N, 5], their five probabilities for that player.
    """
    scratch = make_scratch(net.sizes)
    for index in range(len(boards)):
        set_position(net, scratch, boards[index])
        high, low = max(dice[index, 0], dice[index, 1]), min(dice[index, 0], dice[index, 1])
        row = best_result(net, scratch, high, low, values[index])
        chosen[index] = scratch.results[row]


@njit(cache=True, nogil=True)
def backup_rolls(net: Net, boards: Array, values: Array) -> None:
    """The exact one-ply backup: the mean over the 21 rolls of the best result's value.

    boards: uint64[N, 8] packed, none finished. values: float32[N, 5], for the player on roll.
    """
    scratch = make_scratch(net.sizes)
    best = np.empty(5, np.float32)
    for index in range(len(boards)):
        set_position(net, scratch, boards[index])
        totals = values[index]
        totals[:] = 0
        for high in range(1, 7):
            for low in range(1, high + 1):
                best_result(net, scratch, high, low, best)
                weight = np.float32((1 if high == low else 2) / 36)
                totals[0] += weight * (1 - best[0])
                totals[1] += weight * best[3]
                totals[2] += weight * best[4]
                totals[3] += weight * best[1]
                totals[4] += weight * best[2]
        for column in range(5):
            totals[column] = min(max(totals[column], np.float32(0)), np.float32(1))
