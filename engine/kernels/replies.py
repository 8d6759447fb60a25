"""The best result of each roll in a position, which is found once and then remembered.

A tree comes to the same positions again: a play is looked at two plies ahead after it was looked at
one ply ahead, and another order of plays leads to it. Of the positions in which all 21 rolls are
played, a twentieth has been seen before in a 2-ply decision, a ninth in a 3-ply one; and the trials
of a rollout begin alike. Single results are not remembered: the same one, reached from different
positions, differs by the rounding of its sums, and an answer must not depend on what was asked
before.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from engine.kernels import inner
from engine.kernels.choice import best_kept_cubeful, evaluate_rolls, five_into
from engine.kernels.cubeful import Cubes, outcome_worths
from engine.kernels.forward import set_position
from engine.kernels.movegen import ROLLS, THROWS, WEIGHTS
from engine.kernels.net import Net, Scratch, copy_into
from engine.kernels.random import random_word

__all__ = ["FIVE", "PLACES", "Replies", "find_replies", "make_replies"]

Array = np.ndarray[Any, Any]

FIVE = 5
PLACES = 1024  # positions that are remembered


class Replies(NamedTuple):
    """The replies to the positions seen last: each has one place, which it takes from another."""

    keys: Array
    """uint64[P, 9]: the packed board, and one more than the situation of the next player; 0 where
    there is nothing yet."""
    words: Array
    """uint64[P * ROLLS, 8]: the best result of each roll."""
    five: Array
    """float32[P * ROLLS, FIVE]: their probabilities for the next player."""
    weights: Array
    """float64[P * ROLLS]: how likely each is; rolls with one result are counted as the first of
    them, and 0 for the others."""


@njit
def make_replies(places: int) -> Replies:
    """Room for the replies to so many positions."""
    return Replies(
        np.zeros((places, 9), np.uint64),
        np.empty((places * ROLLS, 8), np.uint64),
        np.empty((places * ROLLS, FIVE), np.float32),
        np.empty(places * ROLLS),
    )


@inner
def _first_like(words: Array, start: int, row: int) -> int:
    """The first of the boards words[start:row + 1] that is the one of `row`."""
    for other in range(start, row):
        word = 0
        while word < 8 and words[other, word] == words[row, word]:
            word += 1
        if word == 8:
            return other
    return row


@inner
def find_replies(
    net: Net, scratch: Scratch, replies: Replies, cubes: Cubes, situation: int,
    words: Array, row: int, actions: Array,
) -> int:  # fmt: skip
    """The place of the replies to words[row], uint64[., 8], which is not finished.

    They are rows place * ROLLS to (place + 1) * ROLLS of `replies`, until this is called again.
    cubes, situation: what the next player has, for whom they are worth least; replies: of the same
    net and cubes always; actions: float64[ACTIONS], working memory.
    """
    keys = replies.keys
    key = np.uint64(situation + 1)
    mixed = key
    for word in range(8):
        mixed = random_word(mixed, words[row, word])
    place = np.int64(mixed % np.uint64(len(keys)))
    known = keys[place, 8] == key
    for word in range(8):
        known &= keys[place, word] == words[row, word]
        keys[place, word] = words[row, word]
    keys[place, 8] = key
    if known:
        return place
    set_position(net, scratch, words, row)
    evaluate_rolls(net, scratch, outcome_worths(cubes, situation))
    start = place * ROLLS
    for roll in range(ROLLS):
        at, first = start + roll, scratch.starts[roll]
        chosen, _ = best_kept_cubeful(
            net, scratch, first, scratch.starts[roll + 1], cubes, situation, actions
        )
        five_into(replies.five[at], scratch, chosen)
        copy_into(replies.words[at], scratch.kept[chosen])
        replies.weights[at] = 0.0
        replies.weights[_first_like(replies.words, start, at)] += WEIGHTS[roll] / THROWS
    return place
