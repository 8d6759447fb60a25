"""Which game plan a position belongs to."""

import numpy as np
import pytest

from engine.backgammon.variants import BACKGAMMON
from engine.kernels import movegen
from engine.kernels.plans import PLANS, plans_of


def plan(board) -> int:
    return int(plans_of(movegen.pack(np.asarray(board, np.int8)[None]).reshape(1, 64))[0])


def board_of(mine: dict[int, int], theirs: dict[int, int]) -> np.ndarray:
    """int8[2, 26] with so many checkers on these points of each side, the rest borne off."""
    board = np.zeros((2, 26), np.int8)
    for row, points in zip(board, (mine, theirs), strict=True):
        for point, count in points.items():
            row[point] = count
        row[0] = 15 - row.sum()
    return board


@pytest.mark.parametrize(
    ("mine", "theirs", "expected"),
    [
        ({6: 10, 1: 5}, {6: 10, 3: 5}, 0),  # race
        ({12: 15}, {12: 15}, 0),  # passed, but just
        ({12: 15}, {13: 15}, 0),
        ({12: 15}, {14: 15}, 1),  # contact
        ({24: 1, 6: 14}, {6: 15}, 1),  # one back is as none
        ({24: 2, 6: 13}, {24: 2, 6: 13}, 1 + 3 + 1),  # an anchor each
        ({19: 1, 25: 1, 6: 13}, {6: 15}, 1 + 3),  # the bar is back too
        ({22: 2, 20: 2, 6: 11}, {6: 15}, 1 + 6),  # a backgame
        ({6: 15}, {25: 3, 6: 12}, 1 + 2),
        ({25: 15}, {25: 15}, 1 + 6 + 2),
        ({18: 15}, {18: 15}, 1),  # the 18-point is not yet home
    ],
)
def test_the_plan_of_a_position(mine, theirs, expected):
    assert plan(board_of(mine, theirs)) == expected
    assert 0 <= expected < PLANS


def test_the_opening_has_two_checkers_back_on_both_sides():
    assert plan(BACKGAMMON.start) == 5
