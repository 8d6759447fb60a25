"""Counter-based random numbers: a value depends on its keys alone, never on who asks or when."""

import numpy as np
from numba import njit

from engine.kernels import kernel

__all__ = ["game_seed", "opening_roll", "random_word", "roll"]


@njit(inline="always")
def random_word(seed: int, counter: int) -> int:
    """Uniform uint64 from two uint64 keys, by SplitMix64's finaliser (Steele, Lea, Flood 2014)."""
    word = np.uint64(seed) + np.uint64(0x9E3779B97F4A7C15) * (np.uint64(counter) + np.uint64(1))
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@kernel
def game_seed(root_seed: int, game: int) -> int:
    """The uint64 seed of one game, derived from the root seed and the game's number."""
    return random_word(random_word(np.uint64(root_seed), np.uint64(game)), np.uint64(game))


@njit(inline="always")
def roll(seed: int, turn: int) -> tuple[int, int]:
    """The two dice (1..6) of one turn of the game with this seed."""
    word = random_word(seed, np.uint64(turn))
    # 32 bits scaled to 36 outcomes: the bias is below 1e-8.
    outcome = np.int64(((word >> np.uint64(32)) * np.uint64(36)) >> np.uint64(32))
    return outcome // 6 + 1, outcome % 6 + 1


@kernel
def opening_roll(seed: int) -> tuple[int, int]:
    """One die each, rolled again while they are equal: the first player's die, the second's.

    The side with the higher die plays both numbers first.
    """
    word = random_word(seed, np.uint64(0xFFFFFFFFFFFFFFFF))
    outcome = np.int64(((word >> np.uint64(32)) * np.uint64(30)) >> np.uint64(32))
    first = outcome // 5 + 1
    second = outcome % 5 + 1
    return first, second + (second >= first)
