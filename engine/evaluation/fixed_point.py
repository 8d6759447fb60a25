"""The first layer of a net in whole numbers of 16 bits, at a scale of each unit's own.

The scale is the largest at which the sums of no legal position overflow, so a sum is as fine as
about a thirty-thousandth of the largest that its unit can reach.
"""

from typing import Any, NamedTuple

import numpy as np

from engine.kernels.short_rows import PRODUCT_BITS
from engine.kernels.tactics import CONTACT, MOST, WHOLE

__all__ = ["FixedPoint", "fixed_point"]

Array = np.ndarray[Any, Any]

CHECKERS = 15
LARGEST = 32_700  # of a sum before its parts are rounded, which moves it by less than 67
AT_WORK = 0.92  # of the features of a position with contact are not zero, on the average


class FixedPoint(NamedTuple):
    """A first layer as the kernels add it up."""

    scale: Array
    """float64[H]: how often its numbers hold the real ones."""
    table: Array
    """int16[64, 16, H]."""
    biases: Array
    """int16[H]."""
    tactics: Array
    """int16[TACTICS, H], whose products with the units of the features lose PRODUCT_BITS bits; or
    [0, H]."""


def _most_of_a_side(rows: Array) -> Array:
    """The most that up to fifteen checkers can add, of rows[slot, count, ...]."""
    best = np.full((CHECKERS + 1, *rows.shape[2:]), -np.inf)  # by how many checkers are placed
    best[0] = 0
    for row in rows:
        placed = best + row[0]
        for count in range(1, CHECKERS + 1):
            np.maximum(placed[count:], best[:-count] + row[count], out=placed[count:])
        best = placed
    most: Array = best.max(axis=0)
    return most


def _most(table: Array, bias: Array, tactics: Array, whole: Array) -> Array:
    """What no sum of a legal position is above."""
    mine, theirs = table.reshape(2, -1, *table.shape[1:])
    features: Array = np.maximum(tactics * (MOST / whole), 0).sum(axis=0)
    return bias + _most_of_a_side(mine) + _most_of_a_side(theirs) + features


def fixed_point(table: Array, bias: Array, tactics: Array) -> FixedPoint:
    """A first layer of floating point in fixed point.

    table: float32[64, 16, H]; bias: float32[H]; tactics: float32[TACTICS, H] or [0, H].
    """
    whole = WHOLE[: len(tactics), None].astype(np.float64)
    tactics = tactics * (np.arange(len(tactics)) <= CONTACT)[:, None]  # the others are always zero
    products = tactics * (2**PRODUCT_BITS / whole)
    largest = np.maximum(_most(table, bias, tactics, whole), _most(-table, -bias, -tactics, whole))
    largest = np.maximum(largest, np.abs(products).max(axis=0, initial=0))
    scale = LARGEST / np.where(largest > 0, largest, LARGEST)
    products *= scale
    if len(tactics):
        rounded_down = AT_WORK / 2 * np.count_nonzero(products, axis=0)
        products[CONTACT] += rounded_down * 2**PRODUCT_BITS / whole[CONTACT]
    return FixedPoint(
        scale,
        np.rint(table * scale).astype(np.int16),
        np.rint(bias * scale).astype(np.int16),
        np.rint(products).astype(np.int16),
    )
