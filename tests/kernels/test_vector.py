"""The vector instructions against numpy, at any place in an array, aligned or not."""

import numpy as np
import pytest
from numba import njit

from engine.kernels import vector
from engine.kernels.bits import highest_bit, lowest_bit


def floats(count: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=count).astype(np.float32)


@njit
def highest_and_lowest(word32, word64):
    return highest_bit(word32), lowest_bit(word64)


def test_highest_and_lowest_bit():
    words = [1, 2, 3, 0x80000000, 0xFFFFFFFF, 0b1011000]
    for word in words:
        high, low = highest_and_lowest(np.uint32(word), np.uint64(word << 20))
        assert high == word.bit_length() - 1
        assert low == 20 + (word & -word).bit_length() - 1


@njit
def unequal(left, at, right):
    return vector.mask_unequal(left, at, right)


def test_the_unequal_bytes_are_marked():
    left = np.random.default_rng(1).integers(-128, 128, (3, 64)).astype(np.int8)
    right = left[1].copy()
    assert unequal(left, 64, right) == 0
    for places in ([0], [63], [5, 31, 32], range(64)):
        other = right.copy()
        other[list(places)] ^= -128  # the sign counts as the other bits do
        assert unequal(left, 64, other) == sum(1 << place for place in places)


@njit
def unequal_shorts(left, at, right):
    return vector.mask_unequal_short(left, at, right)


def test_the_unequal_shorts_are_marked():
    left = np.random.default_rng(1).integers(-(2**15), 2**15, (3, 32)).astype(np.int16)
    right = left[1].copy()
    assert unequal_shorts(left.ravel(), 32, right) == 0
    for places in ([0], [31], [5, 15, 16], range(32)):
        for bit in (1, -(2**15)):
            other = right.copy()
            other[list(places)] ^= bit
            assert unequal_shorts(left.ravel(), 32, other) == sum(1 << place for place in places)


@njit
def positive_dot(left, right):
    return vector.positive_dot_32(left, right)


def test_the_positive_part_of_a_product_of_vectors():
    left, right = floats(32), floats(32, 2)
    assert positive_dot(left, right) == pytest.approx(np.maximum(left, 0) @ right, rel=1e-5)
    assert positive_dot(-abs(left), right) == 0
