"""The bot and the commands when they look ahead."""

import json

import numpy as np
import pytest

from engine import Bot, Position, read_id
from engine.backgammon.match import Match
from engine.cube.context import CubeContext
from engine.errors import AcepointError, PositionError
from engine.kernels.movegen import pack
from engine.players.registry import make_cubeful_player, make_player

START = "4HPwATDgc/ABMA"
LATER = "0OfBADLgc/CFAA"
FINISHED, _ = read_id("4HPwATAAAAAAAA")


@pytest.fixture(scope="module")
def bot(small_net) -> Bot:
    return Bot(small_net, plies=1)


def test_candidates_say_how_far_they_were_looked_ahead(small_net):
    ranking = Bot(small_net, plies=1, moves="narrow").rank(Position.start(), (2, 1))
    plies = [candidate.plies for candidate in ranking]
    assert plies == sorted(plies, reverse=True)
    assert {*plies} == {0, 1}
    assert {each.plies for each in Bot(small_net).rank(Position.start(), (2, 1))} == {0}


@pytest.mark.parametrize("match", [None, Match(length=5, score=(2, 4)), Match(jacoby=True)])
def test_the_best_play_is_the_first_of_the_ranking(bot, match):
    position = Position.start()
    for dice in ((3, 1), (6, 4), (5, 5)):
        assert bot.best(position, dice, match) == bot.rank(position, dice, match)[0].play


def test_a_position_is_worth_the_mean_of_the_best_plays(bot, small_net):
    """One ply is the exact backup that nets are trained with."""
    packed = pack(np.stack([Position.start().board, read_id(LATER)[0].board]))
    backed_up, _ = Bot(small_net)._static.network.back_up(packed)
    np.testing.assert_allclose(bot.evaluate_packed(packed), backed_up, atol=1e-5)


def test_a_cube_decision_is_that_of_the_batch(bot):
    position, match = read_id(LATER)[0], Match(length=7, score=(3, 1))
    decision = bot.cube(position, match)
    actions = bot.cube_packed(pack(position.board[None]), CubeContext.of(match))
    assert decision.no_double == actions.no_double[0]
    assert decision.double_take == actions.double_take[0]
    assert (decision.doubles, decision.takes) == (actions.doubles[0], actions.takes[0])
    assert decision.no_double != Bot().cube(position, match).no_double


def test_the_market_has_the_gammons_of_the_decision(bot):
    position = Position.start()
    decision = bot.cube(position)
    assert bot.market(position, decision).double_point < bot.market(position, decision).cash_point


def test_a_finished_game_is_refused(bot):
    for ask in (lambda: bot.rank(FINISHED, (3, 1)), lambda: bot.cube(FINISHED)):
        with pytest.raises(PositionError, match="the game is over"):
            ask()


def test_nothing_asked_nothing_answered(bot):
    assert bot.best_many([], []) == []
    assert bot.evaluate([]).shape == (0, 5)
    assert len(bot.cube_packed(np.empty((0, 2, 32), np.int8), []).no_double) == 0


def test_options_that_do_not_exist(small_net):
    with pytest.raises(AcepointError, match="filter 'all': expected one of"):
        Bot(small_net, plies=1, moves="all")
    with pytest.raises(AcepointError, match="plies 5: expected 0 to 4"):
        Bot(small_net, plies=5)
    with pytest.raises(AcepointError, match="threads 0: expected 1 or more"):
        Bot(small_net, plies=1, threads=0)


def test_players_look_ahead(small_net):
    board, dice = pack(Position.start().board[None]), np.array([[6, 4]], np.int8)
    for make, match in ((make_player, None), (make_cubeful_player, Match(length=3))):
        player = make(f"acepoint:1:net={small_net}")
        context = CubeContext.of(match) if match else CubeContext().without_cube()
        expected = Bot(small_net, plies=1).best_packed(board, dice, context)
        assert np.array_equal(player.best_packed(board, dice, match), expected)


def test_the_commands_look_ahead(acepoint, small_net):
    options = ["--plies", 1, "--net", small_net]
    told = json.loads(acepoint("move", START, "31", *options, "--json").stdout)
    assert told["plies"] == 1
    assert told["candidates"][0]["plies"] == 1
    printed = acepoint("move", START, "31", *options, "--filter", "narrow")
    assert "1-ply" in printed.stdout and not printed.stderr
    assert printed.stdout.split("1-ply:")[1].split()[:2] == ["play", "plies"]
    decided = json.loads(acepoint("cube", START, *options, "--json").stdout)
    assert decided["plies"] == 1
    assert (
        decided["no_double"]
        != json.loads(acepoint("cube", START, "--net", small_net, "--json").stdout)["no_double"]
    )
