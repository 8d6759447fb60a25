"""The bot, as users of the package see it."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import engine
from engine import AcepointError, Bot, Play, Position, legal_plays, read_id
from engine.backgammon.dice import ROLLS
from engine.backgammon.match import Match
from engine.backgammon.variants import BACKGAMMON, HYPERGAMMON, NACKGAMMON, VARIANTS
from engine.bot import released_net
from engine.cube.context import CubeContext
from engine.errors import NetError, NotationError, PositionError
from engine.evaluation import outcome
from engine.evaluation.network import Network
from engine.kernels import movegen

MODELS = Path(__file__).parents[1] / "models"
START = "4HPwATDgc/ABMA"
FINISHED, _ = read_id("4HPwATAAAAAAAA")
PACKED = movegen.pack(np.array([Position.start().board] * 3))
ROLLED = np.array([(3, 1), (6, 4), (5, 5)], np.int8)


@pytest.fixture(scope="module")
def bot(small_net) -> Bot:
    return Bot(small_net)


@pytest.fixture(scope="module")
def positions(played_boards) -> list[Position]:
    """80 positions of backgammon in which somebody is to play."""
    found = [Position(board) for board in played_boards(BACKGAMMON, 2800)[::33]]
    return [position for position in found if not position.is_over][:80]


@pytest.fixture(scope="module")
def dice(positions) -> list[tuple[int, int]]:
    return [ROLLS[7 * k % 21][:: -1 if k % 2 else 1] for k in range(len(positions))]


def test_the_api_of_the_readme(small_net):
    position, match = engine.read_id("4HPwATDgc/ABMA:cAkAAAAAAAAA")
    assert match is not None and engine.match_id(match) == "cAkAAAAAAAAA"
    assert engine.read_id(position.xgid(match))[0] == position
    position, match = engine.read_id(position.id)
    assert match is None

    plays = engine.legal_plays(position, (3, 1))
    assert "8/5 6/5" in [str(play) for play in plays]
    assert plays[0].steps and isinstance(plays[0].result, Position)

    bot = engine.Bot(net=small_net, plies=0)
    assert bot.evaluate([position]).shape == (1, 5)
    best, *_ = bot.rank(position, (3, 1), match=None)
    assert best.play == bot.best(position, (3, 1), match=None)
    assert isinstance(best.equity, float) and best.probabilities.shape == (5,)
    assert bot.best_many([position] * 2, [(3, 1), (6, 5)])[0] == best.play


def test_every_legal_play_is_ranked_best_first(bot, positions, dice):
    for position, roll in zip(positions, dice, strict=True):
        ranking = bot.rank(position, roll)
        equities = [candidate.equity for candidate in ranking]
        assert equities == sorted(equities, reverse=True)
        assert {each.play.result for each in ranking} == {
            play.result for play in legal_plays(position, roll)
        }


def test_probabilities_are_those_after_the_play_for_its_maker(bot, positions, dice):
    ranking = bot.rank(positions[9], dice[9])
    after = bot.evaluate([candidate.play.result for candidate in ranking])
    for candidate, five in zip(ranking, after, strict=True):
        np.testing.assert_array_equal(candidate.probabilities, outcome.flip(five))


def test_the_best_play_is_the_first_of_the_ranking(bot, positions, dice):
    for position, roll in zip(positions, dice, strict=True):
        assert bot.best(position, roll) == bot.rank(position, roll)[0].play


def test_the_best_of_many_are_the_best_one_by_one(bot, positions, dice):
    together = bot.best_many(positions, dice)
    assert together == [bot.best(*each) for each in zip(positions, dice, strict=True)]
    assert all(isinstance(play, Play) for play in together)


@pytest.mark.parametrize("dice", [[3, 1], np.array([3, 1]), (3.0, True)])
def test_a_play_has_plain_dice_however_they_were_given(bot, dice):
    play = bot.best(Position.start(), dice)
    assert play == bot.best(Position.start(), (3, 1))
    assert play.dice == (3, 1) and all(type(die) is int for die in play.dice)
    assert hash(play) == hash(bot.best_many([Position.start()], [(3, 1)])[0])
    assert legal_plays(Position.start(), dice)[0].dice == (3, 1)


def test_both_orders_of_the_dice_are_one_roll(bot, positions):
    for position in positions:
        assert bot.best(position, (2, 5)).result == bot.best(position, (5, 2)).result


def test_packed_boards_without_the_cube_are_played_by_cubeless_equity(bot, positions, dice):
    packed = movegen.pack(np.array([position.board for position in positions]))

    results = bot.best_packed(packed, np.array(dice, np.int8))

    for position, roll, result in zip(positions, dice, results, strict=True):
        plays = legal_plays(position, roll)
        equities = outcome.equity(bot.evaluate([play.result for play in plays]))
        chosen = [play.result for play in plays].index(Position(movegen.unpack(result[None])[0]))
        assert equities[chosen] == pytest.approx(equities.min(), abs=1e-5)


def test_evaluations_of_many_are_those_of_one(bot, positions):
    together = bot.evaluate(positions)
    assert together.dtype == np.float32 and together.shape == (len(positions), 5)
    for position, five in zip(positions, together, strict=True):
        np.testing.assert_array_equal(bot.evaluate([position])[0], five)


def test_a_finished_game_is_worth_its_points(bot):
    assert FINISHED.is_over  # a backgammon: the loser has two checkers in the winner's home
    values = bot.evaluate([FINISHED, FINISHED.swapped()])
    np.testing.assert_array_equal(outcome.equity(values), [3, -3])


def test_nobody_plays_on_in_a_finished_game(bot):
    for ask in (
        lambda: bot.rank(FINISHED, (3, 1)),
        lambda: bot.best(FINISHED, (3, 1)),
        lambda: bot.best_many([Position.start(), FINISHED], [(3, 1), (3, 1)]),
        lambda: bot.cube(FINISHED),
    ):
        with pytest.raises(PositionError, match=f"position '{FINISHED.id}': the game is over"):
            ask()


def test_when_nothing_is_legal_that_is_the_best_play(bot):
    closed_out, _ = read_id("27YBADgAAAABAA")
    assert str(bot.best(closed_out, (3, 5))) == "cannot move"
    (candidate,) = bot.rank(closed_out, (3, 5))
    assert candidate.play == bot.best(closed_out, (3, 5))


def test_a_position_of_another_variant_is_refused(bot):
    position = Position.start(HYPERGAMMON)
    for ask in (
        lambda: bot.evaluate([position]),
        lambda: bot.rank(position, (3, 1)),
        lambda: bot.best_many([Position.start(), position], [(3, 1), (3, 1)]),
        lambda: bot.cube(position),
    ):
        with pytest.raises(NetError, match="is of hypergammon: the net plays backgammon"):
            ask()


def test_a_net_for_hypergammon_plays_hypergammon(random_network, tmp_path):
    random_network(8, variant="hypergammon").save(tmp_path / "net")
    bot = Bot(tmp_path / "net")
    assert bot.variant == "hypergammon"
    assert bot.best(Position.start(HYPERGAMMON), (2, 1)).result.variant == HYPERGAMMON
    with pytest.raises(NetError, match="is of nackgammon: the net plays hypergammon"):
        bot.evaluate([Position.start(NACKGAMMON)])


def test_a_net_for_a_game_that_nobody_knows(random_network, tmp_path):
    random_network(8, variant="tabula").save(tmp_path / "net")
    with pytest.raises(NetError, match="unknown variant 'tabula'"):
        Bot(tmp_path / "net")


@pytest.mark.parametrize(
    "roll", [(0, 1), (7, 1), (3,), (3, 1, 1), (1.5, 2), (300, 1), ("3", "1"), 31, None]
)
def test_what_is_no_roll_is_refused(roll, bot):
    for ask in (bot.rank, bot.best, lambda *each: bot.best_many(*([part] for part in each))):
        with pytest.raises(NotationError, match="expected two numbers from 1 to 6"):
            ask(Position.start(), roll)


def test_as_many_rolls_as_positions(bot):
    with pytest.raises(AcepointError, match="2 positions, 1 rolls: expected as many"):
        bot.best_many([Position.start()] * 2, [(3, 1)])


def test_nothing_asked_nothing_answered(bot):
    assert bot.evaluate([]).shape == (0, 5)
    assert bot.best_many([], []) == []


START_POSITION = Position.start()


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda bot: bot.evaluate(START_POSITION), "positions <Position 4HPwATDgc/ABMA backgammon"),
        (lambda bot: bot.evaluate(None), "positions None: expected a list"),
        (lambda bot: bot.evaluate(iter([START_POSITION])), "expected a list"),
        (lambda bot: bot.best_many([START_POSITION], 5), "rolls 5: expected a list"),
        (lambda _: engine.Position([[0] * 26, [0] * 25]), "expected whole numbers [2, 26]"),
        (lambda bot: bot.evaluate([START]), f"position '{START}': expected a Position"),
        (lambda bot: bot.best_many(START_POSITION, [(3, 1)]), "positions <Position"),
        (lambda bot: bot.rank(START, (3, 1)), f"position '{START}': expected a Position"),
        (lambda bot: bot.cube(START), f"position '{START}': expected a Position"),
        (lambda bot: bot.cube(START_POSITION, "m"), "match 'm': expected a Match"),
        (lambda bot: bot.rank(START_POSITION, (3, 1), 5), "match 5: expected a Match"),
        (lambda bot: bot.rollout(START_POSITION, (3, 1), candidates=0), "candidates 0: expected"),
        (lambda _: legal_plays(START, (3, 1)), f"position '{START}': expected a Position"),
        (lambda _: engine.match_id(0), "match 0: expected a Match"),
        (lambda _: engine.read_id(START, "backgammon"), "variant 'backgammon': expected a Variant"),
        (lambda _: Position(START_POSITION.board, None), "variant None: expected a Variant"),
        (lambda _: legal_plays(START_POSITION, {3, 1}), "dice {1, 3}: expected two numbers"),
        (lambda bot: bot.rank(START_POSITION, {3: 1, 1: 2}), "dice {3: 1, 1: 2}: expected two"),
        (lambda bot: bot.best(START_POSITION, b"31"), "dice b'31': expected two numbers"),
        (lambda _: Bot(plies=1, threads="a"), "threads 'a': expected 1 or more"),
        (lambda _: Match(length="5"), "length '5': expected a whole number"),
        (lambda _: Match(length=5.5), "length 5.5: expected a whole number"),
        (lambda _: Match(score=(1,)), "score (1,): expected two whole numbers"),
        (lambda _: Match(dice=(1, 2, 3)), "dice (1, 2, 3): expected two whole numbers"),
        (lambda _: CubeContext(away=(70, 5)), "away (70, 5): expected 1 to 64 points"),
        (lambda _: CubeContext(away=(0, 5)), "away (0, 5): expected 1 to 64 points"),
        (lambda _: CubeContext(cube=3), "cube 3: expected a power of 2"),
        (lambda _: CubeContext(turns_left=9), "turns left 9: expected 1 to 4, or None"),
        (lambda _: CubeContext(turns_left=0), "turns left 0: expected 1 to 4"),
        (lambda _: CubeContext(beavers=True, turns_left=1), "turns left 1: expected 2 to 4"),
        (lambda _: Match(dice=()), "dice (): expected two whole numbers"),
        (lambda bot: bot.evaluate_packed(PACKED.astype(np.int64)), "type int64: expected int8"),
        (lambda bot: bot.evaluate_packed(PACKED[:, :, :26]), "shape (3, 2, 26) and type int8"),
        (lambda bot: bot.best_packed(PACKED, ROLLED, []), "0 situations, 3 positions"),
        (lambda bot: bot.best_packed(PACKED, ROLLED, [CubeContext()] * 2), "2 situations, 3"),
        (lambda bot: bot.best_packed(PACKED, ROLLED[:1]), "dice of shape (1, 2): expected [3, 2]"),
        (lambda bot: bot.best_packed(PACKED, ROLLED * 0), "expected [3, 2] numbers from 1 to 6"),
        (lambda bot: bot.best_packed(PACKED, ROLLED + 4), "expected [3, 2] numbers from 1 to 6"),
        (lambda bot: bot.cube_packed(PACKED, [CubeContext()]), "1 situations, 3 positions"),
        (lambda _: START_POSITION.xgid(0), "match 0: expected a Match"),
    ],
)
def test_what_is_of_another_kind_is_refused_in_one_line(ask, said, bot):
    with pytest.raises(AcepointError, match=re.escape(said)) as refusal:
        ask(bot)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("plies", [-1, 9, 1.0, "1", None])
def test_plies_that_cannot_be_looked_ahead(plies, small_net):
    with pytest.raises(AcepointError, match=f"plies {plies!r}"):
        Bot(small_net, plies)


def test_two_bots_with_one_net_say_the_same(bot, small_net, positions):
    other = Bot(small_net)
    assert other.net_hash == bot.net_hash == Network.load(small_net).hash
    np.testing.assert_array_equal(other.evaluate(positions), bot.evaluate(positions))


def test_the_released_nets_are_sound_and_known_by_their_variant():
    manifest = json.loads((MODELS / "manifest.json").read_text())
    assert "backgammon" in manifest
    for name, file in manifest.items():
        assert released_net(name) == MODELS / file
        bot = Bot(MODELS / file)
        bot.require(VARIANTS[name])


def test_without_a_net_the_released_one_plays():
    bot = Bot()
    assert bot.net_hash == Network.load(released_net()).hash
    assert str(bot.best(Position.start(), (3, 1))) == "8/5 6/5"
    assert str(bot.best(Position.start(), (6, 1))) == "13/7 8/7"


def test_a_variant_without_a_released_net_says_how_to_make_one():
    with pytest.raises(NetError, match="no net is released for portes: train one"):
        released_net("portes")
