from dataclasses import replace

import pytest

from engine.backgammon.match import GameState, Match, Offer
from engine.backgammon.variants import HYPERGAMMON
from engine.errors import PositionError


def test_money_by_default():
    match = Match.money()
    assert match == Match()
    assert (match.length, match.score, match.cube, match.cube_owner) == (0, (0, 0), 1, None)
    assert not (match.jacoby or match.beavers or match.crawford)
    assert match.away == (0, 0)


def test_hypergammon_for_money_has_the_jacoby_rule():
    assert Match.money(HYPERGAMMON).jacoby


def test_away_is_seen_from_the_player_on_roll():
    match = Match(length=7, score=(2, 4), on_roll=1, turn=1)
    assert match.away == (3, 5)
    assert replace(match, on_roll=0, turn=0).away == (5, 3)


def test_a_finished_match_may_have_more_points_than_its_length():
    assert Match(length=5, score=(6, 2), state=GameState.OVER).score == (6, 2)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"length": -1}, "match length -1"),
        ({"length": 65}, "match length 65"),
        ({"score": (-1, 0)}, "score of player 0 -1"),
        ({"score": (0, 40_000)}, "score of player 1 40000"),
        (
            {"length": 5, "score": (0, 5)},
            "score of player 1 5: expected less than the match length",
        ),
        ({"cube": 3}, "cube 3"),
        ({"cube": 0}, "cube 0"),
        ({"cube": 65_536}, "cube 65536"),
        ({"cube_owner": 2}, "cube owner 2"),
        ({"on_roll": 2}, "player on roll 2"),
        ({"turn": -1}, "turn -1"),
        ({"dice": (0, 3)}, "dice"),
        ({"resignation": 4}, "resignation 4"),
        ({"max_cube_exponent": 16}, "maximum cube 16"),
        ({"crawford": True}, "Crawford on"),
        ({"length": 5, "score": (3, 2), "crawford": True}, "Crawford on"),
        ({"length": 5, "score": (4, 4), "crawford": True}, "Crawford on"),
        ({"length": 1, "crawford": True}, "Crawford on"),  # fault B044
        ({"length": 5, "score": (4, 0), "crawford": True, "cube": 2}, "cube 2"),  # fault B045
        ({"offer": Offer.DOUBLE}, "turn 1: expected the player who must answer"),
        (
            {"offer": Offer.DOUBLE, "turn": 0, "dice": (3, 1)},
            "offer double: expected none once dice",
        ),
        ({"length": 1, "offer": Offer.DOUBLE, "turn": 0}, "offer double: expected none in a game"),
        ({"length": 7, "offer": Offer.BEAVER}, "offer beaver: expected a plain double"),
        (
            {"length": 7, "cube": 2, "cube_owner": 0, "offer": Offer.DOUBLE, "turn": 0},
            "cube owner 0",
        ),
    ],
)
def test_what_cannot_be_is_refused_by_naming_the_field(fields, field):
    with pytest.raises(PositionError, match=f"^{field}"):
        Match(**fields)
