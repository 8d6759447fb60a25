"""Self-play and targets: the same for any number of workers, and what their names say."""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest

from engine.backgammon.board import is_over
from engine.backgammon.variants import BACKGAMMON, HYPERGAMMON
from engine.evaluation import outcome
from engine.kernels import movegen
from training.config import SelfPlay
from training.selfplay import Trajectories, play
from training.targets import exact_backups, exact_targets, td_targets, unfinished

GAMES = 12
DEFAULT = SelfPlay()


@pytest.fixture(scope="module")
def network(random_network):
    return random_network(16, 8)


@pytest.fixture(scope="module")
def pool():
    with ThreadPoolExecutor(3) as pool:
        yield pool


def played(network, pool, workers=1, settings=DEFAULT, variant=HYPERGAMMON) -> Trajectories:
    start = movegen.pack(variant.start[None])
    generator = np.random.default_rng(3)
    return play(network, start, GAMES, settings, generator, pool, workers)


def boards_of(words):
    return movegen.unpack(words.view(np.int8).reshape(-1, 2, 32))


def assert_same(one: Trajectories, other: Trajectories) -> None:
    for array, same in zip(one, other, strict=True):
        np.testing.assert_array_equal(array, same)


@pytest.mark.parametrize("workers", [2, 5, GAMES + 4])
def test_the_number_of_workers_changes_no_game(workers, network, pool):
    assert_same(played(network, pool, workers), played(network, pool))


def test_every_game_is_played_to_its_end(network, pool):
    trajectories = played(network, pool)
    over = is_over(boards_of(trajectories.boards))
    assert len(trajectories.offsets) == GAMES + 1
    np.testing.assert_array_equal(np.flatnonzero(over), trajectories.offsets[1:] - 1)
    np.testing.assert_array_equal(unfinished(trajectories), ~over)


def test_games_start_at_random_only_when_asked(network, pool):
    none = played(network, pool, settings=SelfPlay(random_share=0.0, explored_share=0.0))
    no_plays = played(
        network, pool, settings=SelfPlay(random_share=1.0, random_plays=0, explored_share=0.0)
    )
    all_random = played(network, pool, settings=SelfPlay(random_share=1.0, random_plays=40))

    assert_same(none, no_plays)
    assert len(all_random.boards) != len(none.boards)


def test_td_targets_leave_out_what_is_known_and_end_at_the_outcome(network, pool):
    trajectories = played(network, pool, settings=SelfPlay(random_share=0.0, explored_share=0.0))

    boards, targets = td_targets(trajectories, 0.7)

    kept = unfinished(trajectories)
    np.testing.assert_array_equal(boards, trajectories.boards[kept])
    assert len(targets) == len(boards) == len(trajectories.boards) - GAMES
    ends = trajectories.offsets[1:] - np.arange(1, GAMES + 1) - 1
    outcomes = trajectories.values[trajectories.offsets[1:] - 1]
    np.testing.assert_allclose(targets[ends], outcome.flip(outcomes), atol=1e-6)


def test_td_0_is_what_the_net_thinks_of_the_next_position(network, pool):
    trajectories = played(network, pool, settings=SelfPlay(random_share=0.0, explored_share=0.0))
    _, targets = td_targets(trajectories, 0.0)
    following = np.concatenate(
        [trajectories.values[first + 1 : end] for first, end in pairwise(trajectories.offsets)]
    )
    np.testing.assert_allclose(targets, outcome.flip(following), atol=1e-6)


@pytest.mark.parametrize("workers", [1, 2, 3, 50])
def test_exact_backups_are_those_of_the_net_however_shared_out(workers, network, pool):
    trajectories = played(network, pool, variant=BACKGAMMON)
    boards = trajectories.boards[unfinished(trajectories)][:40]

    targets, asked = exact_backups(network, boards, pool, workers)

    packed = boards.view(np.int8).reshape(-1, 2, 32)
    np.testing.assert_array_equal(targets, network.back_up(packed)[0])
    results, _ = movegen.legal_results_all_rolls(packed)
    assert asked == len(results)


def test_after_a_random_play_td_learns_nothing(network, pool):
    trajectories = played(network, pool, settings=SelfPlay(random_share=1.0, random_plays=9))
    boards, _ = td_targets(trajectories, 0.7)

    assert not trajectories.best_follows.all()
    kept = unfinished(trajectories) & trajectories.best_follows
    np.testing.assert_array_equal(boards, trajectories.boards[kept])


@pytest.mark.parametrize("decay", [0.0, 0.7, 1.0])
def test_what_a_random_play_loses_is_taught_to_no_position(decay, network, pool):
    """Here the net is right all the way, but for what such plays lose."""
    trajectories = played(network, pool, settings=SelfPlay(random_share=0.5, explored_share=0.2))
    truth = trajectories.values.copy()
    for first, end in pairwise(trajectories.offsets):
        for row in range(end - 2, first - 1, -1):
            if trajectories.best_follows[row]:
                truth[row] = outcome.flip(truth[row + 1])

    boards, targets = td_targets(trajectories._replace(values=truth), decay)

    kept = unfinished(trajectories) & trajectories.best_follows
    assert 50 < len(boards) == kept.sum() < unfinished(trajectories).sum() - 20
    np.testing.assert_allclose(targets, truth[kept], atol=1e-6)


def test_exact_targets_are_the_backups_where_lambda_is_0_and_correct_them_elsewhere(network, pool):
    trajectories = played(network, pool, variant=BACKGAMMON)

    boards, plain, asked = exact_targets(network, trajectories, 0.0, pool, 2)
    _, corrected, _ = exact_targets(network, trajectories, 0.9, pool, 1)

    backups, asked_alone = exact_backups(network, boards, pool, 1)
    np.testing.assert_array_equal(plain, backups)
    assert asked == asked_alone
    np.testing.assert_array_equal(boards, trajectories.boards[unfinished(trajectories)])
    assert (corrected != plain).any(axis=1).mean() > 0.9
    drawn = ~trajectories.best_follows[unfinished(trajectories)]
    assert drawn.sum() > 5
    assert (corrected != plain)[drawn].any(axis=1).mean() > 0.9, "also behind a random play"
    before_the_end = trajectories.offsets[1:] - np.arange(1, GAMES + 1) - 1
    np.testing.assert_allclose(corrected[before_the_end], plain[before_the_end], atol=1e-6)


def test_exact_targets_are_right_on_average_however_rare_the_result(network, pool):
    settings = SelfPlay(random_share=0.0, explored_share=0.0)
    start = movegen.pack(HYPERGAMMON.start[None])
    games = 2000
    trajectories = play(network, start, games, settings, np.random.default_rng(3), pool, 3)

    _, targets, _ = exact_targets(network, trajectories, 1.0, pool, 3)

    turns = np.diff(trajectories.offsets) - 1
    returns = targets[trajectories.offsets[:-1] - np.arange(games)]
    outcomes = trajectories.values[trajectories.offsets[1:] - 1]
    odd = turns % 2 == 1
    outcomes[odd] = outcome.flip(outcomes[odd])
    errors = returns - outcomes
    assert (np.abs(errors.mean(0)) < 4 * errors.std(0) / games**0.5).all()
    backgammons = outcomes[:, 2].mean()
    assert 0 < backgammons < 0.1
