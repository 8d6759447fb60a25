"""The board in text."""

import numpy as np
import pytest

from engine.backgammon.position import Position
from engine.backgammon.variants import HYPERGAMMON
from engine.interfaces.board_text import draw

START = """\
 +13-14-15-16-17-18-+---+19-20-21-22-23-24-+
 | X           O    |   | O              X |  O  opponent: 167 pips, 0 off
 | X           O    |   | O              X |
 | X           O    |   | O                |
 | X                |   | O                |
 | X                |   | O                |
 |                  |BAR|                  |
 | O                |   | X                |
 | O                |   | X                |
 | O           X    |   | X                |
 | O           X    |   | X              O |
 | O           X    |   | X              O |  X  on roll: 167 pips, 0 off
 +12-11-10--9--8--7-+---+-6--5--4--3--2--1-+"""

# X: seven on the 6-point, two on the bar, six off. O: twelve on its 1-point, one on the bar, two
# off.
CROWDED = """\
 +13-14-15-16-17-18-+---+19-20-21-22-23-24-+
 |                  |   |                O |  O  them: 37 pips, 2 off
 |                  |   |                O |
 |                  |   |                O |
 |                  |   |                O |
 |                  | O |               12 |
 |                  |BAR|                  |
 |                  | X | 7                |
 |                  | X | X                |
 |                  |   | X                |
 |                  |   | X                |
 |                  |   | X                |  X  me: 92 pips, 6 off
 +12-11-10--9--8--7-+---+-6--5--4--3--2--1-+"""


def crowded() -> Position:
    board = np.zeros((2, 26), np.int8)
    board[0, [6, 25, 0]] = 7, 2, 6
    board[1, [1, 25, 0]] = 12, 1, 2
    return Position(board)


def test_the_start():
    assert draw(Position.start()) == START


def test_stacks_bar_and_names():
    assert draw(crowded(), ("me", "them")) == CROWDED


@pytest.mark.parametrize("position", [Position.start(), crowded(), Position.start(HYPERGAMMON)])
def test_it_fits_a_terminal(position):
    lines = draw(position, ("you", "Acepoint")).splitlines()

    assert len(lines) == 13
    assert max(map(len, lines)) <= 80


def test_both_sides_see_the_same_checkers():
    seen = draw(crowded())
    from_the_other_side = draw(crowded().swapped())

    assert seen.count("X") == from_the_other_side.count("O")
    assert seen.count("O") == from_the_other_side.count("X")
