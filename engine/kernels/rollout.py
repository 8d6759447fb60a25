"""Trials of a rollout: a game from a position to its end, or truncated, and what it was worth.

Everything is counted as equity for one side, the *root's*, whoever is on roll: a situation (score,
cube, who is on roll) maps what a position is worth in it to that scale. So the cube may be turned,
the stakes grow and the sides change, and sums of differences stay sums.

*Variance reduction by luck*: at each turn the 0-ply estimates of the 21 rolls give the luck of the
one thrown, the estimate after it less the mean over all. Its expectation is zero, whatever the
estimates are worth, so the sum over the game may be taken from the result; what is left varies as
little as the estimates are good (Montgomery, "Variance reduction", GammOnLine, February 2000).

*Splitting*: what is left weighs as much as the stakes, so when the cube is turned a trial with the
luck taken out splits in two, which go on with dice of their own and count for half each. A trial
takes 1.8 times as long and says as much more, and none with high stakes decides the mean.

*Exact ends*: where the two-sided bearoff database knows all that is to come, the trial ends with
that.
"""

from typing import Any

import numpy as np
from numba import njit

from engine.kernels import inner, kernel
from engine.kernels.choice import (
    best_cubeful_result,
    best_kept_cubeful,
    evaluate_rolls,
    five_into,
)
from engine.kernels.cubeful import ACTIONS, GAIN, best_action, outcome_worths
from engine.kernels.forward import evaluate_into, set_position
from engine.kernels.lookahead import (
    NEVER,
    Courses,
    best_result_ahead,
    look_ahead,
    make_tree,
)
from engine.kernels.movegen import HIGH, LOW, ROLLS, THROWS, WEIGHTS, is_over
from engine.kernels.net import Net, copy_into, make_scratch
from engine.kernels.trials import (
    Branches,
    Game,
    Method,
    Situations,
    make_branches,
    throw,
)
from engine.kernels.worth import actions_of_board, is_exact, value_of_board

__all__ = ["COLUMNS", "LONGEST", "roll_out"]

Array = np.ndarray[Any, Any]

COLUMNS = 6  # of what a trial gives: equity, then the five probabilities
LONGEST = 1024  # turns after which a game is truncated even if nobody asked for it
SPLITS = 4  # turns of the cube at which a game splits; more are rare, unless a net plays at random
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


@inner
def _weigh_cube(
    net: Net, situations: Situations, situation: int, plies: int, game: Game,
    courses: Courses | None, tree: Any,
) -> None:  # fmt: skip
    """Write game.actions, what can be done with the cube; with lookahead, also game.values."""
    actions = game.actions
    if courses is None or plies == 0:
        actions_of_board(
            net.bearoff, game.board, game.cells, ROW,
            situations.cubes, situation, game.values, ROW, actions,
        )  # fmt: skip
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


@inner
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
    if min(accepted, actions[2]) <= actions[0] + GAIN:
        return situation, False
    if accepted > actions[2]:
        return situation, True
    if situations.beavered[situation] >= 0 and actions[3] < actions[1]:
        return situations.beavered[situation], False
    return situations.taken[situation], False


@inner
def _take_luck_out(
    net: Net, situations: Situations, following: int, game: Game,
    high: int, low: int, weight: float, sample: Array,
) -> None:  # fmt: skip
    """Play a roll at 0-ply, and take weight x its luck from sample float64[COLUMNS].

    After `set_position`; `following`: the situation of the next player.
    """
    cubes, actions, best, means = situations.cubes, game.actions, game.best, game.means
    scratch = game.scratch
    evaluate_rolls(net, scratch, outcome_worths(cubes, following))
    means[:] = 0
    mean, thrown = 0.0, 0.0
    for roll in range(ROLLS):
        row, value = best_kept_cubeful(
            net, scratch, scratch.starts[roll], scratch.starts[roll + 1], cubes, following, actions
        )
        five_into(best, scratch, row)
        chance = WEIGHTS[roll] / THROWS
        mean += chance * value
        for column in range(5):
            means[column] += chance * best[column]
        if HIGH[roll] == high and LOW[roll] == low:
            thrown = value
            copy_into(game.board[0], scratch.kept[row])
            copy_into(game.values, best)
    sample[0] -= weight * situations.slope[following] * (thrown - mean)
    is_root = situations.is_root[following]
    _add_probabilities(sample, game.values, is_root, -weight)
    _add_probabilities(sample, means, is_root, weight)


@inner
def _play(
    net: Net, situations: Situations, following: int, game: Game,
    first: int, second: int, reduced: bool, weight: float, sample: Array,
) -> None:  # fmt: skip
    """Play a roll at 0-ply, the cube being for the next player as in situation `following`."""
    high, low = max(first, second), min(first, second)
    set_position(net, game.scratch, game.board, ROW)
    if reduced:
        _take_luck_out(net, situations, following, game, high, low, weight, sample)
        return
    row = best_cubeful_result(
        net, game.scratch, high, low, situations.cubes, following, game.values, game.actions
    )
    copy_into(game.board[0], game.scratch.kept[row])


@inner
def _exact_value(
    net: Net, situations: Situations, situation: int, game: Game, may_double: bool
) -> float:
    """What the database says the position is worth for the player on roll."""
    actions = game.actions
    actions_of_board(
        net.bearoff, game.board, game.cells, ROW,
        situations.cubes, situation, game.values, ROW, actions,
    )  # fmt: skip
    if may_double and situations.taken[situation] >= 0:
        return best_action(situations.cubes, situation, actions)
    return actions[0]


@inner
def _put_by(
    branches: Branches, waiting: int, game: Game, situation: int, turn: int, weight: float
) -> int:
    """Keep the game as it stands, to go on with later; how many wait then."""
    copy_into(branches.boards[waiting], game.board[0])
    copy_into(branches.values[waiting], game.values)
    branches.situations[waiting] = situation
    branches.turns[waiting] = turn
    branches.weights[waiting] = weight
    return waiting + 1


@inner
def _branch(
    net: Net, situations: Situations, cube_first: bool, game: Game, method: Method,
    courses: Courses | None, tree: Any, trial: int, branch: int,
    branches: Branches, waiting: int, sample: Array,
) -> int:  # fmt: skip
    """Go on to the end with what was put by last, and add what it counts for to sample.

    Where the cube is turned another branch is put by. Returns how many then wait.
    """
    waiting -= 1
    copy_into(game.board[0], branches.boards[waiting])
    copy_into(game.values, branches.values[waiting])
    situation, weight = branches.situations[waiting], branches.weights[waiting]
    begin = branches.turns[waiting]
    cubes = situations.cubes
    value, known = 0.0, False
    for turn in range(begin, method.horizon):
        if is_over(game.cells[0]):
            break
        may_double = turn > begin or cube_first
        if method.exact_ends and is_exact(
            net.bearoff, game.board, game.cells, ROW, cubes, situation
        ):
            known, value = True, _exact_value(net, situations, situation, game, may_double)
            break
        skill = method.first if turn < method.later_from else method.later
        if may_double:
            before = situation
            situation, known = _turn_cube(
                net, situations, situation, skill.cube_plies, game, courses, tree
            )
            if known:
                value = cubes.stakes[situation, 0, 0]
                break
            if method.reduced and situation != before and weight > 1 / 2**SPLITS:
                weight /= 2
                waiting = _put_by(branches, waiting, game, situation, turn, weight)
        first, second = throw(method.seed, trial, branch, turn, method.orders)
        situation = situations.played[situation]
        chosen = -1
        if courses is not None and len(skill.filters.most):
            high, low = max(first, second), min(first, second)
            chosen = best_result_ahead(
                net, tree, courses, situation, skill.filters, game.board, ROW, high, low
            )
        if method.reduced or chosen < 0:
            _play(net, situations, situation, game, first, second, method.reduced, weight, sample)
        if courses is not None and chosen >= 0:
            copy_into(game.board[0], tree.results[chosen])
            evaluate_into(net, game.scratch, game.board, game.cells, ROW, game.values)
    if not known:
        value = value_of_board(
            net.bearoff, game.board, game.cells, ROW,
            cubes, situation, game.values, ROW, game.actions,
        )  # fmt: skip
    sample[0] += weight * (situations.offset[situation] + situations.slope[situation] * value)
    _add_probabilities(sample, game.values, situations.is_root[situation], weight)
    return waiting


@inner
def _most_plies(method: Method) -> int:
    plies = max(len(method.first.filters.most), len(method.later.filters.most))
    return max(plies, method.first.cube_plies, method.later.cube_plies)


@kernel
def roll_out(
    net: Net, boards: Array, row: int, situations: Situations, situation: int,
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
    branches = make_branches(1 + SPLITS)
    tree = None
    if courses is not None:
        tree = make_tree(net.sizes, _most_plies(method), np.diff(courses.first).max())
    values = np.empty(5, np.float32)
    evaluate_into(net, game.scratch, boards, boards.view(np.int8), row, values)
    for index in range(len(samples)):
        samples[index] = 0
        game.board[0] = boards[row]
        game.values[:] = values
        waiting = _put_by(branches, 0, game, situation, 0, 1.0)
        branch = 0
        while waiting > 0:
            waiting = _branch(
                net, situations, cube_first and branch == 0, game, method, courses, tree,
                first_trial + index, branch, branches, waiting, samples[index],
            )  # fmt: skip
            branch += 1
