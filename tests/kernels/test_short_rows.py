"""Sums of rows of 16-bit numbers against numpy, at any place in an array, aligned or not."""

import numpy as np
import pytest
from numba import njit

from engine.kernels import short_rows
from engine.kernels.rows import ABREAST
from engine.kernels.short_rows import BLOCK, PRODUCT_BITS
from engine.kernels.tactics import TACTICS

EXTREMES = [-32768, -32767, -1, 1, 0, 32767]


def shorts(count: int, seed: int = 1) -> np.ndarray:
    """Any 16-bit numbers, the first of them extreme."""
    drawn = np.random.default_rng(seed).integers(-(2**15), 2**15, count).astype(np.int16)
    drawn[: len(EXTREMES)] = EXTREMES
    return drawn


def products(row: np.ndarray, value: int) -> np.ndarray:
    return (row.astype(np.int64) * int(value) // 2**PRODUCT_BITS).astype(np.int16)


@njit
def add_listed(out, at, sums, first, rows, start, places, begin, count):
    short_rows.add_listed(out, at, sums, first, rows, start, places, begin, count)


def test_listed_rows_are_added_and_wrap_around():
    sums, rows = shorts(BLOCK + 6, 2), shorts(1000, 3)
    places = np.array([5, 1, 500, 77, 3, 850])
    for count in (0, 1, 5):
        out = shorts(BLOCK + 4)
        expected = out.copy()

        add_listed(out, 2, sums, 6, rows, 10, places, 1, count)

        listed = rows[10 + places[1 : 1 + count, None] + np.arange(BLOCK)]
        expected[2 : 2 + BLOCK] = sums[6:] + listed.sum(axis=0, dtype=np.int16)
        np.testing.assert_array_equal(out, expected)


@njit
def subtract_rows(out, at, rows, after, before):
    short_rows.subtract_rows(out, at, rows, after, before)


def test_a_row_is_subtracted():
    out, rows = shorts(BLOCK + 4), shorts(300, 2)
    expected = out.copy()

    subtract_rows(out, 3, rows, 7, 101)

    expected[3 : 3 + BLOCK] = rows[7 : 7 + BLOCK] - rows[101 : 101 + BLOCK]
    np.testing.assert_array_equal(out, expected)


@njit
def subtract_products(out, at, rows, place, after, before):
    short_rows.subtract_products(out, at, rows, place, after, before)


@pytest.mark.parametrize("after", EXTREMES)
@pytest.mark.parametrize("before", [-30_000, 0, 12_345])
def test_a_product_is_subtracted_from_another(after, before):
    out, rows = shorts(BLOCK + 4), shorts(BLOCK + 9, 2)
    expected = out.copy()

    subtract_products(out, 3, rows, 5, after, before)

    row = rows[5 : 5 + BLOCK]
    expected[3 : 3 + BLOCK] = products(row, after) - products(row, before)
    np.testing.assert_array_equal(out, expected)


@njit
def add_products(sums, at, rows, place, values):
    short_rows.add_products(sums, at, rows, place, values)


def test_products_are_added():
    sums, rows, values = shorts(BLOCK + 4), shorts(9 + TACTICS * BLOCK, 2), shorts(TACTICS, 3)
    expected = sums.copy()

    add_products(sums, 3, rows, 9, values)

    for value, row in zip(values, rows[9:].reshape(TACTICS, BLOCK), strict=True):
        expected[3 : 3 + BLOCK] += products(row, value)
    np.testing.assert_array_equal(sums, expected)


@pytest.mark.parametrize("count", [16, 64, 80])
@pytest.mark.parametrize("start", [0, 3])
def test_positive_ones_become_floats_and_are_listed(start, count):
    first_stride, stride = count + 6, count + 9
    sums = shorts(start + ABREAST * first_stride + 16)
    sums[np.random.default_rng(2).random(len(sums)) < 0.6] = -7
    sums[start + np.arange(ABREAST) * first_stride + 5] = EXTREMES[:ABREAST]
    sums[start + 6] = 32767
    sums[start + np.arange(ABREAST) * first_stride + 9] = [0, -1, 0, -32768, 0]
    before = sums.copy()
    out = np.full(ABREAST * stride, -1, np.float32)
    indices = np.empty(count + 8, np.int32)

    found = short_rows.rectify_sums(sums, start, first_stride, count, out, stride, indices)

    members = np.arange(ABREAST)[:, None]
    expected = np.maximum(sums[start + members * first_stride + np.arange(count)], 0)
    places = members * stride + np.arange(count)
    np.testing.assert_array_equal(out[places], expected)
    assert (np.delete(out, places) == -1).all()
    np.testing.assert_array_equal(indices[:found], np.flatnonzero(expected.any(axis=0)))
    assert 0 < found < count
    np.testing.assert_array_equal(sums, before)
