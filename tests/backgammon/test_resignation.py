import numpy as np
import pytest

from engine.backgammon.match import Match, resign
from engine.backgammon.position import Position
from engine.backgammon.resignation import greatest_win, is_certain_gain

CONTACT = Position.start().board


def board(on_roll: dict[int, int], opponent: dict[int, int]) -> np.ndarray:
    rows = np.zeros((2, 26), np.int8)
    for row, points in enumerate((on_roll, opponent)):
        for point, count in points.items():
            rows[row, point] = count
        rows[row, 0] = 15 - rows[row].sum()
    return rows


HOME_ALL = {6: 5, 5: 5, 4: 5}
RACE = board(HOME_ALL, {2: 3})  # the player on roll has nobody off
BEHIND = board({6: 14, 19: 1}, {5: 2})  # one of his checkers is in the opponent's home


@pytest.mark.parametrize(
    ("rows", "kind"),
    [
        (CONTACT, 3),
        (RACE, 2),
        (BEHIND, 3),
        (board({25: 1, 6: 14}, {1: 2}), 3),  # fault B083: the bar counts
        (board({20: 2, 6: 12}, {8: 15}), 1),
    ],
)
def test_the_greatest_win_still_possible(rows, kind):
    assert greatest_win(rows, winner=1) == kind
    assert greatest_win(rows[::-1], winner=0) == kind


@pytest.mark.parametrize(
    ("rows", "match", "certain_from"),
    [
        (CONTACT, Match(), 3),
        (RACE, Match(), 2),
        (BEHIND, Match(), 3),
        (RACE, Match(jacoby=True), 1),
        (RACE, Match(jacoby=True, cube=2, cube_owner=0), 2),
        (CONTACT, Match(length=7, score=(6, 0)), 1),
        (CONTACT, Match(length=7, score=(5, 0)), 2),
        (CONTACT, Match(length=7, score=(5, 0), cube=2, cube_owner=0), 1),
        (CONTACT, Match(length=7, score=(0, 6)), 3),
    ],
)
@pytest.mark.parametrize("dice", [None, (6, 5)])
def test_only_what_costs_nothing_is_certain(rows, match, certain_from, dice):
    """Player 1 is on roll and resigns; player 0, the opponent on the board, answers."""
    for kind in (1, 2, 3):
        offered = resign(match, kind)
        assert is_certain_gain(rows, offered) == (kind >= certain_from)
