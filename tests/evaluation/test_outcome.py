import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.evaluation import outcome

POINTS = np.array([1, 2, 3, -1, -2, -3])


@st.composite
def probabilities(draw):
    """Any five that are possible: each part at most its whole."""
    shares = st.floats(0, 1, width=32)
    win = draw(shares)
    gammon, lost_gammon = win * draw(shares), (1 - win) * draw(shares)
    five = [win, gammon, gammon * draw(shares), lost_gammon, lost_gammon * draw(shares)]
    return np.array(five, np.float32)


def test_certain_outcomes_by_hand():
    assert outcome.NAMES == (
        "win", "win_gammon", "win_backgammon", "lose_gammon", "lose_backgammon",
    )  # fmt: skip
    np.testing.assert_array_equal(
        outcome.of_points(POINTS),
        [
            [1, 0, 0, 0, 0],
            [1, 1, 0, 0, 0],
            [1, 1, 1, 0, 0],
            [0, 0, 0, 0, 0],
            [0, 0, 0, 1, 0],
            [0, 0, 0, 1, 1],
        ],
    )


def test_certain_outcomes_are_worth_their_points():
    np.testing.assert_array_equal(outcome.equity(outcome.of_points(POINTS)), POINTS)


def test_a_certain_outcome_flipped_is_the_opposite_one():
    np.testing.assert_array_equal(
        outcome.flip(outcome.of_points(POINTS)), outcome.of_points(-POINTS)
    )


# Fault B085: gammons that include backgammons in one place and exclude them in another.
def test_the_gammon_chance_includes_the_backgammons():
    five = np.array([0.5, 0.2, 0.05, 0.1, 0.02], np.float32)

    # 0.30 single, 0.15 gammon, 0.05 backgammon won; 0.40, 0.08, 0.02 lost
    by_hand = 0.30 + 2 * 0.15 + 3 * 0.05 - 0.40 - 2 * 0.08 - 3 * 0.02
    assert outcome.equity(five) == pytest.approx(by_hand)


@given(probabilities())
def test_flipping_twice_changes_nothing_and_once_turns_the_equity_round(five):
    flipped = outcome.flip(five)

    np.testing.assert_allclose(outcome.flip(flipped), five, atol=1e-7)
    assert outcome.equity(flipped) == pytest.approx(-outcome.equity(five), abs=1e-6)
    assert flipped.dtype == np.float32


def test_flipping_leaves_its_argument_alone():
    five = np.array([0.6, 0.2, 0.01, 0.1, 0.0], np.float32)
    outcome.flip(five)
    assert five[0] == np.float32(0.6)


def test_whole_arrays_of_any_shape():
    grid = outcome.of_points(POINTS).reshape(2, 3, 5)
    np.testing.assert_array_equal(outcome.equity(grid), POINTS.reshape(2, 3))
    np.testing.assert_array_equal(outcome.flip(grid)[1], outcome.of_points(-POINTS)[3:])
