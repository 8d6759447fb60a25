"""Which results of a roll are worth the whole net: a small net ranks them all first.

It has one layer of units over checker counts, kept up to date along the plays as the first layer
of `engine.kernels.forward` is, and five outputs. They are no probabilities: only their sum,
weighted by what each of the five outcomes counts for at the stakes, means something, and only
beside the sums of the other results of the same roll. It was trained on just that (see
`training.pruning`), which a net of this size can learn far better than how good positions are.
"""

from typing import Any

import numpy as np
from numba import njit

from engine.kernels import inner
from engine.kernels.bits import lowest_bit
from engine.kernels.movegen import SIZE
from engine.kernels.net import COUNTS, KEPT, PRUNING, Net, Scratch
from engine.kernels.outcomes import has_won
from engine.kernels.rows import add_differences_32
from engine.kernels.vector import mask_unequal, positive_dot_32

__all__ = ["PROMISING", "keep_promising", "weigh_outcomes"]

Array = np.ndarray[Any, Any]

PROMISING = 0.20  # equity: results that score further behind the best are not worth the whole net


@inner
def weigh_outcomes(net: Net, scratch: Scratch, outcomes: tuple[float, ...]) -> None:
    """Make ready for `keep_promising` at the stakes.

    outcomes: what each of the five probabilities of a position counts for to its player on roll.
    """
    if not len(net.pruning_table):
        return
    for unit in range(PRUNING):
        worth = np.float32(0)
        for output in range(5):
            worth += (
                np.float32(outcomes[output]) * net.pruning_weights[(output + 1) * PRUNING + unit]
            )
        scratch.pruning_worth[unit] = worth


@njit(inline="always")
def _list_changes(scratch: Scratch, row: int) -> int:
    """Write to scratch.pruning_changes where the rows of the table begin that results[row] adds to
    the sums of the parent and takes away, by turns; how many pairs.
    """
    boards, changes = scratch.children, scratch.pruning_changes
    count = 0
    changed = np.uint64(mask_unequal(boards, row * SIZE, scratch.parent_bytes))
    while changed:
        slot = lowest_bit(changed)
        changed &= changed - np.uint64(1)
        changes[2 * count] = (slot * COUNTS + boards[row, slot]) * PRUNING
        changes[2 * count + 1] = (slot * COUNTS + scratch.parent_bytes[slot]) * PRUNING
        count += 1
    return count


@inner
def keep_promising(net: Net, scratch: Scratch, count: int, within: float) -> int:
    """Write to scratch.promising the rows of scratch.results[:count] that are worth evaluating.

    After `set_position` and `weigh_outcomes`: the most promising first, up to KEPT, whose scores
    are up to `within` behind the best. How many they are is returned.
    """
    rows, scores = scratch.promising, scratch.scores
    found = 0
    for row in range(count):
        score = np.float32(-np.inf)
        if not has_won(scratch.results, row):
            changes = _list_changes(scratch, row)
            add_differences_32(
                scratch.pruning_layer, scratch.pruning_sums, net.pruning_table,
                scratch.pruning_changes, changes,
            )  # fmt: skip
            score = positive_dot_32(scratch.pruning_layer, scratch.pruning_worth)
        if found == KEPT and score >= scores[KEPT - 1]:
            continue
        place = min(found, KEPT - 1)
        while place > 0 and scores[place - 1] > score:
            scores[place] = scores[place - 1]
            rows[place] = rows[place - 1]
            place -= 1
        scores[place] = score
        rows[place] = row
        found = min(found + 1, KEPT)
    for place in range(1, found):
        if scores[place] > scores[0] + within:
            return place
    return found
