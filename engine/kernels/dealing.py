"""Dice for many games at once, and words to choose by: `engine.kernels.random` on arrays."""

from typing import Any

import numpy as np

from engine.kernels import kernel
from engine.kernels.random import game_seed, opening_roll, random_word, roll

__all__ = [
    "game_seeds",
    "next_game_seeds",
    "opening_rolls",
    "opening_ties",
    "position_words",
    "rolls",
    "rolls_of_turns",
]

Array = np.ndarray[Any, Any]


@kernel
def game_seeds(root_seed: int, games: Array) -> Array:
    """The seeds uint64[N] of games numbered int64[N], derived from one root seed."""
    seeds = np.empty(len(games), np.uint64)
    for index in range(len(games)):
        seeds[index] = game_seed(np.uint64(root_seed), np.uint64(games[index]))
    return seeds


@kernel
def next_game_seeds(seeds: Array) -> Array:
    """The seeds uint64[N] of the games that follow those with seeds uint64[N] in their matches."""
    following = np.empty(len(seeds), np.uint64)
    for index in range(len(seeds)):
        following[index] = random_word(seeds[index], np.uint64(0xFFFFFFFFFFFFFFFD))
    return following


@kernel
def opening_rolls(seeds: Array) -> Array:
    """The opening rolls int8[N, 2] of games with seeds uint64[N].

    The first player's die, then the other's, never equal; the higher side plays both numbers first.
    """
    dice = np.empty((len(seeds), 2), np.int8)
    for index in range(len(seeds)):
        dice[index, 0], dice[index, 1] = opening_roll(seeds[index])
    return dice


@kernel
def opening_ties(seeds: Array) -> Array:
    """How often both sides had thrown the same number before the opening roll, int8[N]."""
    ties = np.zeros(len(seeds), np.int8)
    for index in range(len(seeds)):
        word = random_word(seeds[index], np.uint64(0xFFFFFFFFFFFFFFFE))
        while word != 0 and word % np.uint64(6) == 0:
            ties[index] += 1
            word //= np.uint64(6)
    return ties


@kernel
def rolls(seeds: Array, turn: int) -> Array:
    """The dice int8[N, 2] of one turn of games with seeds uint64[N]."""
    dice = np.empty((len(seeds), 2), np.int8)
    for index in range(len(seeds)):
        dice[index, 0], dice[index, 1] = roll(seeds[index], turn)
    return dice


@kernel
def rolls_of_turns(seeds: Array, turns: Array) -> Array:
    """The dice int8[N, 2] of turn int64[N] of each of the games with seeds uint64[N]."""
    dice = np.empty((len(seeds), 2), np.int8)
    for index in range(len(seeds)):
        dice[index, 0], dice[index, 1] = roll(seeds[index], turns[index])
    return dice


@kernel
def position_words(words: Array, dice: Array, seed: int) -> Array:
    """A uniform uint64[N] that depends on position, dice (in any order) and seed alone.

    words: uint64[N, 8], packed boards; dice: int8[N, 2].
    """
    hashes = np.empty(len(words), np.uint64)
    for index in range(len(words)):
        high = max(dice[index, 0], dice[index, 1])
        low = min(dice[index, 0], dice[index, 1])
        key = random_word(np.uint64(seed), np.uint64(7 * high + low))
        for word in range(words.shape[1]):
            key = random_word(key, words[index, word])
        hashes[index] = key
    return hashes
