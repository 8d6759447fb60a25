"""Lookahead in batches: many positions, each in a situation of its own."""

from typing import Any

import numpy as np
from numba import njit

from engine.kernels import kernel
from engine.kernels.lookahead import Courses, Filter, best_result_ahead, look_ahead, make_tree
from engine.kernels.net import Net

__all__ = ["choose_results_ahead", "values_ahead"]

Array = np.ndarray[Any, Any]


@njit
def _most_rows(courses: Courses) -> int:
    return np.diff(courses.first).max()


@kernel
def values_ahead(
    net: Net, courses: Courses, index: Array, plies: int, words: Array, values: Array, five: Array
) -> None:
    """`look_ahead` in N positions, uint64[N, 8]; index: int64[N], which situation each is in.

    Written: values float64[N] and five float32[N, FIVE].
    """
    tree = make_tree(net.sizes, plies, _most_rows(courses))
    for row in range(len(words)):
        values[row] = look_ahead(net, tree, courses, index[row], plies, words, row, five[row])


@kernel
def choose_results_ahead(
    net: Net, courses: Courses, index: Array, filters: Filter,
    words: Array, dice: Array, chosen: Array,
) -> None:  # fmt: skip
    """`best_result_ahead` in N positions, uint64[N, 8], with a roll each, int8[N, 2].

    index: int64[N], which situation each next player is in. Written: chosen uint64[N, 8].
    """
    tree = make_tree(net.sizes, len(filters.most), _most_rows(courses))
    for row in range(len(words)):
        high, low = max(dice[row, 0], dice[row, 1]), min(dice[row, 0], dice[row, 1])
        best = best_result_ahead(net, tree, courses, index[row], filters, words, row, high, low)
        chosen[row] = tree.results[best]
