"""Trials of a rollout: a game from a position to its end, or truncated, and what it was worth.

Everything is counted as equity for one side, the *root's*, whoever is on roll: a situation (score,
cube, who is on roll) maps what a position is worth in it to that scale. So the cube may be turned,
the stakes grow and the sides change, and sums of differences stay sums.

*Stratified dice*: the first rolls of 36 trials in a row are the 36 throws of two dice; those of
1,296 see every pair of throws in the first two turns, those of 46,656 every three.

*Variance reduction by luck*: at each turn the estimates of the 21 rolls give the luck of the one
thrown, the estimate after it less the mean over all. Its expectation is zero, whatever the estimates
are worth, so the sum over the game may be taken from the result; what is left varies as little as
the estimates are good. Proposed for backgammon by Montgomery (1993, "Variance reduction").
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from engine.kernels import kernel
from engine.kernels.choice import best_cubeful_result
from engine.kernels.cubeful import ACTIONS, Cubes, cube_actions, position_value, readiness
from engine.kernels.forward import Net, Scratch, evaluate_into, make_scratch, set_position
from engine.kernels.movegen import is_over
from engine.kernels.random import game_seed, random_word, roll

__all__ = ["COLUMNS", "LONGEST", "STRATA", "Situations", "roll_out", "trial_dice"]

Array = np.ndarray[Any, Any]

COLUMNS = 6  # of what a trial gives: equity, then the five probabilities
STRATA = 3  # turns whose rolls are stratified
LONGEST = 1024  # turns after which a game is truncated even if nobody asked for it
THROWS = 36


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


class Game(NamedTuple):
    """One thread's game in progress."""

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


@njit
def _make_game() -> Game:
    board = np.zeros((1, 8), np.uint64)
    return Game(
        board,
        board.view(np.int8),
        np.empty(5, np.float32),
        np.empty(5, np.float32),
        np.empty(5),
        np.empty(ACTIONS),
    )


@njit(inline="always")
def _throw(seed: int, trial: int, turn: int, orders: Array) -> tuple[int, int]:
    """The two dice of a turn of a trial.

    orders: int64[STRATA, 36], a permutation of the throws for each stratified turn. Turn k takes
    digit k of the trial's number in base 36, shifted by a random amount for each set of lower
    digits, so that short rollouts do not see the same throw in every trial.
    """
    if turn >= STRATA:
        return roll(game_seed(np.uint64(seed), np.uint64(trial)), turn)
    period = THROWS**turn
    word = random_word(random_word(np.uint64(seed), np.uint64(turn)), np.uint64(trial % period))
    shift = np.int64(word % np.uint64(THROWS))
    outcome = orders[turn, (trial // period + shift) % THROWS]
    return outcome // 6 + 1, outcome % 6 + 1


@njit(inline="always")
def _add_probabilities(sample: Array, values: Array, is_root: bool, weight: float) -> None:
    """Add weight x five probabilities, of the root's side or the other's, to sample[1:]."""
    if is_root:
        for column in range(5):
            sample[1 + column] += weight * values[column]
    else:
        sample[1] += weight * (1.0 - values[0])
        sample[2] += weight * values[3]
        sample[3] += weight * values[4]
        sample[4] += weight * values[1]
        sample[5] += weight * values[2]


@njit
def _turn_cube(situations: Situations, situation: int, game: Game) -> tuple[int, bool]:
    """The situation after the player on roll and his opponent did what is right with the cube.

    Also whether the game is over because a double was passed. Nobody raccoons: a beaver that is
    right by the estimates leaves nothing to answer it with.
    """
    if situations.taken[situation] < 0:
        return situation, False
    actions = game.actions
    ready = readiness(game.cells, 0)
    cube_actions(situations.cubes, situation, game.values, 0, ready, actions)
    accepted = min(actions[1], actions[3])
    if min(accepted, actions[2]) <= actions[0]:
        return situation, False
    if accepted > actions[2]:
        return situation, True
    if situations.beavered[situation] >= 0 and actions[3] < actions[1]:
        return situations.beavered[situation], False
    return situations.taken[situation], False


@njit
def _play(
    net: Net, scratch: Scratch, situations: Situations, following: int, game: Game,
    first: int, second: int, reduced: bool, sample: Array,
) -> None:  # fmt: skip
    """Play a roll, the cube being for the next player as in situation `following`.

    With `reduced`, the luck of the roll is taken from sample float64[COLUMNS].
    """
    cubes, actions, best = situations.cubes, game.actions, game.best
    set_position(net, scratch, game.board, 0)
    high, low = max(first, second), min(first, second)
    if not reduced:
        row = best_cubeful_result(net, scratch, high, low, cubes, following, game.values, actions)
        game.board[0] = scratch.results[row]
        return
    means = game.means
    means[:] = 0
    mean, thrown = 0.0, 0.0
    for one in range(1, 7):
        for other in range(1, one + 1):
            row = best_cubeful_result(net, scratch, one, other, cubes, following, best, actions)
            ready = readiness(scratch.children, row)
            value = position_value(cubes, following, best, 0, ready, actions)
            weight = (1 if one == other else 2) / THROWS
            mean += weight * value
            for column in range(5):
                means[column] += weight * best[column]
            if one == high and other == low:
                thrown = value
                game.board[0] = scratch.results[row]
                game.values[:] = best
    sample[0] -= situations.slope[following] * (thrown - mean)
    is_root = situations.is_root[following]
    _add_probabilities(sample, game.values, is_root, -1.0)
    _add_probabilities(sample, means, is_root, 1.0)


@njit
def _trial(
    net: Net, scratch: Scratch, situations: Situations, situation: int, game: Game,
    seed: int, trial: int, orders: Array, cube_first: bool, horizon: int, reduced: bool,
    sample: Array,
) -> None:  # fmt: skip
    """One game from game.board, with its game.values; written: sample float64[COLUMNS]."""
    sample[:] = 0
    for turn in range(horizon):
        if is_over(game.cells[0]):
            break
        if turn or cube_first:
            situation, passed = _turn_cube(situations, situation, game)
            if passed:
                won = situations.cubes.stakes[situation, 0, 0]
                sample[0] += situations.offset[situation] + situations.slope[situation] * won
                _add_probabilities(sample, game.values, situations.is_root[situation], 1.0)
                return
        first, second = _throw(seed, trial, turn, orders)
        situation = situations.played[situation]
        _play(net, scratch, situations, situation, game, first, second, reduced, sample)
    ready = readiness(game.cells, 0)
    value = position_value(situations.cubes, situation, game.values, 0, ready, game.actions)
    sample[0] += situations.offset[situation] + situations.slope[situation] * value
    _add_probabilities(sample, game.values, situations.is_root[situation], 1.0)


@kernel
def roll_out(
    net: Net, boards: Array, row: int, situations: Situations, situation: int, seed: int,
    orders: Array, cube_first: bool, horizon: int, reduced: bool, first_trial: int,
    samples: Array,
) -> None:  # fmt: skip
    """Trials of a position, numbered from `first_trial`.

    boards: uint64[., 8] packed, of which boards[row] is rolled out; situation: of its player on
    roll; orders: int64[STRATA, 36], see `trial_dice`; cube_first: whether he may double before his
    first roll; horizon: plies after which the estimate ends a trial, up to LONGEST; reduced:
    whether the luck is taken out.
    Written: samples float64[N, COLUMNS], equity and five probabilities of each trial for the root's
    side. A game that ends with a pass has the estimated probabilities of its last position.
    """
    scratch = make_scratch(net.sizes)
    game = _make_game()
    values = np.empty(5, np.float32)
    evaluate_into(net, scratch, boards, boards.view(np.int8), row, values)
    for index in range(len(samples)):
        game.board[0] = boards[row]
        game.values[:] = values
        _trial(
            net, scratch, situations, situation, game, seed, first_trial + index, orders,
            cube_first, horizon, reduced, samples[index],
        )  # fmt: skip


@kernel
def trial_dice(seed: int, first_trial: int, turn: int, orders: Array, dice: Array) -> None:
    """The dice of one turn of trials numbered from `first_trial`, written to int8[N, 2].

    orders: int64[STRATA, 36], a permutation of 0 to 35 for each stratified turn.
    """
    for index in range(len(dice)):
        dice[index, 0], dice[index, 1] = _throw(seed, first_trial + index, turn, orders)
