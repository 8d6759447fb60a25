"""Deals of games and matches between players given by name."""

import numpy as np
import pytest

from engine.backgammon.match import GameState, Match
from engine.players.base import Array
from engine.players.contests import CubeTable, MoneyTable, Table
from engine.players.random import RandomPlayer
from engine.players.tally import TALLY_COLUMNS

MONEY = Match(state=GameState.NONE)


def make_random(name: str) -> RandomPlayer:
    return RandomPlayer(name, int(name))


def table(beginning: Match | None, seed: int = 5) -> Table:
    if beginning is None:
        return MoneyTable(seed, make_random)
    return CubeTable(seed, beginning, make_random)


contests = pytest.mark.parametrize(
    "beginning",
    [None, MONEY, Match(length=3, state=GameState.NONE)],
    ids=["games", "cube", "match"],
)


@contests
def test_equal_players_score_exactly_nothing_over_each_deal(beginning) -> None:
    scores = table(beginning)("3", "3", np.arange(100))[:, :, 0]

    assert scores.any()
    assert not scores.sum(axis=1).any()


@contests
def test_what_is_counted_belongs_to_the_player_named_first(beginning) -> None:
    """Between exchanged names the signs and the two of each pair of counts are exchanged."""
    signed = [0, 1 + TALLY_COLUMNS.index("points")]
    shared = [1 + TALLY_COLUMNS.index(name) for name in ("games", "cubes")]
    firsts = [number for number, name in enumerate(TALLY_COLUMNS, 1) if name.endswith("_a")]
    seconds = [number for number, name in enumerate(TALLY_COLUMNS, 1) if name.endswith("_b")]

    counted = table(beginning)("1", "2", np.arange(50))
    exchanged = table(beginning)("2", "1", np.arange(50))[:, ::-1]

    assert counted.shape == (50, 2, 1 + len(TALLY_COLUMNS))
    assert np.array_equal(counted[..., signed], -exchanged[..., signed])
    assert np.array_equal(counted[..., shared], exchanged[..., shared])
    assert np.array_equal(counted[..., firsts], exchanged[..., seconds])
    assert np.array_equal(counted[..., seconds], exchanged[..., firsts])


@contests
@pytest.mark.parametrize("deals", [np.array([7]), np.array([40, 7])])
def test_a_deal_depends_on_its_number_and_the_root_seed_alone(beginning, deals: Array) -> None:
    every = table(beginning)("1", "2", np.arange(60))

    assert np.array_equal(table(beginning)("1", "2", deals), every[deals])
    assert not np.array_equal(table(beginning, seed=6)("1", "2", np.arange(60)), every)


def test_games_without_the_cube_are_counted_too() -> None:
    counted = dict(zip(TALLY_COLUMNS, table(None)("1", "2", np.arange(100)).T[1:], strict=True))
    points = counted["points"]

    assert (counted["games"] == 1).all()
    assert (counted["cubes"] == 1).all()
    assert not counted["turned_a"].any() and not counted["passed_b"].any()
    for least, name in enumerate(("wins", "gammons", "backgammons"), start=1):
        assert np.array_equal(counted[f"{name}_a"], points >= least)
        assert np.array_equal(counted[f"{name}_b"], points <= -least)
