"""The bot at a score and with a cube: plays, cube actions, batches."""

from dataclasses import replace

import numpy as np
import pytest
from cube_strategies import contexts
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine import Bot
from engine.backgammon.dice import ROLLS
from engine.backgammon.match import GameState, Match
from engine.backgammon.position import Position
from engine.backgammon.variants import BACKGAMMON
from engine.cube.context import CubeContext, Owner
from engine.cube.decisions import NOT_AVAILABLE
from engine.cube.equity import best_equities, cube_equities, timing
from engine.errors import PositionError
from engine.evaluation import outcome
from engine.kernels.movegen import pack, unpack

MATCHES = [
    Match(),
    Match(jacoby=True, beavers=True),
    Match(cube=4, cube_owner=1),
    Match(length=7, score=(3, 6), crawford=True),
    Match(length=7, score=(3, 6)),
    Match(length=7, score=(6, 3)),
    Match(length=5, score=(4, 4), cube=2, cube_owner=0),
    Match(length=64, score=(10, 1), cube=2, cube_owner=0),
    Match(length=1),
]


@pytest.fixture(scope="module")
def bot(random_network, tmp_path_factory) -> Bot:
    path = tmp_path_factory.mktemp("nets") / "sure.safetensors"
    random_network(16, scale=3.0).save(path)
    return Bot(path)


@pytest.fixture(scope="module")
def positions(played_boards) -> list[Position]:
    found = [Position(board) for board in played_boards(BACKGAMMON, 2800)[::97]]
    return [position for position in found if not position.is_over]


@pytest.mark.parametrize("match", MATCHES, ids=str)
def test_the_best_play_is_the_first_of_the_ranking(bot, positions, match):
    rolls = [ROLLS[5 * k % 21] for k in range(len(positions))]
    together = bot.best_many(positions, rolls, match)

    for position, roll, play in zip(positions, rolls, together, strict=True):
        ranking = bot.rank(position, roll, match)
        equities = [candidate.equity for candidate in ranking]
        assert play == bot.best(position, roll, match)
        assert equities == sorted(equities, reverse=True)
        best = next(each for each in ranking if each.play == play)
        assert best.equity == pytest.approx(equities[0], abs=1e-5)


def test_a_result_is_worth_what_the_opponent_loses_by_it(bot, positions):
    """He is on roll then, and doubles where that is right."""
    context = CubeContext((3, 5), 2, Owner.OPPONENT)
    for candidate in bot.rank(positions[3], (4, 2), context):
        packed = pack(candidate.play.result.board[None])
        values = bot.evaluate([candidate.play.result])
        equities = cube_equities(values, context.flipped(), timing(packed))
        theirs = best_equities(equities, context.flipped())
        assert candidate.equity == pytest.approx(-float(theirs[0]))
        assert np.array_equal(candidate.probabilities, outcome.flip(values)[0])


def test_when_the_opponent_will_cash_every_play_loses_a_point():
    """And among them the one that wins most without the cube comes first: the shipped net."""
    board = np.zeros((2, 26), np.int8)
    board[0, [0, 5, 6]] = 5, 5, 5
    board[1, [0, 2, 3]] = 9, 3, 3
    position = Position(board)
    ranking = Bot().rank(position, (2, 1))
    cashed = [candidate for candidate in ranking if candidate.equity == -1]
    cubeless = [float(outcome.equity(candidate.probabilities)) for candidate in cashed]

    assert len(cashed) > 3
    assert cubeless == sorted(cubeless, reverse=True)
    assert Bot().best(position, (2, 1)) == ranking[0].play


def test_gammons_count_as_the_score_says(bot, positions):
    """In the Crawford game at 1 away against 2: for the trailer half a match, against him never.

    He has W / 2 + WG / 2 by winning, and loses the match with the game; the leader has W + (1 - W -
    LG) / 2.
    """
    leader = Match(length=3, score=(1, 2), crawford=True, on_roll=1)
    trailer = replace(leader, on_roll=0, turn=0)
    for position in positions[:8]:
        win, gammon, _, lost_gammon, _ = _ranked(bot, position, leader)
        assert (np.diff(win + (1 - win - lost_gammon) / 2) <= 1e-5).all()
        win, gammon, *_ = _ranked(bot, position, trailer)
        assert (np.diff(win / 2 + gammon / 2) <= 1e-5).all()


def _ranked(bot, position, match):
    return np.array([each.probabilities for each in bot.rank(position, (6, 2), match)]).T


def test_without_the_cube_plays_are_ranked_by_cubeless_equity(bot, positions):
    cubeless = CubeContext().without_cube()
    for position in positions[:8]:
        for candidate in bot.rank(position, (5, 3), cubeless):
            assert candidate.equity == pytest.approx(
                float(outcome.equity(candidate.probabilities)), abs=1e-5
            )
        packed = pack(position.board[None])
        (result,) = bot.best_packed(packed, np.array([[5, 3]], np.int8))
        assert bot.best(position, (5, 3), cubeless).result == Position(unpack(result[None])[0])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(asked=st.lists(contexts(), min_size=29, max_size=29))
def test_every_situation_of_a_batch_is_its_own(bot, positions, asked):
    packed = pack(np.array([position.board for position in positions]))[:29]
    asked = asked[: len(packed)]
    dice = np.array([ROLLS[11 * k % 21] for k in range(len(packed))], np.int8)

    results = bot.best_packed(packed, dice, asked)
    actions = bot.cube_packed(packed, asked)

    for row in range(0, len(packed), 7):
        alone = slice(row, row + 1)
        assert np.array_equal(
            results[alone], bot.best_packed(packed[alone], dice[alone], asked[row])
        )
        for all_of_them, one in zip(
            actions, bot.cube_packed(packed[alone], asked[row]), strict=True
        ):
            assert all_of_them[row] == one[0]


@pytest.mark.parametrize("match", MATCHES, ids=str)
def test_the_names_of_the_players_change_nothing(bot, positions, match):
    """The same position and score with players 0 and 1 exchanged."""
    owner = None if match.cube_owner is None else 1 - match.cube_owner
    other = replace(
        match,
        score=match.score[::-1],
        cube_owner=owner,
        on_roll=1 - match.on_roll,
        turn=1 - match.turn,
    )
    for position in positions[::5]:
        mine, theirs = bot.cube(position, match), bot.cube(position, other)
        assert mine.action == theirs.action
        assert (mine.no_double, mine.double_take) == (theirs.no_double, theirs.double_take)
        assert bot.best(position, (6, 4), match) == bot.best(position, (6, 4), other)


def test_a_cube_decision_says_what_the_batch_says(bot, positions):
    packed = pack(np.array([position.board for position in positions]))
    for match in MATCHES:
        actions = bot.cube_packed(packed, CubeContext.of(match))
        for row in range(0, len(positions), 9):
            decision = bot.cube(positions[row], match)
            assert decision.no_double == actions.no_double[row]
            assert decision.double_take == actions.double_take[row]
            assert decision.doubles == actions.doubles[row]
            assert decision.takes == actions.takes[row]


@pytest.mark.parametrize(
    "match",
    [
        Match(length=7, score=(3, 6), crawford=True),
        Match(length=1),
        Match(cube=2, cube_owner=0),
        Match(cube=1024, cube_owner=1),
        Match(max_cube_exponent=0),
        Match(length=9, max_cube_exponent=0),
    ],
    ids=[
        "Crawford",
        "match to 1",
        "the opponent's",
        "at its limit",
        "no cube",
        "no cube in a match",
    ],
)
def test_when_the_cube_cannot_be_turned(bot, match):
    decision = bot.cube(Position.start(), match)

    assert decision.action == NOT_AVAILABLE
    assert not decision.doubles


def test_no_match_is_money_with_the_cube_in_the_centre(bot, positions):
    for position in positions[::9]:
        plain = bot.cube(position)
        assert plain.context == CubeContext()
        assert plain.no_double == bot.cube(position, Match()).no_double


def test_a_match_that_is_over_is_refused(bot):
    over = Match(length=5, score=(5, 2), state=GameState.OVER)
    with pytest.raises(PositionError, match="the match to 5 is over"):
        bot.cube(Position.start(), over)
    with pytest.raises(PositionError, match="the match to 5 is over"):
        bot.best(Position.start(), (3, 1), over)
