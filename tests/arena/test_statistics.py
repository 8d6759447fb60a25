import numpy as np
import pytest

from engine.arena.schedule import RoundRobin
from engine.arena.statistics import estimate, estimate_ratio, ratings


def test_estimate_of_known_values() -> None:
    assert estimate(np.array([1.0, 3.0])) == pytest.approx((2.0, 12.706))
    assert estimate(np.array([0.0, 0.0, 0.0])) == (0.0, 0.0)
    assert estimate(np.array([2.0])) == (2.0, None)


@pytest.mark.parametrize("count", [2, 3, 5, 12, 31, 32, 200])
def test_intervals_hold_the_truth_19_times_in_20(count: int) -> None:
    generator = np.random.default_rng(1)
    held = 0
    for _ in range(2000):
        mean, ci95 = estimate(generator.normal(0.5, 2, count))
        assert ci95 is not None
        held += abs(mean - 0.5) < ci95
    assert 1860 < held < 1940


def test_intervals_of_points_hold_the_truth_19_times_in_20() -> None:
    generator = np.random.default_rng(1)
    held = 0
    for _ in range(1000):
        mean, ci95 = estimate(generator.choice([-1.0, 0.5, 3.0], 200))
        assert ci95 is not None
        held += abs(mean - 2.5 / 3) < ci95
    assert 930 < held < 970


def test_a_ratio_over_equal_weights_is_a_mean() -> None:
    values = np.array([2.0, -3.0, 1.0, 4.0])
    mean, ci95 = estimate(values / 2)

    assert estimate_ratio(values, np.full(4, 2)) == pytest.approx((mean, ci95))
    assert estimate_ratio(np.array([6]), np.array([4])) == (1.5, None)


def test_the_interval_of_a_ratio_holds_the_truth_19_times_in_20() -> None:
    """Points a game, 0.25, of matches that have three games or nine."""
    generator = np.random.default_rng(3)
    held = 0
    for _ in range(1000):
        games = generator.choice([3, 9], 200)
        points = generator.binomial(games, 0.25)
        ratio, ci95 = estimate_ratio(points, games)
        assert ci95 is not None
        held += abs(ratio - 0.25) < ci95
    assert 930 < held < 970


def test_ratings_are_the_least_squares_solution() -> None:
    generator = np.random.default_rng(2)
    meetings = RoundRobin(("a", "b", "c", "d"), 30).meetings
    scores = {meeting: generator.integers(-3, 4, (30, 2)) for meeting in meetings}
    # The normal equations solved at large: one row a meeting, and one for the sum of 0.
    rows = np.zeros((len(meetings) + 1, 4))
    for row, (a, b) in enumerate(meetings):
        rows[row, a], rows[row, b] = 1, -1
    rows[-1] = 1
    means = [points.mean() for points in scores.values()]
    solution = np.linalg.lstsq(rows, np.array([*means, 0.0]), rcond=None)[0]

    rated = ratings(4, scores)

    assert {rating.player: rating.rating for rating in rated} == pytest.approx(
        dict(enumerate(solution))
    )
    assert [rating.rating for rating in rated] == pytest.approx(sorted(solution, reverse=True))


def test_two_players_share_the_difference() -> None:
    scores = np.array([[1, 1], [2, -1], [3, 1], [-1, 0]])
    mean, ci95 = estimate(scores.mean(axis=1))
    assert ci95 is not None

    first, second = ratings(2, {(0, 1): scores})

    assert (first.player, second.player) == (0, 1)
    assert first.rating - second.rating == pytest.approx(mean)
    assert first.ci95 == second.ci95 == pytest.approx(ci95 / 2)


def test_chances_shared_by_all_meetings_count_in_the_errors() -> None:
    lucky = np.repeat(np.array([[2], [-1], [2], [-2]]), 2, axis=1)
    nothing = np.zeros((4, 2))

    together = ratings(3, {(0, 1): lucky, (0, 2): lucky, (1, 2): nothing})
    apart = ratings(3, {(0, 1): lucky, (0, 2): lucky[::-1], (1, 2): nothing})

    assert together[0].player == apart[0].player == 0
    assert together[0].rating == pytest.approx(apart[0].rating)
    assert together[0].ci95 is not None and apart[0].ci95 is not None
    assert together[0].ci95 > apart[0].ci95
