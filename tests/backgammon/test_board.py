import numpy as np
import pytest

from engine.backgammon.board import (
    BAR,
    OFF,
    Phase,
    is_over,
    outcome_points,
    phases,
    pips,
    swapped,
    validate,
)
from engine.backgammon.position import Position
from engine.backgammon.variants import BACKGAMMON, HYPERGAMMON, NACKGAMMON
from engine.errors import PositionError


def board_of(mine: dict[int, int], theirs: dict[int, int], checkers: int = 15) -> np.ndarray:
    board = np.zeros((2, 26), np.int8)
    for row, counts in zip(board, (mine, theirs), strict=True):
        for column, count in counts.items():
            row[column] = count
        row[OFF] = checkers - row[1:].sum()
    return board


@pytest.mark.parametrize(
    ("variant", "pip_count"), [(BACKGAMMON, 167), (NACKGAMMON, 194), (HYPERGAMMON, 69)]
)
def test_pips_of_the_starts(variant, pip_count):
    assert pips(variant.start).tolist() == [pip_count, pip_count]


def test_a_checker_on_the_bar_has_25_pips():
    assert pips(board_of({BAR: 2, 1: 1}, {24: 1})).tolist() == [51, 24]


def test_swapping_twice_is_nothing():
    board = board_of({6: 3}, {4: 2})
    assert (swapped(board) == board_of({4: 2}, {6: 3})).all()
    assert (swapped(swapped(board)) == board).all()


@pytest.mark.parametrize(
    ("mine", "theirs", "phase"),
    [
        ({24: 2}, {24: 2}, Phase.CONTACT),
        ({13: 1}, {13: 1}, Phase.CONTACT),  # their 13-point is my 12-point, behind my checker
        ({12: 1}, {12: 1}, Phase.RACE),
        ({13: 1}, {11: 1}, Phase.RACE),
        ({BAR: 1}, {1: 1}, Phase.CONTACT),
        ({BAR: 1}, {}, Phase.OVER),
        ({}, {3: 1}, Phase.OVER),
    ],
)
def test_phases(mine, theirs, phase):
    board = board_of(mine, theirs)
    assert phases(board) == phase
    assert phases(swapped(board)) == phase
    assert is_over(board) == (phase == Phase.OVER)


@pytest.mark.parametrize(
    ("loser", "points"),
    [
        ({1: 14}, 1),
        ({6: 15}, 2),
        ({18: 15}, 2),
        ({19: 1, 6: 14}, 3),
        ({BAR: 1, 6: 14}, 3),
        ({BAR: 1, 6: 13}, 1),  # one borne off before it was hit
        ({24: 1}, 1),
    ],
)
def test_points_of_a_finished_game(loser, points):
    lost = board_of(loser, {})
    assert outcome_points(lost) == -points
    assert outcome_points(swapped(lost)) == points
    assert outcome_points(np.array([lost, swapped(lost)])).tolist() == [-points, points]
    assert Position(lost).outcome_points == -points


def test_a_game_that_goes_on_has_no_points():
    assert outcome_points(BACKGAMMON.start) == 0


def test_a_last_checker_has_its_own_gammon_in_hypergammon():
    lost = board_of({20: 1, 3: 2}, {}, HYPERGAMMON.checkers)
    assert outcome_points(lost) == -3


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda board: board[0], "shape"),
        (lambda board: board.astype(float), "whole numbers"),
        (lambda board: board + np.eye(2, 26, 6, int), "player on roll has 16"),
        (lambda board: board - np.eye(2, 26, 4, int), "-1 checkers in column 4"),
        (lambda board: np.stack([board[0], np.roll(board[1], -1)]), "point 13"),
        (lambda board: board * 0 + 15 * np.eye(2, 26)[[0, 0]].astype(int), "both sides"),
    ],
)
def test_impossible_boards_are_refused(change, reason):
    with pytest.raises(PositionError, match=reason):
        validate(change(BACKGAMMON.start.astype(int)), BACKGAMMON.checkers)


@pytest.mark.parametrize(
    ("column", "count", "dtype"), [(0, 2**64 - 1, np.uint64), (1, 2**62, np.int64), (1, 271, int)]
)
def test_counts_that_only_overflow_makes_possible_are_refused(column, count, dtype):
    board = BACKGAMMON.start.astype(dtype)
    board[0, column] = count

    with pytest.raises(PositionError, match=r"has [0-9]+ checkers with those borne off"):
        validate(board, 15)
