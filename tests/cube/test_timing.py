"""How well the cube can be timed: in contact, in a race, at the last roll."""

from itertools import pairwise

import numpy as np
import pytest

from engine.backgammon.dice import WEIGHTS
from engine.cube.context import CubeContext, Owner, cubes_of
from engine.cube.equity import cube_equities, timing
from engine.kernels.movegen import legal_results_all_rolls, pack


def test_the_length_of_a_race_is_the_same_from_both_sides():
    """Efficiency by one side's pips alone would alternate from ply to ply."""
    board = np.zeros((2, 26), np.int8)
    board[0, [0, 1, 3]] = 11, 2, 2
    board[1, [0, 2, 6]] = 8, 3, 4
    boards = pack(np.array([board, board[::-1]]))

    ready, _ = timing(boards)
    assert ready[0] == ready[1] == pytest.approx((2 + 6 + 6 + 24) / 60)


def test_a_cube_is_timed_best_in_contact_and_not_at_all_at_the_last_roll():
    start = np.zeros((2, 26), np.int8)
    start[:, [24, 13, 8, 6]] = 2, 5, 3, 5
    contact = start.copy()
    contact[0], contact[1] = 0, 0
    contact[0, [25, 1]], contact[1, [1, 3]] = (1, 14), (13, 2)
    last = np.zeros((2, 26), np.int8)
    last[:, [0, 1]] = 14, 1

    ready, ending = timing(pack(np.array([start, contact, last])))
    assert ready[0] == ready[1] == 1
    assert ready[2] < 0.05
    assert ending.tolist() == [0, 0, 1]


LAST_ROLLS = [
    CubeContext(),
    CubeContext(jacoby=True, beavers=True),
    CubeContext(owner=Owner.ME, turns_left=2),
    *map(CubeContext, [(2, 4), (2, 3), (4, 2), (3, 3), (5, 5), (9, 2), (1, 3), (3, 1)]),
    *(CubeContext(away, 2, Owner.ME) for away in [(5, 5), (3, 5), (5, 3), (4, 4), (11, 3)]),
]


@pytest.mark.parametrize("context", LAST_ROLLS, ids=str)
def test_at_the_last_roll_nobody_turns_the_cube_again(context):
    """The opponent has one checker, on his ace point: whoever is on roll wins now or never."""
    sides = [(first, second) for first in range(1, 7) for second in range(first + 1)]
    boards = np.zeros((len(sides), 2, 26), np.int8)
    for (mine, theirs), (first, second) in zip(boards, sides, strict=True):
        mine[first] += 1
        mine[second] += 1  # 0 is borne off
        mine[0] += 13
        theirs[[0, 1]] = 14, 1
    when = timing(pack(boards))
    rows = np.zeros((len(sides), 5), np.float32)
    rows[:, 0] = when.ending

    equities = cube_equities(rows, context, when)

    stakes = cubes_of([context]).stakes[0]
    (won, lost), p = stakes[0, [0, 3]], when.ending
    for level, found in enumerate((equities.no_double, equities.double_take)):
        value = p * stakes[level, 0] + (1 - p) * stakes[level, 3]
        np.testing.assert_allclose(found, (2 * value - won - lost) / (won - lost), atol=1e-6)


def test_the_chance_to_bear_off_with_the_next_roll_is_that_of_the_moves():
    """Counted by the move generator, for up to five checkers in a race."""
    generator = np.random.default_rng(4)
    boards = np.zeros((300, 2, 26), np.int8)
    for mine, theirs in boards:
        points = generator.integers(1, generator.choice([4, 7, 13]), generator.integers(1, 6))
        np.add.at(mine, points, 1)
        mine[0] = 15 - len(points)
        theirs[[0, 1]] = 13, 2
    packed = pack(boards)
    results, offsets = legal_results_all_rolls(packed)
    over = (results[:, 1, 1:26] == 0).all(axis=1)
    ends = np.array([[over[first:last].any() for first, last in pairwise(row)] for row in offsets])

    np.testing.assert_allclose(timing(packed).ending, ends @ WEIGHTS / 36)
