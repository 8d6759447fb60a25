"""A rollout's trials: their dice, and each of them against a slow twin that plays it by the bot."""

from dataclasses import replace

import numpy as np
import pytest

from engine.backgammon.board import OFF, is_over
from engine.backgammon.dice import ROLLS, WEIGHTS
from engine.backgammon.variants import BACKGAMMON
from engine.cube.context import CubeContext, Owner
from engine.cube.decisions import cube_actions
from engine.cube.equity import best_equities, cube_equities, timing
from engine.cube.rollout import Limits, Rollout, Settings, Start
from engine.evaluation import outcome
from engine.evaluation.network import Network
from engine.kernels import movegen
from engine.kernels.trials import STRATA, trial_dice

SEED = 12
ORDERS = np.array([np.random.default_rng(turn).permutation(36) for turn in range(STRATA)])


def throws(count: int, turn: int, first: int = 0, branch: int = 0) -> np.ndarray:
    """int64[count]: numbers from 0 to 35 of the throws of a turn."""
    dice = np.empty((count, 2), np.int8)
    trial_dice(SEED, first, branch, turn, ORDERS, dice)
    assert dice.min() >= 1 and dice.max() <= 6
    return dice[:, 0].astype(int) * 6 + dice[:, 1] - 7


@pytest.mark.parametrize("first", [0, 36, 36 * 1296 * 3])
def test_36_trials_begin_with_every_throw_once(first):
    assert sorted(throws(36, 0, first)) == list(range(36))


def test_1296_trials_begin_with_every_pair_of_throws_once():
    assert len(set(zip(throws(1296, 0), throws(1296, 1), strict=True))) == 1296


def test_46656_trials_begin_with_every_three_throws_once():
    turns = [throws(36**3, turn) for turn in range(3)]
    assert len(set(zip(*turns, strict=True))) == 36**3


def test_few_trials_do_not_all_see_the_same_second_throw():
    assert len(set(throws(36, 1))) > 12


@pytest.mark.parametrize(("turn", "branch"), [(3, 0), (50, 0), (0, 1), (2, 2), (50, 3)])
def test_other_throws_are_as_likely_as_dice_have_it(turn, branch):
    counts = np.bincount(throws(72_000, turn, branch=branch), minlength=36)
    assert abs(counts - 2000).max() < 5 * np.sqrt(2000)


def test_no_throw_says_anything_about_one_of_another_branch_or_turn():
    rolled = [throws(72_000, turn, branch=branch) for turn in (3, 4) for branch in (0, 1, 2)]
    for number, one in enumerate(rolled):
        for other in rolled[:number]:
            assert abs((one == other).mean() - 1 / 36) < 5 * np.sqrt(1 / 36 / 72_000)


def to_root(root: CubeContext, context: CubeContext, is_root: bool, equity: float) -> float:
    """The equity of a position in its own situation, on the root's scale and for the root."""
    if root.is_money:
        return (equity if is_root else -equity) * context.cube / root.cube
    mwc = context.mwc(equity)
    mwc = mwc if is_root else 1 - mwc
    return (mwc - root.mwc(0)) / (root.mwc(1) - root.mwc(0))


def slow_trial(network, start, root, settings, rollout, trial, shares=None):
    """The six figures of a trial, by the definitions; shares: as in `trials_and_twins`."""
    shares = set() if shares is None else shares
    sample = np.zeros(6)

    def add(weight, values, equity, context, is_root):
        sample[0] += weight * to_root(root, context, is_root, equity)
        sample[1:] += weight * (values if is_root else outcome.flip(values))

    def value_of(boards, context):
        values = network.evaluate(boards)
        equities = cube_equities(values, context, timing(boards))
        return values, best_equities(equities, context)

    # Packed board, situation, turn, whether the cube may be turned first, weight: the last goes on.
    waiting = [(start.packed[None], *start.situation, 0, start.cube_first, 1.0)]
    branch = 0
    while waiting:
        slow_branch(network, settings, rollout, trial, branch, waiting, value_of, add, shares)
        branch += 1
    return sample


def slow_branch(network, settings, rollout, trial, branch, waiting, value_of, add, shares):
    """A game to its end, from what was put by last; it puts by another where the cube is turned."""
    packed, context, is_root, begin, cube_first, share = waiting.pop()
    for turn in range(begin, settings.truncate or 1000):
        if is_over(movegen.unpack(packed))[0]:
            break
        values, _ = value_of(packed, context)
        if turn > begin or cube_first:
            actions = cube_actions(values, context, timing(packed))
            if actions.doubles[0]:
                if not actions.takes[0]:
                    add(share, values[0], 1.0, context, is_root)
                    return
                turns = 2 if context.beavers and actions.beavers[0] else 1
                context = replace(context, cube=context.cube << turns, owner=Owner.OPPONENT)
                shares.add(share)
                if settings.reduce_variance and share > 1 / 16:
                    share /= 2
                    waiting.append((packed, context, is_root, turn, False, share))
        dice = np.empty((1, 2), np.int8)
        trial_dice(settings.seed, trial, branch, turn, rollout._method.orders, dice)
        context, is_root = context.flipped(), not is_root
        for (high, low), weight in zip(ROLLS, WEIGHTS, strict=True):
            results, _ = movegen.legal_results(packed, np.array([[high, low]], np.int8))
            values, equities = value_of(results, context)
            off = results[:, 1, OFF]
            best = np.lexsort((-off, outcome.equity(values), equities))[0]
            thrown = (high, low) == (dice.max(), dice.min())
            if settings.reduce_variance:
                add(share * (weight / 36 - thrown), values[best], equities[best], context, is_root)
            if thrown:
                following = results[best : best + 1]
        packed = following
    values, equities = value_of(packed, context)
    add(share, values[0], equities[0], context, is_root)


ROOTS = {
    "money": CubeContext(),
    "Jacoby, beavers": CubeContext(jacoby=True, beavers=True),
    "cubeless": CubeContext().without_cube(),
    "match": CubeContext(away=(5, 3), cube=2, owner=Owner.ME),
    "after the Crawford game": CubeContext(away=(4, 1)),
}


@pytest.mark.parametrize("reduced", [False, True], ids=["plain", "reduced"])
@pytest.mark.parametrize("root", ROOTS.values(), ids=ROOTS)
def test_a_trial_is_what_its_definition_says(root, reduced, random_network, played_boards):
    network = random_network(16, 8, scale=3.0)
    settings = Settings(truncate=14, reduce_variance=reduced, bearoff=False, seed=SEED)
    starts = starts_in(root, played_boards_of_games(played_boards))
    for sample, twin in trials_and_twins(network, root, starts, settings, 3):
        assert sample == pytest.approx(twin, abs=2e-5)


def test_a_trial_splits_no_more_than_four_times(random_network, played_boards):
    """By a net that likes to double and to take at every turn, so that the cube goes up and up."""
    net = random_network(16, 8, scale=0.5)
    layers = [*net.layers[:-1], (net.layers[-1][0], np.array([1.1, -3, -6, -3, -6], np.float32))]
    network = Network.of_layers(net.encoder, net.variant, layers, "eager")
    settings = Settings(truncate=9, bearoff=False, seed=SEED)
    starts = starts_in(ROOTS["money"], played_boards_of_games(played_boards)[:4])
    shares = set()

    for sample, twin in trials_and_twins(network, ROOTS["money"], starts, settings, 1, shares):
        assert sample == pytest.approx(twin, abs=2e-5)

    assert shares == {1, 1 / 2, 1 / 4, 1 / 8, 1 / 16}


def starts_in(root: CubeContext, boards: np.ndarray) -> list[Start]:
    """The boards with either side on roll, some before the cube may be turned."""
    return [
        Start(str(row), board, (root, True) if row % 2 else (root.flipped(), False), row % 3 > 0)
        for row, board in enumerate(movegen.pack(boards))
    ]


def trials_and_twins(network, root, starts, settings, trials, shares=None):
    """Each trial of a rollout and its twin; shares: a set to which is added what share of a trial
    each branch was when the cube was turned in it.
    """
    rollout = Rollout(network, root, starts, settings, alternatives=False)
    rollout.run(Limits(trials), workers=1)
    for start, samples in zip(starts, rollout.samples, strict=True):
        for trial, sample in enumerate(samples):
            yield sample, slow_trial(network, start, root, settings, rollout, trial, shares)


def played_boards_of_games(played_boards) -> np.ndarray:
    """int8[8, 2, 26]: boards that games reach, some near their end, none finished."""
    boards = played_boards(BACKGAMMON, 2800)
    return boards[~is_over(boards)][::349][:8]
