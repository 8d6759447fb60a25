"""The bot with bearoff databases: what it knows is exact, and it plays by it."""

import csv
from pathlib import Path

import numpy as np
import pytest

from engine.backgammon.match import Match
from engine.backgammon.position import Position, read_id
from engine.bot import Bot
from engine.cube.context import CubeContext, Owner
from engine.evaluation.bearoff import load
from engine.evaluation.bearoff_build import build
from engine.evaluation.bearoff_store import HEADER, Database
from engine.kernels.bearoff_build import place_positions

GOLDEN = Path(__file__).parent / "golden"


def position_of(mine, theirs):
    board = np.zeros((2, 26), np.int8)
    for row, counts in zip(board, (mine, theirs), strict=True):
        row[1 : 1 + len(counts)] = counts
        row[0] = 15 - sum(counts)
    return Position(board)


def checkers_on(points):
    return [points.count(str(point)) for point in range(1, 7)]


@pytest.fixture(scope="module")
def bot(bearoff, small_net):
    """A bot whose net knows nothing, so that all it knows is from the databases."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("engine.cube.static.load", lambda: bearoff)
        yield Bot(small_net)


@pytest.fixture(scope="module")
def bot_ahead(bearoff, small_net):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("engine.cube.static.load", lambda: bearoff)
        yield Bot(small_net, plies=2)


@pytest.fixture(scope="module")
def pairs(bearoff):
    """200 positions of the two-sided database, the numbers of both sides, and a roll each."""
    generator = np.random.default_rng(9)
    numbers = generator.integers(1, bearoff.pair_positions, (200, 2))
    counts = place_positions(bearoff.pair_positions, 6)[:, 1:]
    dice = [tuple(roll) for roll in generator.integers(1, 7, (200, 2)).tolist()]
    return [position_of(*counts[pair]) for pair in numbers], numbers, dice


def values(bearoff, numbers):
    count = bearoff.pair_positions
    return bearoff.pairs.reshape(count, count, 4)[numbers[:, 0], numbers[:, 1]]


def number_of(counts, bearoff):
    positions = place_positions(bearoff.pair_positions, 6)[:, 1:]
    (number,) = np.flatnonzero((positions == counts).all(axis=1))
    return int(number)


def test_every_cube_category_of_two_checkers_a_side(bot):
    with (GOLDEN / "koca_two_checker_cube.csv").open() as file:
        for row in csv.DictReader(file):
            position = position_of(checkers_on(row["roller"]), checkers_on(row["opponent"]))
            decision = bot.cube(position)
            owned = bot.cube(position, CubeContext(owner=Owner.ME))
            found = (decision.no_double, owned.no_double, decision.double_take)
            assert [round(value, 6) for value in found] == [
                float(row[name]) for name in ("nd_centred", "nd_owned", "double_take")
            ]
            assert decision.probabilities[0] == pytest.approx(float(row["cubeless_win"]), abs=1e-6)


def test_probabilities_are_exact(bot, bearoff, pairs):
    positions, numbers, _ = pairs

    assert bot.evaluate(positions)[:, 0] == pytest.approx(values(bearoff, numbers)[:, 0], abs=1e-7)


@pytest.mark.parametrize("owner", [Owner.CENTRE, Owner.ME])
def test_plays_are_those_that_the_database_likes_best(bot, bearoff, pairs, owner):
    positions, _, dice = pairs
    context = CubeContext(owner=owner)

    for position, roll in zip(positions[:60], dice[:60], strict=True):
        ranking = bot.rank(position, roll, context)
        assert str(bot.best(position, roll, context)) == str(ranking[0].play)
        if ranking[0].play.result.is_over:
            assert ranking[0].equity == 1
            continue
        boards = [candidate.play.result.board for candidate in ranking]
        numbers = [[number_of(row[1:7], bearoff) for row in board] for board in boards]
        _, centre, _, held = values(bearoff, np.array(numbers)).T
        doubling = np.maximum(centre, np.minimum(2 * held, 1))
        theirs = held if owner == Owner.ME else doubling
        assert ranking[0].equity == pytest.approx(-theirs.min(), abs=1e-12)


def test_looking_ahead_keeps_exact_values(bot_ahead, bearoff, pairs):
    positions, numbers, _ = pairs
    exact = values(bearoff, numbers)

    for position, worth in zip(positions[:20], exact[:20], strict=True):
        decision = bot_ahead.cube(position)
        assert decision.no_double == pytest.approx(worth[1], abs=1e-6)
        assert decision.double_take == pytest.approx(2 * worth[3], abs=1e-6)


def test_a_match_takes_the_exact_chance(bot, bearoff, pairs):
    positions, numbers, _ = pairs
    last_game = CubeContext.of(Match(length=1))

    for position, worth in zip(positions[:20], values(bearoff, numbers)[:20], strict=True):
        decision = bot.cube(position, last_game)
        assert last_game.mwc(decision.no_double) == pytest.approx(worth[0], abs=1e-6)


@pytest.mark.parametrize("theirs", [[0, 0, 3], [2], [1, 1], [0, 0, 0, 0, 0, 15]])
def test_of_equal_plays_the_one_with_most_checkers_off(bot, bot_ahead, theirs):
    """Fault B115: 2/1/off though two checkers could be borne off."""
    position = position_of([1, 2], theirs)

    for each in (bot, bot_ahead):
        assert str(each.best(position, (2, 1))) == "2/off 1/off"
        assert str(each.rank(position, (2, 1))[0].play) == "2/off 1/off"


def test_the_play_of_another_fault_bears_two_off():
    """Fault B156: 4/2/off though both checkers could be borne off."""
    position, _ = read_id("3zvBAAB/JwAAAA")

    assert str(Bot().best(position, (4, 2))) == "4/off 2/off"


def test_databases_are_read_once_a_position_could_be_there(
    monkeypatch, tmp_path, capsys, small_net
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("engine.cube.static.load", load.__wrapped__)
    database = Database("one-sided", 3, 4)
    build(database, progress=False)
    content = bytearray(database.path.read_bytes())
    content[HEADER] ^= 1
    database.path.write_bytes(content)
    bot = Bot(small_net)

    bot.cube(Position.start())
    bot.rank(Position.start(), (3, 1))
    bot.evaluate([Position.start()])
    assert capsys.readouterr().err == ""

    bot.cube(position_of([0] * 11 + [15], [15]))
    assert f"{str(database.path)!r}: damaged" in capsys.readouterr().err
