"""From a result back to a play that gives it: which checkers moved, in what order."""

from typing import Any

import numpy as np

from engine.kernels import inner, kernel
from engine.kernels.bits import highest_bit
from engine.kernels.movegen import MAX_STEPS, flat, masks, move_back, move_checker, playable_points

__all__ = ["canonical_steps"]

Array = np.ndarray[Any, Any]


@inner
def _reaches(words: Array, target: Array) -> bool:
    """Whether the board, seen by the next player, is `target` (uint64[8])."""
    for word in range(4):
        if target[word] != words[4 + word] or target[4 + word] != words[word]:
            return False
    return True


@kernel
def _steps_to(board: Array, dice: Array, target: Array, steps: Array) -> None:
    """Fill steps int8[4, 2] with a play from the flat packed board to `target`, if there is one."""
    words = board.view(np.uint64)
    high, low = max(dice[0], dice[1]), min(dice[0], dice[1])
    order = np.empty(MAX_STEPS, np.int64)
    pending = np.empty(MAX_STEPS, np.uint32)
    taken = np.empty((MAX_STEPS, 2), np.int64)
    reached = np.empty(MAX_STEPS + 1, np.uint32)
    occupied, blocked = masks(board)
    length = MAX_STEPS if high == low else 2
    orders = 1 if high == low else 2
    # All dice first: 6/5/off with 61 gives what 6/off gives, and only the first is legal.
    for attempt in range(2 * orders):
        shortest = length if attempt < orders else 1
        order[:] = high
        if high != low:
            order[1 - attempt % 2] = low
        depth = 0
        reached[0] = occupied
        pending[0] = playable_points(occupied, blocked, order[0])
        while depth >= 0:
            if pending[depth] == 0:
                depth -= 1
                if depth >= 0:
                    move_back(board, taken[depth, 0], order[depth], taken[depth, 1])
                continue
            source = highest_bit(pending[depth])
            pending[depth] ^= np.uint32(1) << np.uint32(source)
            after, hit = move_checker(board, reached[depth], source, order[depth])
            taken[depth, 0] = source
            taken[depth, 1] = hit
            if depth + 1 >= shortest and _reaches(words, target):
                for step in range(depth + 1):
                    steps[step, 0] = taken[step, 0]
                    steps[step, 1] = max(taken[step, 0] - order[step], 0)
                return
            if depth + 1 == length:
                move_back(board, source, order[depth], hit)
                continue
            depth += 1
            reached[depth] = after
            pending[depth] = playable_points(after, blocked, order[depth])
            if high == low:
                pending[depth] &= (np.uint32(2) << np.uint32(source)) - np.uint32(1)


@kernel
def _canonical_steps(boards: Array, dice: Array, targets: Array) -> Array:
    steps = np.zeros((len(boards), MAX_STEPS, 2), np.int8)
    for index in range(len(boards)):
        _steps_to(boards[index].copy(), dice[index], targets[index], steps[index])
    return steps


def canonical_steps(packed: Array, dice: Array, results: Array) -> Array:
    """One play for each of M results: int8[M, 4, 2] of (from, to) in the mover's numbering.

    packed: int8[M, 2, 32], the positions before; dice: int8[M, 2]; results: int8[M, 2, 32] as the
    next player sees them. 25 is the bar, 0 off; unused rows are (0, 0). The larger die is played
    first where that is legal, and the checkers farthest back. A result that no legal play gives has
    no steps.
    """
    targets = flat(results).view(np.uint64)
    return _canonical_steps(flat(packed), np.ascontiguousarray(dice, np.int8), targets)
