"""No legal position overflows the whole numbers of the first layer, which use all their range."""

import numpy as np
import pytest

from engine.evaluation.encoders import ENCODERS
from engine.evaluation.fixed_point import fixed_point
from engine.kernels.short_rows import PRODUCT_BITS
from engine.kernels.tactics import TACTICS, tactics_of

HIDDEN = 8
NO_TACTICS = np.zeros((0, HIDDEN), np.float32)


def random_table(generator):
    table = generator.normal(size=(64, 16, HIDDEN)).astype(np.float32)
    table[:, 0] = 0
    return table


def real_and_whole_sums(table, bias, first, boards):
    slots = np.arange(64)
    real = table.astype(np.float64)[slots, boards].sum(axis=1) + bias
    return real, first.table.astype(np.int64)[slots, boards].sum(axis=1) + first.biases


def test_sums_are_the_real_ones_at_the_scale_of_each_unit(packed_positions):
    generator = np.random.default_rng(1)
    table, bias = random_table(generator), generator.normal(size=HIDDEN).astype(np.float32)
    table[:, :, 0] *= 1e6
    table[:, :, 1] *= 1e-6
    bias[:2] *= 1e6, 1e-6
    first = fixed_point(table, bias, NO_TACTICS)

    real, whole = real_and_whole_sums(table, bias, first, packed_positions.reshape(-1, 64))

    assert np.abs(whole - real * first.scale).max() < 53 / 2
    assert np.abs(whole).max() < 2**15


@pytest.mark.parametrize("sign", [1, -1])
def test_the_position_that_adds_most_just_fits(sign):
    """Stacks of five on three points of each side add most, by hand."""
    table = np.zeros((64, 16, HIDDEN), np.float32)
    for side in (0, 32):
        table[side + np.array([3, 8, 25])[:, None], np.arange(6)] = sign * np.arange(6)[:, None]
        table[side + 12, 1:] = sign / 2
    bias = np.full(HIDDEN, sign * 10, np.float32)
    board = np.zeros((1, 64), np.int8)
    for side in (0, 32):
        board[0, side + np.array([3, 8, 25])] = 5

    first = fixed_point(table, bias, NO_TACTICS)

    _, whole = real_and_whole_sums(table, bias, first, board)
    assert (sign * whole >= 32_690).all() and (sign * whole < 2**15).all()


@pytest.mark.parametrize("sign", [1, -1])
def test_stacks_where_they_add_most_do_not_overflow(sign):
    table = random_table(np.random.default_rng(2))
    first = fixed_point(table, np.zeros(HIDDEN, np.float32), NO_TACTICS)
    boards = np.zeros((HIDDEN, 64), np.int8)
    for unit, board in enumerate(boards):
        for side in (0, 32):
            gains = sign * table[side : side + 26, 1:, unit]
            left = 15
            for slot, best in sorted(enumerate(gains.max(axis=1)), key=lambda pair: -pair[1]):
                count = min(int(gains[slot].argmax()) + 1, left)
                board[side + slot] = count if best > 0 else 0
                left -= board[side + slot]
    _, whole = real_and_whole_sums(table, np.zeros(HIDDEN), first, boards)
    assert sign * np.diagonal(whole).mean() > 5_000 and np.abs(whole).max() < 2**15


def test_tactical_features_alone_do_not_overflow(packed_positions):
    weight = np.random.default_rng(3).normal(size=(TACTICS, HIDDEN)).astype(np.float32)
    weight[:, 0] = 0
    weight[9, 0] = 1e3  # of the feature of most pips, the only one
    nothing = np.zeros((64, 16, HIDDEN), np.float32)
    first = fixed_point(nothing, np.zeros(HIDDEN, np.float32), weight)
    features = tactics_of(packed_positions.reshape(-1, 64)).astype(np.float64)

    units = np.rint(features * [8000 if k in (9, 22) else 27_000 for k in range(TACTICS)])
    sums = sum(
        units[:, k, None].astype(np.int64) * first.tactics[k].astype(np.int64) // 2**PRODUCT_BITS
        for k in range(TACTICS)
    )

    assert np.abs(sums).max() < 2**15
    assert np.abs(sums - features @ weight * first.scale).max() < TACTICS
    contact = features[:, 26] > 0
    bias = (sums - features @ weight * first.scale)[contact, 1:].mean()
    assert abs(bias) < 2  # what is rounded down is given back on the average


def test_a_layer_of_nothing_has_some_scale():
    feature_set = ENCODERS["tactical"]
    weight = np.zeros((HIDDEN, feature_set.features), np.float32)
    first = fixed_point(
        feature_set.table(weight), np.zeros(HIDDEN, np.float32), feature_set.tactics(weight)
    )
    assert np.isfinite(first.scale).all() and (first.scale > 0).all()
    assert not first.table.any() and not first.tactics.any()
