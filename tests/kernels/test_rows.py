"""Sums of rows of weights against numpy, at any place in an array, aligned or not."""

import numpy as np
import pytest
from numba import njit

from engine.kernels import rows


def floats(count: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=count).astype(np.float32)


@pytest.mark.parametrize("start", [0, 3])
@pytest.mark.parametrize("count", [8, 16, 40])
def test_negative_ones_become_zero_and_the_others_are_listed(start, count):
    stride = count + 6
    values = floats(start + rows.ABREAST * stride) - 1
    values[start + 5] = -0.0
    before = values.copy()
    indices = np.empty(count + 8, np.int32)

    found = rows.rectify_abreast(values, start, stride, count, indices)

    places = start + np.arange(rows.ABREAST)[:, None] * stride + np.arange(count)
    expected = np.maximum(before[places], 0)
    np.testing.assert_array_equal(values[places], expected)
    np.testing.assert_array_equal(indices[:found], np.flatnonzero((expected > 0).any(axis=0)))
    assert 0 < found < count
    untouched = np.setdiff1d(np.arange(len(values)), places)
    np.testing.assert_array_equal(values[untouched], before[untouched])


def abreast_adder(intrinsic):
    """The intrinsic as something that can be called from here."""

    @njit
    def call(sums, at, bias, scales, start, stride, indices, count, weights, row, columns):
        intrinsic(sums, at, bias, scales, start, stride, indices, count, weights, row, columns)

    return call


@pytest.mark.parametrize(
    ("width", "intrinsic"),
    [(8, rows.add_abreast_8), (rows.WIDE, rows.add_abreast_wide)],
)
def test_rows_are_scaled_and_added_abreast(width, intrinsic):
    add_abreast = abreast_adder(intrinsic)
    stride = 43
    scales, weights = floats(5 * stride, 2), floats(60 + 20 * 70, 3)
    for count in (0, 1, 7):
        sums = floats(5 * stride)
        expected = sums.copy()
        indices = np.array([3, 4, 5, 11, 2, 8, 1, 0, 19], np.int32)

        add_abreast(sums, 3, 5, scales, 2, stride, indices, count, weights, 50, 70)

        chosen = indices[:count]
        added = weights[50 + 70 * chosen[:, None] + np.arange(width)]
        for member in range(rows.ABREAST):
            scaled = scales[2 + member * stride + chosen] @ added
            at = 3 + member * stride
            expected[at : at + width] = weights[5 : 5 + width] + scaled
        np.testing.assert_allclose(sums, expected, rtol=1e-5, atol=1e-5)


@njit
def add_differences(out, sums, table, changes, count):
    rows.add_differences_32(out, sums, table, changes, count)


def test_differences_of_rows_are_added():
    sums, table = floats(32 + 6, 2), floats(1000, 3)
    changes = np.array([[0, 500], [77, 3], [900, 901]])
    for count in (0, 1, 3):
        out = floats(32 + 4)
        expected = out.copy()

        add_differences(out, sums, table, changes.ravel(), count)

        after, before = changes[:count, :, None].transpose(1, 0, 2) + np.arange(32)
        expected[:32] = sums[:32] + (table[after] - table[before]).sum(axis=0)
        np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-5)
