"""The first layer of a net in whole numbers of 16 bits, at a scale of each unit's own.

The scale is the largest at which the sums of no legal position overflow, so a sum is as fine as
about a thirty-thousandth of the largest that its unit can reach.
"""

from typing import Any, NamedTuple

import numpy as np

from engine.kernels.short_rows import PRODUCT_BITS
from engine.kernels.tactics import CONTACT, MOST, TACTICS, WHOLE

__all__ = ["FixedPoint", "fixed_point"]

Array = np.ndarray[Any, Any]

CHECKERS = 15
LARGEST = 32_700  # of a sum before its parts are rounded: these are fewer than 67
PRODUCTS = 24  # of a position with contact that are rounded down, on the average


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
    best = np.full((CHECKERS + 1, *rows.shape[2:]), -np.inf)
    best[0] = 0
    for row in rows:
        added = best + row[0]
        for count in range(1, CHECKERS + 1):
            np.maximum(added[count:], best[:-count] + row[count], out=added[count:])
        best = added
    return best.max(axis=0)


def fixed_point(table: Array, bias: Array, tactics: Array) -> FixedPoint:
    """A first layer of floating point in fixed point.

    table: float32[64, 16, H]; bias: float32[H]; tactics: float32[TACTICS, H] or [0, H].
    """
    both_ways = np.stack([table, -table], axis=2)
    sides = both_ways.reshape(2, -1, *both_ways.shape[1:])
    most = np.stack([bias, -bias]) + sum(_most_of_a_side(side) for side in sides)
    whole = WHOLE[: len(tactics), None].astype(np.float64)
    for sign, bound in zip((1, -1), most, strict=True):
        bound += np.maximum(sign * tactics * (MOST / whole), 0).sum(axis=0)
    products = tactics * (2**PRODUCT_BITS / whole)
    largest = np.maximum(most.max(axis=0), np.abs(products).max(axis=0, initial=0))
    scale = LARGEST / np.where(largest > 0, largest, LARGEST)
    scaled = products * scale
    if len(tactics):
        scaled[CONTACT] += PRODUCTS / 2 * 2**PRODUCT_BITS / whole[CONTACT]
    return FixedPoint(
        scale,
        np.rint(table * scale).astype(np.int16),
        np.rint(bias * scale).astype(np.int16),
        np.rint(scaled).astype(np.int16),
    )
