"""What the kernels pass around: the weights of a net, and the working memory of a thread."""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from engine.kernels.bearoff import Bearoff
from engine.kernels.movegen import MAX_RESULTS, ROLLS, SIZE
from engine.kernels.rows import ABREAST
from engine.kernels.short_rows import BLOCK
from engine.kernels.tactics import TACTICS

__all__ = [
    "BATCH",
    "CHANGE_BITS",
    "COUNTS",
    "GROUP",
    "KEPT",
    "OUTPUTS",
    "PRUNING",
    "ROWS",
    "Net",
    "Scratch",
    "copy_into",
    "make_scratch",
]

Array = np.ndarray[Any, Any]

OUTPUTS = 8
COUNTS = 16  # rows of the table a slot has
ROWS = SIZE * COUNTS  # of the table
PRUNING = 32  # units of the net that says which results are worth evaluating
GROUP = ABREAST  # results whose later layers are worked out together
BATCH = 128  # results whose first sums are
KEPT = GROUP  # so many of a roll are worth evaluating at the most
CHANGE_BITS = 10  # of the hash by which a change is looked up


class Net(NamedTuple):
    """The weights of a net as the kernels want them; `engine.evaluation.network` makes them."""

    table: Array
    """int16[H / BLOCK, 64 * 16, BLOCK], flat: what each (slot, count) adds to the sums of the first
    layer, in fixed point, block by block; a slot is a byte of a packed board."""
    biases: Array
    """int16[H]: what those sums begin with."""
    tactics: Array
    """int16[H / BLOCK, TACTICS, BLOCK], flat: the weights of the features of
    `engine.kernels.tactics`, or empty; what a feature adds is a product, less PRODUCT_BITS bits."""
    sizes: Array
    """int64[L + 1]: H, a multiple of BLOCK; the inputs of each later layer, multiples of 8; then 8,
    the outputs."""
    weights: Array
    """float32[.]: for each plan and each later layer its weight[inputs, outputs] row by row and its
    bias[outputs]."""
    plan_weights: int
    """How many of these each plan has, or 0 when all plans share them."""
    pruning_table: Array
    """float32[64 * 16 * PRUNING]: the same for the net of `engine.kernels.pruning`; empty when
    every result is to be evaluated."""
    pruning_weights: Array
    """float32[6 * PRUNING]: the bias of that net's units, and what each of its five outputs makes
    of them."""
    bearoff: Bearoff
    """What the net need not guess."""


class Scratch(NamedTuple):
    """The working memory of one thread."""

    firsts: Array
    """int16[(BATCH + GROUP - 1) * H]: the first sums of a batch of boards."""
    layers: Array
    """float32[(1 + L) * GROUP * stride]: those of a group after ReLU; then the sums of each later
    layer, the outputs last."""
    stride: int
    """Where in layers the next board's begin."""
    active: Array
    """int32[.]: indices of the sums of a layer that are positive in one of a group."""
    changes: Array
    """int64[.]: the changes of a batch, each with the (slot, count) or the feature and its units
    that it leads to."""
    numbers: Array
    """int64[2 ** CHANGE_BITS]: by a hash, the number of a change in `changes`."""
    differences: Array
    """int16[.]: what each change adds to a block of first sums."""
    places: Array
    """int64[.]: where in it those of each of the batch begin."""
    place_starts: Array
    """int64[BATCH + 1]: where in `places` the list of each of the batch begins."""
    sums: Array
    """int16[H]: the first sums of `parent`."""
    tactics: Array
    """int16[TACTICS]: the tactical features of a result."""
    order: Array
    """int64[BATCH]: the rows of `kept` that are evaluated together."""
    parent_tactics: Array
    """int16[TACTICS]: those of `parent`."""
    results: Array
    """uint64[., 8]: the results of a roll."""
    children: Array
    """The same memory as int8[., 64]."""
    stack: Array
    """uint32[4, 4], for the move generator."""
    board: Array
    """uint64[8]: the position whose plays are weighed."""
    board_bytes: Array
    """The same memory as int8[64]."""
    parent: Array
    """uint64[8]: the same with sides switched, so it differs from a result by one play only."""
    parent_bytes: Array
    """The same memory as int8[64]."""
    parent_rows: Array
    """The same memory as int8[1, 64]."""
    evaluated: Array
    """int64[1]: how many results were evaluated."""
    pruning_sums: Array
    """float32[PRUNING]: the pruning net's first sums of `parent`."""
    pruning_layer: Array
    """float32[PRUNING]: those of a result."""
    pruning_worth: Array
    """float32[PRUNING]: what each unit counts for at the stakes in question."""
    pruning_changes: Array
    """int64[2 * SIZE]: where in `pruning_table` the rows begin that a result adds and takes away,
    by turns."""
    promising: Array
    """int64[KEPT]: the rows of `results` that it puts first."""
    scores: Array
    """float32[KEPT]: what it makes of them."""
    kept: Array
    """uint64[ROLLS * MAX_RESULTS, 8]: results that are worth evaluating, of one or more rolls."""
    kept_bytes: Array
    """The same memory as int8[., 64]."""
    five: Array
    """float32[ROLLS * MAX_RESULTS * OUTPUTS]: their five probabilities for the next player."""
    plans: Array
    """int64[ROLLS * MAX_RESULTS]: their game plans."""
    starts: Array
    """int64[ROLLS + 1]: where those of each roll begin, when they are of all."""


@njit(inline="always")
def copy_into(target: Array, source: Array) -> None:
    """target[:] = source, of flat arrays that do not overlap: numba would make a third for it."""
    for index in range(len(source)):
        target[index] = source[index]


@njit
def make_scratch(sizes: Array) -> Scratch:
    """The working memory of one thread for a net of these sizes."""
    stride = (sizes.max() + 8 + 15) // 16 * 16  # whole cache lines
    changes = BATCH * (SIZE + TACTICS)
    results = np.empty((MAX_RESULTS, 8), np.uint64)
    board = np.empty(8, np.uint64)
    parent = np.empty(8, np.uint64)
    kept = np.empty((ROLLS * MAX_RESULTS, 8), np.uint64)
    return Scratch(
        np.zeros((BATCH + GROUP - 1) * sizes[0], np.int16),
        np.empty(len(sizes) * GROUP * stride, np.float32),
        stride,
        np.empty(stride, np.int32),
        np.empty(changes, np.int64),
        np.zeros(1 << CHANGE_BITS, np.int64),
        np.empty(changes * BLOCK, np.int16),
        np.empty(changes, np.int64),
        np.empty(BATCH + 1, np.int64),
        np.empty(sizes[0], np.int16),
        np.empty(TACTICS, np.int16),
        np.empty(BATCH, np.int64),
        np.zeros(TACTICS, np.int16),
        results,
        results.view(np.int8),
        np.empty((4, 4), np.uint32),
        board,
        board.view(np.int8),
        parent,
        parent.view(np.int8),
        parent.view(np.int8).reshape(1, 64),
        np.zeros(1, np.int64),
        np.empty(PRUNING, np.float32),
        np.empty(PRUNING, np.float32),
        np.empty(PRUNING, np.float32),
        np.empty(2 * SIZE, np.int64),
        np.empty(KEPT, np.int64),
        np.empty(KEPT, np.float32),
        kept,
        kept.view(np.int8),
        np.empty(len(kept) * OUTPUTS, np.float32),
        np.empty(len(kept), np.int64),
        np.empty(ROLLS + 1, np.int64),
    )
