"""Cube decisions: what to do with the cube, what the other side should answer, and what it costs."""

from typing import Any, NamedTuple

import numpy as np

__all__ = ["CubeActions"]

Array = np.ndarray[Any, Any]


class CubeActions(NamedTuple):
    """The cube decisions of N positions, as the player on roll sees them."""

    no_double: Array
    """float64[N] equity when he does not double: points per cube in money games, EMG in matches.
    The next two likewise."""
    double_take: Array
    double_pass: Array
    doubles: Array
    """bool[N]: whether doubling is right; never where he may not double."""
    takes: Array
    """bool[N]: whether taking is right, should he double."""
    beavers: Array
    """bool[N]: whether the doubled side should beaver, should he double."""
