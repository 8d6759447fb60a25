"""Trials of a rollout: a game from a position to its end, or truncated, and what it was worth.

Everything is counted as equity for one side, the *root's*, whoever is on roll: a situation (score,
cube, who is on roll) maps what a position is worth in it to that scale. So the cube may be turned,
the stakes grow and the sides change, and sums of differences stay sums.

*Variance reduction by luck*: at each turn the 0-ply estimates of the 21 rolls give the luck of the
one thrown, the estimate after it less the mean over all. Its expectation is zero, whatever the
estimates are worth, so the sum over the game may be taken from the result; what is left varies as
little as the estimates are good (Montgomery, "Variance reduction", GammOnLine, February 2000).

*Exact ends*: where a bearoff database knows all that is to come, the trial ends with that.
"""

from typing import Any

import numpy as np
from numba import njit

from engine.kernels import kernel
from engine.kernels.bearoff import Bearoff, bearoff_actions, bearoff_values
from engine.kernels.choice import best_cubeful_result
from engine.kernels.cubeful import (
    ACTIONS,
    Cubes,
    cube_actions,
    outcome_worths,
    position_value,
    readiness,
)
from engine.kernels.forward import evaluate_into, evaluate_result, set_position
from engine.kernels.lookahead import (
    NEVER,
    Courses,
    best_result_ahead,
    look_ahead,
    make_tree,
)
from engine.kernels.movegen import is_over, results_into
from engine.kernels.net import Net, Scratch, make_scratch
from engine.kernels.pruning import keep_best, weigh_outcomes
from engine.kernels.trials import THROWS, Game, Method, Situations, throw

__all__ = ["COLUMNS", "LONGEST", "roll_out"]

Array = np.ndarray[Any, Any]

COLUMNS = 6  # of what a trial gives: equity, then the five probabilities
LONGEST = 1024  # turns after which a game is truncated even if nobody asked for it
WEIGHED = 2  # results of a roll from which its luck is estimated, where a net can tell which
ROW = np.int64(0)  # of a board that stands alone; a literal 0 would be compiled for by itself


@njit
def _make_game(net: Net) -> Game:
    board = np.zeros((1, 8), np.uint64)
    return Game(
        make_scratch(net.sizes),
        board,
        board.view(np.int8),
        np.empty(5, np.float32),
        np.empty(5, np.float32),
        np.empty(5),
        np.empty(ACTIONS),
    )


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
def _exact_value(
    bearoff: Bearoff, situations: Situations, situation: int, words: Array, boards: Array, row: int,
    doubles: bool, values: Array, actions: Array,
) -> tuple[bool, float]:  # fmt: skip
    """Whether a bearoff database knows what a position is worth for the player on roll; what it is.

    It does where the cube is of no use, and in money games where both sides are in the two-sided
    one. words: uint64[., 8]; boards: the same memory as int8[., 64]; the game is not over.
    doubles: whether he may double now, and can gain by it. Written where it knows: values
    float32[5]. actions: working memory.
    """
    cubes = situations.cubes
    if cubes.turns[situation] == 0:
        if not bearoff_values(bearoff, words, boards, row, values, ROW):
            return False, 0.0
        return True, position_value(cubes, situation, values, ROW, 1.0, actions)
    if not cubes.endless[situation]:
        return False, 0.0
    if not bearoff_actions(
        bearoff, words, boards, row, cubes.owner[situation], cubes.beavers[situation], actions
    ):
        return False, 0.0
    bearoff_values(bearoff, words, boards, row, values, ROW)
    if doubles:
        return True, max(actions[0], min(actions[1], actions[2], actions[3]))
    return True, actions[0]


@njit
def _weigh_cube(
    net: Net, situations: Situations, situation: int, plies: int, game: Game,
    courses: Courses | None, tree: Any,
) -> None:  # fmt: skip
    """Write game.actions, what can be done with the cube; with lookahead, also game.values."""
    actions = game.actions
    if courses is None or plies == 0:
        ready = readiness(game.cells, ROW)
        cube_actions(situations.cubes, situation, game.values, ROW, ready, actions)
        return
    look_ahead(net, tree, courses, situation, plies, game.board, ROW, game.values)
    held = tree.held
    row = courses.first[situation]
    actions[:] = held[0, 0]
    if courses.doubled[row] != NEVER:
        turn = courses.turn[row]
        actions[1] = turn * held[0, courses.doubled[row] - row]
        actions[2] = courses.cubes.stakes[row, 0, 0]
        actions[3] = actions[1]
        if courses.beavered[row] != NEVER:
            actions[3] = turn * turn * held[0, courses.beavered[row] - row]


@njit
def _turn_cube(
    net: Net, situations: Situations, situation: int, plies: int, game: Game,
    courses: Courses | None, tree: Any,
) -> tuple[int, bool]:  # fmt: skip
    """The situation after the player on roll and his opponent did what is right with the cube.

    Also whether the game is over because a double was passed. Nobody raccoons: a beaver that is
    right by the estimates leaves nothing to answer it with.
    """
    if situations.taken[situation] < 0:
        return situation, False
    _weigh_cube(net, situations, situation, plies, game, courses, tree)
    actions = game.actions
    accepted = min(actions[1], actions[3])
    if min(accepted, actions[2]) <= actions[0]:
        return situation, False
    if accepted > actions[2]:
        return situation, True
    if situations.beavered[situation] >= 0 and actions[3] < actions[1]:
        return situations.beavered[situation], False
    return situations.taken[situation], False


@njit
def _likely_best(
    net: Net, scratch: Scratch, high: int, low: int, cubes: Cubes, following: int, values: Array,
    actions: Array,
) -> int:  # fmt: skip
    """`best_cubeful_result` among the few results that the pruning net likes best.

    Luck needs no more, and half the time is saved. After `set_position` and `weigh_outcomes`.
    """
    count = results_into(
        scratch.board_bytes, scratch.board, high, low, scratch.results, 0, scratch.stack
    )
    pruned = count > WEIGHED
    if pruned:
        keep_best(net, scratch, count)
        count = WEIGHED
    at = (len(net.sizes) - 1) * scratch.stride
    chosen = 0
    lowest = np.inf
    for place in range(count):
        row = scratch.kept[place] if pruned else place
        evaluate_result(net, scratch, row, at)
        ready = readiness(scratch.children, row)
        value = position_value(cubes, following, scratch.layers, at, ready, actions)
        if value < lowest:
            lowest = value
            chosen = row
            for index in range(5):
                values[index] = scratch.layers[at + index]
    return chosen


@njit
def _take_luck_out(
    net: Net, bearoff: Bearoff, situations: Situations, following: int, game: Game,
    high: int, low: int, sample: Array,
) -> None:  # fmt: skip
    """Play a roll at 0-ply, and take its luck from sample float64[COLUMNS].

    After `set_position`; `following`: the situation of the next player.
    """
    cubes, actions, best, means = situations.cubes, game.actions, game.best, game.means
    scratch = game.scratch
    has_pruning = len(net.pruning_table) > 0
    if has_pruning:
        weigh_outcomes(net, scratch, outcome_worths(cubes, following))
    means[:] = 0
    mean, thrown = 0.0, 0.0
    doubles = situations.taken[following] >= 0
    for one in range(1, 7):
        for other in range(1, one + 1):
            if has_pruning:
                row = _likely_best(net, scratch, one, other, cubes, following, best, actions)
            else:
                row = best_cubeful_result(net, scratch, one, other, cubes, following, best, actions)
            known, value = False, 0.0
            if not is_over(scratch.children[row]):
                known, value = _exact_value(
                    bearoff, situations, following, scratch.results, scratch.children, row,
                    doubles, best, actions,
                )  # fmt: skip
            if not known:
                ready = readiness(scratch.children, row)
                value = position_value(cubes, following, best, ROW, ready, actions)
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
    if has_pruning:
        row = best_cubeful_result(net, scratch, high, low, cubes, following, game.values, actions)
        game.board[0] = scratch.results[row]


@njit
def _play(
    net: Net, bearoff: Bearoff, situations: Situations, following: int, game: Game,
    first: int, second: int, reduced: bool, sample: Array,
) -> None:  # fmt: skip
    """Play a roll at 0-ply, the cube being for the next player as in situation `following`."""
    high, low = max(first, second), min(first, second)
    set_position(net, game.scratch, game.board, ROW)
    if reduced:
        _take_luck_out(net, bearoff, situations, following, game, high, low, sample)
        return
    row = best_cubeful_result(
        net, game.scratch, high, low, situations.cubes, following, game.values, game.actions
    )
    game.board[0] = game.scratch.results[row]


@njit
def _trial(
    net: Net, bearoff: Bearoff, situations: Situations, situation: int, cube_first: bool,
    game: Game, method: Method, courses: Courses | None, tree: Any, trial: int,
    sample: Array,
) -> None:  # fmt: skip
    """One game from game.board, with its game.values; written: sample float64[COLUMNS]."""
    sample[:] = 0
    value, known = 0.0, False
    for turn in range(method.horizon):
        if is_over(game.cells[0]):
            break
        may_double = turn > 0 or cube_first
        known, value = _exact_value(
            bearoff, situations, situation, game.board, game.cells, ROW,
            may_double and situations.taken[situation] >= 0, game.values, game.actions,
        )  # fmt: skip
        if known:
            break
        skill = method.first if turn < method.later_from else method.later
        if may_double:
            situation, known = _turn_cube(
                net, situations, situation, skill.cube_plies, game, courses, tree
            )
            if known:
                value = situations.cubes.stakes[situation, 0, 0]
                break
        first, second = throw(method.seed, trial, turn, method.orders)
        situation = situations.played[situation]
        chosen = -1
        if courses is not None and len(skill.filters.most):
            high, low = max(first, second), min(first, second)
            chosen = best_result_ahead(
                net, tree, courses, situation, skill.filters, game.board, ROW, high, low
            )
        if method.reduced or chosen < 0:
            _play(net, bearoff, situations, situation, game, first, second, method.reduced, sample)
        if courses is not None and chosen >= 0:
            game.board[0] = tree.results[chosen]
            evaluate_into(net, game.scratch, game.board, game.cells, ROW, game.values)
    if not known:
        ready = readiness(game.cells, ROW)
        value = position_value(situations.cubes, situation, game.values, ROW, ready, game.actions)
    sample[0] += situations.offset[situation] + situations.slope[situation] * value
    _add_probabilities(sample, game.values, situations.is_root[situation], 1.0)


@njit
def _most_plies(method: Method) -> int:
    plies = max(len(method.first.filters.most), len(method.later.filters.most))
    return max(plies, method.first.cube_plies, method.later.cube_plies)


@kernel
def roll_out(
    net: Net, bearoff: Bearoff, boards: Array, row: int, situations: Situations, situation: int,
    cube_first: bool, method: Method, courses: Courses | None, first_trial: int, samples: Array,
) -> None:  # fmt: skip
    """Trials of a position, numbered from `first_trial`.

    boards: uint64[., 8] packed, of which boards[row] is rolled out; situation: of its player on
    roll; cube_first: whether he may double before his first roll. courses: from the same
    situations, for the most plies that anything is looked ahead; None where nothing is, and the
    lookahead is left out of what is compiled.
    Written: samples float64[N, COLUMNS], equity and five probabilities of each trial for the root's
    side. A game that ends with a pass has the estimated probabilities of its last position.
    """
    game = _make_game(net)
    tree = None
    if courses is not None:
        tree = make_tree(net.sizes, _most_plies(method), np.diff(courses.first).max())
    values = np.empty(5, np.float32)
    evaluate_into(net, game.scratch, boards, boards.view(np.int8), row, values)
    for index in range(len(samples)):
        game.board[0] = boards[row]
        game.values[:] = values
        _trial(
            net, bearoff, situations, situation, cube_first, game, method, courses, tree,
            first_trial + index, samples[index],
        )  # fmt: skip
