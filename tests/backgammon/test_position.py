import pickle

import numpy as np
import pytest

from engine.backgammon.board import Phase
from engine.backgammon.match import Match
from engine.backgammon.position import Position, match_id, read_id
from engine.backgammon.variants import BACKGAMMON, HYPERGAMMON, NACKGAMMON
from engine.errors import AcepointError, PositionError


def test_positions_are_equal_by_board_and_variant():
    start = Position.start()
    assert start == Position(BACKGAMMON.start.tolist())
    assert start != Position.start(NACKGAMMON)
    assert Position(NACKGAMMON.start) != Position(NACKGAMMON.start, NACKGAMMON)
    assert len({start, Position.start(), start.swapped(), Position.start(NACKGAMMON)}) == 2
    assert start != "4HPwATDgc/ABMA"


def test_a_position_cannot_be_changed():
    given = BACKGAMMON.start.copy()
    position = Position(given)
    given[0, 6] = 4
    assert position == Position.start()
    with pytest.raises(ValueError, match="read-only"):
        position.board[0, 6] = 4
    with pytest.raises(AttributeError):
        position.board = given


def test_what_a_position_says_of_itself():
    position, match = read_id("4HPwATDgc/ABUA")
    assert match is None
    assert position.pips == (168, 167)
    assert position.swapped().pips == (167, 168)
    assert position.phase == Phase.CONTACT
    assert not position.is_over
    assert str(position) == position.id == "4HPwATDgc/ABUA"
    assert repr(position) == "<Position 4HPwATDgc/ABUA backgammon>"
    assert position.xgid() == "XGID=-a----E-C---eE---c-e----AA:0:0:1:00:0:0:0:0:10".replace(
        "-a-", "-b-"
    )


def test_swapping_twice_is_nothing():
    position, _ = read_id("4HPwATDgc/ABUA")
    assert position.swapped() != position
    assert position.swapped().swapped() == position


def test_positions_go_to_other_processes():
    position, _ = read_id("4HPwATDgc/ABUA")
    assert pickle.loads(pickle.dumps(position)) == position  # noqa: S301


def test_an_impossible_board_is_refused_for_its_variant():
    with pytest.raises(PositionError, match=r"player on roll has 15 checkers .* expected 3"):
        Position(BACKGAMMON.start, HYPERGAMMON)
    with pytest.raises(AcepointError):
        Position(np.zeros((2, 25), int))


# Fault B119: with one checker a side nobody has borne off, so every win is at least a gammon.
def test_one_checker_each():
    position, _ = read_id("AAIAAAAIAAAAAA")
    assert position.board[:, 0].tolist() == [14, 14]
    with pytest.raises(PositionError, match="more than 3"):
        read_id("4HPwATDgc/ABMA", HYPERGAMMON)


def test_a_match_id_alone():
    assert match_id(Match.money()) == match_id(None) == "cAkAAAAAAAAE"
    assert match_id(Match.money(HYPERGAMMON)) == "cAkAAAAAAAAA"
