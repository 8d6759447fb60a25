"""What a rollout's trials are played with: situations, skill, dice.

*Stratified dice*: the first rolls of 36 trials in a row are the 36 throws of two dice; those of
1,296 see every pair of throws in the first two turns, those of 46,656 every three.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from engine.kernels import kernel
from engine.kernels.cubeful import Cubes
from engine.kernels.lookahead import Filter
from engine.kernels.movegen import THROWS
from engine.kernels.net import Scratch
from engine.kernels.random import game_seed, random_word, roll

__all__ = [
    "STRATA",
    "Branches",
    "Game",
    "Method",
    "Situations",
    "Skill",
    "make_branches",
    "throw",
    "trial_dice",
]

Array = np.ndarray[Any, Any]

STRATA = 3  # turns whose rolls are stratified


class Situations(NamedTuple):
    """The S situations that a game can come into, each as its player on roll has it."""

    cubes: Cubes
    """Of S situations."""
    played: Array
    """int64[S]: the situation of the next player, after a play."""
    taken: Array
    """int64[S]: that of the player on roll after his double was taken; -1 where he cannot gain by
    doubling or may not."""
    beavered: Array
    """int64[S]: the same after a beaver; -1 where there is none."""
    slope: Array
    offset: Array
    """float64[S]: offset + slope x value is the equity for the root's side."""
    is_root: Array
    """bool[S]: whether the root's side is on roll."""


class Skill(NamedTuple):
    """How well the sides play."""

    filters: Filter
    """For as many plies as plays are looked ahead."""
    cube_plies: int
    """How far ahead the cube actions look."""


class Method(NamedTuple):
    """How the games are played."""

    first: Skill
    later: Skill
    later_from: int
    """The ply from which on `later` holds."""
    horizon: int
    """Plies after which the estimate ends a trial, up to LONGEST."""
    reduced: bool
    """Whether the luck is taken out."""
    exact_ends: bool
    """Whether a trial ends where the bearoff database of the net knows the rest."""
    seed: int
    orders: Array
    """int64[STRATA, 36]: a permutation of the throws for each stratified turn."""


class Game(NamedTuple):
    """One thread's game in progress."""

    scratch: Scratch
    board: Array
    """uint64[1, 8], row 0 on roll."""
    cells: Array
    """The same memory as int8[1, 64]."""
    values: Array
    """float32[5]: the probabilities of `board`, for the player on roll."""
    best: Array
    """float32[5]: those of a result that is weighed."""
    means: Array
    """float64[5]: means over the rolls, for the next player."""
    actions: Array
    """float64[ACTIONS]."""


class Branches(NamedTuple):
    """Up to B parts of a trial that wait to be gone on with, the cube being turned already."""

    boards: Array
    """uint64[B, 8], row 0 on roll."""
    values: Array
    """float32[B, 5]: their probabilities."""
    situations: Array
    """int64[B]: of the players on roll."""
    turns: Array
    """int64[B]: turns of the game before."""
    weights: Array
    """float64[B]: what share of the trial each is."""


@njit
def make_branches(most: int) -> Branches:
    """Room for so many."""
    return Branches(
        np.empty((most, 8), np.uint64),
        np.empty((most, 5), np.float32),
        np.empty(most, np.int64),
        np.empty(most, np.int64),
        np.empty(most),
    )


@njit(inline="always")
def throw(seed: int, trial: int, branch: int, turn: int, orders: Array) -> tuple[int, int]:
    """The two dice of a turn of a trial, in one of the branches that it splits into.

    In the first branch turn k takes digit k of the trial's number in base 36, shifted by a random
    amount for each set of lower digits, so that short rollouts do not see the same throw in every
    trial.
    """
    if turn >= STRATA or branch > 0:
        trial_seed = game_seed(np.uint64(seed), np.uint64(trial))
        return roll(trial_seed if branch == 0 else random_word(trial_seed, ~branch), turn)
    period = THROWS**turn
    word = random_word(random_word(np.uint64(seed), np.uint64(turn)), np.uint64(trial % period))
    shift = np.int64(word % np.uint64(THROWS))
    outcome = orders[turn, (trial // period + shift) % THROWS]
    return outcome // 6 + 1, outcome % 6 + 1


@kernel
def trial_dice(
    seed: int, first_trial: int, branch: int, turn: int, orders: Array, dice: Array
) -> None:
    """The dice of one turn of trials numbered from `first_trial`, written to int8[N, 2].

    The other arguments: as in `throw`.
    """
    for index in range(len(dice)):
        dice[index, 0], dice[index, 1] = throw(seed, first_trial + index, branch, turn, orders)
