"""Reading reference decisions about the cube, and what choices cost by them."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from engine.backgammon.match import Match
from engine.backgammon.plays import legal_plays
from engine.backgammon.position import Position, match_id, read_id
from engine.cube.context import CubeContext, Owner
from engine.cube.decisions import CubeActions
from engine.errors import FileFormatError
from engine.kernels.movegen import pack
from engine.records.decisions import read_checker_decisions, read_cube_decisions, score_cube

POSITION = "y24jBEDdAQMAAA"
MATCH = "AQHgACAAEAAE"  # to 7, both need 5, the player on roll owns a 2-cube


def decision(**changes: object) -> dict[str, object]:
    return {
        "position": POSITION,
        "match": MATCH,
        "probs": [0.73, 0.313, 0.003, 0.0, 0.0],
        "no_double": 0.918,
        "double_take": 1.207,
        "double_pass": 1.0,
    } | changes


def written(path: Path, *lines: dict[str, object]) -> Path:
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


def acting(doubles: list[bool], takes: list[bool]) -> CubeActions:
    none = np.zeros(len(doubles))
    return CubeActions(none, none, none, np.array(doubles), np.array(takes), none > 0)


def test_a_decision_is_read_as_it_stands(tmp_path):
    plain = written(tmp_path / "d.jsonl", decision(), decision(no_double=0.5))
    zipped = tmp_path / "d.jsonl.gz"
    zipped.write_bytes(gzip.compress(plain.read_bytes()))

    for file in (plain, zipped):
        read = read_cube_decisions(file)
        assert len(read) == 2
        assert read.contexts == [CubeContext((5, 5), 2, Owner.ME)] * 2
        assert read.probabilities[0].tolist() == pytest.approx([0.73, 0.313, 0.003, 0, 0])
        assert read.no_double.tolist() == [0.918, 0.5]
        assert read.double_take.tolist() == [1.207, 1.207]
        assert read.double_pass.tolist() == [1.0, 1.0]
    assert len(read_cube_decisions(plain, limit=1)) == 1


def test_without_a_match_it_is_money_with_the_cube_in_the_centre(tmp_path):
    money = decision()
    del money["match"]

    assert read_cube_decisions(written(tmp_path / "d.jsonl", money)).contexts == [CubeContext()]


def test_checker_decisions_have_their_score_and_cube_too(tmp_path):
    start = Position.start()
    play = legal_plays(start, (3, 1))[0]
    checker = {"position": start.id, "dice": "31", "match": MATCH}
    checker["candidates"] = [{"result": play.result.id, "equity": 0.1}]

    read = read_checker_decisions(written(tmp_path / "d.jsonl", checker))
    assert read.contexts == [CubeContext((5, 5), 2, Owner.ME)]
    with pytest.raises(FileFormatError, match="line 1: match ID 'x'"):
        read_checker_decisions(written(tmp_path / "d.jsonl", checker | {"match": "x"}))


def test_losses_are_judged_by_the_equities_of_the_file(tmp_path):
    """Double and pass are right, by 0.082 and 0.207; then no double, by 0.2, and take, by 0.7."""
    file = written(tmp_path / "d.jsonl", decision(), decision(no_double=0.5, double_take=0.3))
    decisions = read_cube_decisions(file)

    right = score_cube(decisions, acting([True, False], [False, True]))
    wrong = score_cube(decisions, acting([False, True], [True, False]))

    assert (right.double_loss, right.take_loss, right.decisions) == (0, 0, 2)
    assert wrong.double_loss == pytest.approx((0.082 + 0.2) / 2)
    assert wrong.take_loss == pytest.approx((0.207 + 0.7) / 2)


def test_a_double_that_is_not_allowed_is_not_missed(tmp_path):
    """The opponent has the cube, or it is the Crawford game."""
    theirs = Match(length=7, score=(2, 2), cube=2, cube_owner=0)
    crawford = Match(length=7, score=(6, 2), crawford=True)
    lines = [decision(match=match_id(match)) for match in (theirs, crawford)]
    decisions = read_cube_decisions(written(tmp_path / "d.jsonl", *lines))

    assert score_cube(decisions, acting([False] * 2, [True] * 2)).double_loss == 0


BAD_FIELDS = {
    "no position": ({"position": 7}, "position is 7"),
    "malformed position": ({"position": "y24j"}, "line 2: position ID 'y24j'"),
    "malformed match": ({"match": "AQ"}, "line 2: match ID 'AQ'"),
    "no probabilities": ({"probs": None}, "line 2: probs is None"),
    "four probabilities": ({"probs": [0.5, 0, 0, 0]}, "line 2: probs is .*five numbers"),
    "a text": ({"probs": ["0.5", 0, 0, 0, 0]}, "line 2: win is '0.5'"),
    "not finite": ({"probs": [0.5, 0, 0, float("nan"), 0]}, "line 2: lose_gammon is nan"),
    "not cumulative": ({"probs": [0.5, 0.6, 0, 0, 0]}, "line 2: probs is .*cumulative"),
    "more than all": ({"probs": [0.9, 0, 0, 0.2, 0]}, "line 2: probs is .*cumulative"),
    "negative": ({"probs": [0.5, 0, -0.1, 0, 0]}, "line 2: probs is .*cumulative"),
    "no equity": ({"double_take": None}, "line 2: double_take is None"),
    "an equity as text": ({"no_double": "0.5"}, "line 2: no_double is '0.5'"),
}


@pytest.mark.parametrize("kind", BAD_FIELDS)
def test_a_bad_field_is_named(tmp_path, kind):
    changes, message = BAD_FIELDS[kind]
    file = written(tmp_path / "d.jsonl", decision(), decision(**changes))

    with pytest.raises(FileFormatError, match=message) as caught:
        read_cube_decisions(file)
    assert str(file) in str(caught.value)
    assert len(read_cube_decisions(file, limit=1)) == 1


def test_an_empty_file_is_refused(tmp_path):
    with pytest.raises(FileFormatError, match="found none"):
        read_cube_decisions(written(tmp_path / "d.jsonl"))


def test_boards_are_packed_with_the_player_on_roll_first(tmp_path):
    read = read_cube_decisions(written(tmp_path / "d.jsonl", decision()))
    assert np.array_equal(read.packed, pack(read_id(POSITION)[0].board[None]))
