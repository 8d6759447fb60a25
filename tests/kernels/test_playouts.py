"""Self-played games: legal step by step, the same however they are shared out; TD(lambda)."""

from itertools import pairwise

import numpy as np
import pytest

from engine.backgammon.board import is_over, outcome_points
from engine.backgammon.variants import VARIANTS
from engine.bot import released_net
from engine.evaluation import outcome
from engine.evaluation.network import Network
from engine.kernels import movegen
from engine.kernels.dealing import game_seeds, opening_rolls, rolls
from engine.kernels.net import KEPT
from engine.kernels.playouts import MAX_TURNS, lambda_returns, play_games

GAMES = 24


def words(packed: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(packed).reshape(-1, 64).view(np.uint64)


def boards_of(rows: np.ndarray) -> np.ndarray:
    return rows.view(np.int8).reshape(-1, 2, 32)


@pytest.fixture(scope="module")
def network(random_network):
    return random_network(16, 8, scale=2.0)


@pytest.fixture(params=VARIANTS.values(), ids=VARIANTS)
def variant(request):
    return request.param


@pytest.fixture
def games(variant, network):
    """Starts, seeds and how many random plays; every third game begins with some."""
    starts = words(movegen.pack(np.tile(variant.start, (GAMES, 1, 1))))
    seeds = game_seeds(5, np.arange(GAMES))
    random_plays = np.where(np.arange(GAMES) % 3 == 0, np.arange(GAMES), 0)
    return network.kernel, starts, seeds, random_plays, 0.0


def turns_of(start, steps, seed):
    """The board int8[T, 2, 32] and the roll int8[T, 2] from which each step of a game came."""
    dice = [opening_rolls(seed), *(rolls(seed, turn) for turn in range(1, len(steps)))]
    return np.concatenate([boards_of(start), steps[:-1]]), np.concatenate(dice)


def test_every_step_is_a_legal_result_of_the_step_before_it(games, network):
    _, starts, seeds, random_plays, _ = games
    boards, values, offsets, own, _ = play_games(*games)

    assert len(offsets) == GAMES + 1 and offsets[-1] == len(boards) == len(values)
    for game in range(GAMES):
        steps = boards_of(boards[offsets[game] : offsets[game + 1]])
        before, dice = turns_of(starts[game : game + 1], steps, seeds[game : game + 1])
        results, bounds = movegen.legal_results(before, dice)
        for turn, step in enumerate(steps):
            legal = results[bounds[turn] : bounds[turn + 1]]
            assert (legal == step).all(axis=(1, 2)).any()
        chosen, _ = network.choose(before, dice)
        by_the_net = slice(int(random_plays[game]), None)
        np.testing.assert_array_equal(steps[by_the_net], chosen[by_the_net])
        own_plays = np.arange(len(steps)) >= random_plays[game]
        np.testing.assert_array_equal(own[offsets[game] : offsets[game + 1]], own_plays)


def test_a_game_ends_when_a_side_has_borne_off_and_not_before(games):
    boards, values, offsets, *_ = play_games(*games)

    over = is_over(movegen.unpack(boards_of(boards)))

    last = offsets[1:] - 1
    np.testing.assert_array_equal(np.flatnonzero(over), last)
    points = outcome_points(movegen.unpack(boards_of(boards[last])))
    assert (points < 0).all()  # the player who would be on roll has lost
    np.testing.assert_array_equal(values[last], outcome.of_points(points))


def test_the_values_are_what_the_net_thinks_of_the_positions(games, network):
    boards, values, *_ = play_games(*games)
    np.testing.assert_allclose(values, network.evaluate(boards_of(boards)), atol=1e-5)


def test_a_random_play_is_any_legal_one_with_equal_chance(network):
    seeds = game_seeds(9, np.arange(6000))
    seeds = seeds[opening_rolls(seeds).sum(axis=1) == 3]
    start = movegen.pack(VARIANTS["backgammon"].start[None])
    games = (words(start).repeat(len(seeds), 0), seeds, np.ones(len(seeds), np.int64), 0.0)

    boards, _, offsets, *_ = play_games(network.kernel, *games)

    legal, _ = movegen.legal_results(start, np.array([[2, 1]], np.int8))
    first = boards_of(boards[offsets[:-1]])
    counts = (first[:, None] == legal).all(axis=(2, 3)).sum(axis=0)
    assert counts.sum() == len(seeds) > 300
    expected = len(seeds) / 15
    assert ((counts - expected) ** 2 / expected).sum() < 36.1  # 14 degrees of freedom, 1 in 1000


@pytest.fixture(scope="module")
def pruned_network():
    return Network.load(released_net())


def test_explored_plays_are_among_the_pruning_nets_best(pruned_network):
    """As often as asked, and each of the results it would evaluate as often as the next."""
    net = pruned_network.quick
    starts = words(movegen.pack(np.tile(VARIANTS["backgammon"].start, (2000, 1, 1))))
    seeds = game_seeds(3, np.arange(2000))
    boards, values, offsets, own, _ = play_games(net, starts, seeds, np.zeros(2000, np.int64), 0.2)

    first = offsets[:-1]
    assert abs((~own).mean() - 0.2) < 0.01
    np.testing.assert_allclose(values, pruned_network.evaluate(boards_of(boards)), atol=1e-5)
    rolled_31 = (np.sort(opening_rolls(seeds)) == [1, 3]).all(axis=1)
    explored = boards[first[rolled_31 & ~own[first]]]
    distinct = np.unique(explored, axis=0)
    assert 2 <= len(distinct) <= KEPT
    best = boards[first[rolled_31 & own[first]]]
    assert (best == best[0]).all() and (distinct == best[0]).all(axis=1).any()


def test_without_a_pruning_net_only_rolls_of_few_results_are_explored(network):
    starts = words(movegen.pack(np.tile(VARIANTS["backgammon"].start, (50, 1, 1))))
    seeds, none = game_seeds(3, np.arange(50)), np.zeros(50, np.int64)
    boards, _, offsets, own, _ = play_games(network.kernel, starts, seeds, none, 1.0)

    for game in range(50):
        steps = boards_of(boards[offsets[game] : offsets[game + 1]])
        before, dice = turns_of(starts[game : game + 1], steps, seeds[game : game + 1])
        _, bounds = movegen.legal_results(before, dice)
        np.testing.assert_array_equal(
            own[offsets[game] : offsets[game + 1]], np.diff(bounds) > KEPT
        )


@pytest.mark.parametrize("cuts", [[5], [1, 2, 20], list(range(GAMES))])
def test_a_game_is_the_same_however_the_games_are_shared_out(games, cuts):
    net, *each, _ = games
    boards, values, offsets, own, evaluated = play_games(net, *each, 0.2)

    slices = [np.array_split(array, cuts) for array in each]
    parts = [play_games(net, *part, 0.2) for part in zip(*slices, strict=True)]

    np.testing.assert_array_equal(np.concatenate([part[0] for part in parts]), boards)
    np.testing.assert_array_equal(np.concatenate([part[1] for part in parts]), values)
    lengths = np.concatenate([np.diff(part[2]) for part in parts])
    np.testing.assert_array_equal(lengths, np.diff(offsets))
    np.testing.assert_array_equal(np.concatenate([part[3] for part in parts]), own)
    assert sum(part[4] for part in parts) == evaluated


def test_many_long_games_fit(network):
    """The memory for the steps must grow, and keep what it holds."""
    starts = words(movegen.pack(np.tile(VARIANTS["nackgammon"].start, (80, 1, 1))))
    games = (network.kernel, starts, game_seeds(6, np.arange(80)), np.full(80, 500), 0.0)
    boards, _, offsets, *_ = play_games(*games)

    assert len(boards) > 80 * 64 + 1
    last = play_games(games[0], *(array[-1:] for array in games[1:-1]), 0.0)
    np.testing.assert_array_equal(boards[offsets[-2] :], last[0])


def test_a_game_that_cannot_end_is_left_unfinished(network):
    """Both sides are on the bar against a closed board: nobody moves ever again."""
    packed = np.zeros((1, 2, 32), np.int8)
    packed[0, :, 1:7] = 2
    packed[0, :, 25] = 3
    seeds = game_seeds(1, np.arange(1))

    boards, _, offsets, *_ = play_games(
        network.kernel, words(packed), seeds, np.zeros(1, np.int64), 0.0
    )

    assert offsets.tolist() == [0, MAX_TURNS]
    assert (boards_of(boards) == packed).all()


def literal_returns(values, decay):
    """G_t of one game: the weighted mean of the outcomes of looking 1, 2, ... turns ahead."""
    last = len(values) - 1
    targets = [values[last]]
    for row in range(last):
        seen = [
            values[row + n] if n % 2 == 0 else outcome.flip(values[row + n])
            for n in range(1, last - row + 1)
        ]
        weights = [(1 - decay) * decay ** (n - 1) for n in range(1, len(seen))]
        weights.append(decay ** (len(seen) - 1))
        targets.insert(-1, sum(w * value for w, value in zip(weights, seen, strict=True)))
    return np.array(targets)


def next_seen_from_here(values, offsets):
    """The value of the position that followed, for the player on roll; at the end its own."""
    one_step = values.copy()
    for first, end in pairwise(offsets.tolist()):
        one_step[first : end - 1] = outcome.flip(values[first + 1 : end])
    return one_step


def td_returns(values, offsets, decay):
    return lambda_returns(values, next_seen_from_here(values, offsets), offsets, decay)


def test_with_exact_backups_the_dice_add_no_luck():
    """Where the values are the truth, a lambda-return is the truth, whatever was rolled."""
    truth = np.random.default_rng(1).dirichlet(np.ones(5), 40).astype(np.float32)
    offsets = np.array([0, 15, 40])
    for decay in (0.0, 0.9, 1.0):
        np.testing.assert_array_equal(lambda_returns(truth, truth, offsets, decay), truth)


@pytest.mark.parametrize("decay", [0.0, 0.7, 1.0])
def test_lambda_returns_are_the_weighted_mean_of_all_looks_ahead(decay, games):
    _, values, offsets, *_ = play_games(*games)
    offsets = offsets[:6]
    values = values[: offsets[-1]]

    targets = td_returns(values, offsets, decay)

    expected = [
        literal_returns(values[first:end], decay) for first, end in pairwise(offsets.tolist())
    ]
    np.testing.assert_allclose(targets, np.concatenate(expected), atol=2e-5)


# Fault B127: a trained net that loses to random play, by the sign or the side of its targets.
def test_with_lambda_1_the_target_is_the_outcome_for_the_player_on_roll(games):
    _, values, offsets, *_ = play_games(*games)
    targets = td_returns(values, offsets, 1.0)

    for game in range(GAMES):
        first, last = offsets[game], offsets[game + 1] - 1
        loser = values[last]
        for row in range(first, last + 1):
            same_side = (last - row) % 2 == 0
            expected = loser if same_side else outcome.flip(loser)
            np.testing.assert_allclose(targets[row], expected, atol=1e-6)
