"""Reading reference decisions and scoring choices by them."""

import gzip
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.backgammon.ids import decode_match, encode_match
from engine.backgammon.match import Match
from engine.backgammon.notation import parse_play
from engine.backgammon.plays import legal_plays
from engine.backgammon.position import Position, read_id
from engine.errors import FileFormatError
from engine.kernels.movegen import legal_results, pack
from engine.players.random import RandomPlayer
from engine.records.decisions import played_by, read_checker_decisions, score_checker

START = "4HPwATDgc/ABMA"


def result(play: str) -> str:
    """The position ID after a play of 31 from the start."""
    return parse_play(play, Position.start(), (3, 1)).result.id


def decision(**changes: object) -> dict[str, object]:
    candidates = [
        {"play": "8/5 6/5", "result": result("8/5 6/5"), "equity": 0.16},
        {"play": "13/10 24/23", "result": result("13/10 24/23"), "equity": 0.0},
        {"play": "8/4", "result": result("8/4"), "equity": -0.25},
    ]
    return {"position": START, "dice": "31", "candidates": candidates} | changes


def written(path: Path, *lines: object) -> Path:
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


def choosing(*plays: str):
    """A chooser that makes these plays, whatever it is asked."""

    def choose(packed, dice):
        assert len(packed) == len(plays)
        return pack(np.array([read_id(result(play))[0].board for play in plays]))

    return choose


def test_the_best_candidate_costs_nothing_and_an_unlisted_one_as_much_as_the_worst(tmp_path):
    file = written(tmp_path / "d.jsonl", *[decision()] * 4)

    score = score_checker(
        read_checker_decisions(file), choosing("8/5 6/5", "13/10 24/23", "8/4", "24/20")
    )

    assert score.decisions == 4
    assert score.unlisted == 1
    assert score.mean_loss == pytest.approx((0 + 0.16 + 0.41 + 0.41) / 4)
    assert score.pr == pytest.approx(500 * score.mean_loss)


def test_candidates_are_compared_as_positions_in_any_order(tmp_path):
    reverse = decision(candidates=decision()["candidates"][::-1])
    file = written(tmp_path / "d.jsonl", reverse)

    assert score_checker(read_checker_decisions(file), choosing("6/5 8/5")).mean_loss == 0


def test_gzip_and_plain_say_the_same_and_limit_takes_the_first(tmp_path):
    lines = [decision(), decision(candidates=decision()["candidates"][:1])]
    plain = written(tmp_path / "d.jsonl", *lines)
    zipped = tmp_path / "d.jsonl.gz"
    zipped.write_bytes(gzip.compress(plain.read_bytes()))

    whole, other = read_checker_decisions(plain), read_checker_decisions(zipped)
    first = read_checker_decisions(plain, limit=1)

    for name in ("packed", "dice", "results", "equities", "offsets"):
        assert np.array_equal(getattr(whole, name), getattr(other, name))
    assert whole.offsets.tolist() == [0, 3, 4]
    assert len(first) == 1
    assert np.array_equal(first.packed[0], pack(Position.start().board[None])[0])


def test_probabilities_are_those_that_looked_four_plies_ahead(tmp_path):
    given = [0.6, 0.2, 0.01, 0.1, 0.005]
    results = [candidate["result"] for candidate in decision()["candidates"]]
    candidates = [
        {"result": results[0], "equity": 0.3, "ply": 4, "probs": given},
        {"result": results[1], "equity": 0.2, "ply": 2, "probs": given},
        {"result": results[2], "equity": 0.1},
    ]
    file = written(tmp_path / "d.jsonl", decision(candidates=candidates))

    read = read_checker_decisions(file).probabilities

    assert read.shape == (3, 5) and read.dtype == np.float32
    assert read[0].tolist() == pytest.approx(given)
    assert np.isnan(read[1:]).all()


class Witness(RandomPlayer):
    """A random player that notes the matches it is asked about, and for how many positions."""

    def __init__(self):
        super().__init__()
        self.asked = []

    def best_packed(self, packed, dice, match=None):
        self.asked.append((match, len(packed)))
        return super().best_packed(packed, dice)


def test_a_player_is_asked_at_the_score_and_cube_of_each_decision(tmp_path):
    to_seven = "AQHgACAAEAAE"  # 2-2, a 2-cube, no dice; and the same with 3 and 1 thrown
    rolled = encode_match(replace(decode_match(to_seven), dice=(3, 1)))
    lines = [decision(match=to_seven), decision(), decision(match=rolled)]
    lines[1]["dice"] = "66"
    only = legal_plays(Position.start(), (6, 6))[0].result.id
    lines[1]["candidates"] = [{"result": only, "equity": 0.0}]
    decisions = read_checker_decisions(written(tmp_path / "d.jsonl", *lines))
    player = Witness()

    chosen = played_by(player, decisions)

    assert player.asked == [(decode_match(to_seven), 2), (Match(), 1)]
    assert np.array_equal(chosen, RandomPlayer().best_packed(decisions.packed, decisions.dice))


def test_every_legal_result_may_be_listed(tmp_path):
    legal, _ = legal_results(pack(Position.start().board[None]), np.array([[3, 1]], np.int8))
    candidates = [
        {"result": Position(board[:, :26]).id, "equity": 0.1 * i} for i, board in enumerate(legal)
    ]
    file = written(tmp_path / "d.jsonl", decision(candidates=candidates))

    assert len(read_checker_decisions(file).results) == len(legal)


BAD_LINES = {
    "not JSON": ("{", "line 2: Expecting"),
    "not an object": ("[1]", r"line 2: the line is \[1\]"),
    "no position": (json.dumps(decision(position=None)), "line 2: position is None"),
    "bad dice": (json.dumps(decision(dice="71")), "line 2: dice '71'"),
    "no candidates": (json.dumps(decision(candidates=[])), r"line 2: candidates is \[\]"),
    "a candidate without result": (
        json.dumps(decision(candidates=[{"equity": 0.5}])),
        "line 2: result is None",
    ),
    "equity as text": (
        json.dumps(decision(candidates=[{"result": result("8/4"), "equity": "0.5"}])),
        "line 2: equity is '0.5'",
    ),
    "equity not finite": (
        json.dumps(decision(candidates=[{"result": result("8/4"), "equity": float("nan")}])),
        "line 2: equity is nan",
    ),
    "equity beyond floats": (
        json.dumps(decision(candidates=[{"result": result("8/4"), "equity": 10**400}])),
        "line 2: ",
    ),
    "probabilities that are none": (
        json.dumps(
            decision(
                candidates=[{"result": result("8/4"), "equity": 0, "ply": 4, "probs": [0.5, 0.6]}]
            )
        ),
        r"line 2: probs is \[0.5, 0.6\]",
    ),
    "probabilities of unknown depth": (
        json.dumps(decision(candidates=[{"result": result("8/4"), "equity": 0, "probs": []}])),
        "line 2: ply is None",
    ),
    "nested without end": ("[" * 100_000, "line 2: "),
    "malformed position": (json.dumps(decision(position="4HPw")), "line 2: position ID '4HPw'"),
    "malformed result": (
        json.dumps(decision(candidates=[{"result": "4HPw!", "equity": 0.5}])),
        "line 2: position ID '4HPw!'",
    ),
    "illegal result": (
        json.dumps(decision(candidates=[{"result": START, "equity": 0.5}])),
        f"line 2: {START} is no legal result of {START} with 31",
    ),
}


@pytest.mark.parametrize("kind", BAD_LINES)
def test_a_bad_line_is_named(tmp_path, kind):
    line, message = BAD_LINES[kind]
    file = written(tmp_path / "d.jsonl", decision())
    file.write_text(file.read_text() + line + "\n")

    with pytest.raises(FileFormatError, match=message) as caught:
        read_checker_decisions(file)
    assert str(file) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(read_checker_decisions(file, limit=1)) == 1


def test_bad_files_are_named(tmp_path):
    good = written(tmp_path / "d.jsonl", *[decision()] * 50)
    bad = {
        "missing": (tmp_path / "none.jsonl", "No such file"),
        "folder": (tmp_path, "directory"),
        "empty": (tmp_path / "empty.jsonl", "found none"),
        "binary": (tmp_path / "binary.jsonl", "binary"),
        "cut": (tmp_path / "cut.jsonl.gz", "damaged or cut short"),
        "damaged": (tmp_path / "damaged.jsonl.gz", "damaged or cut short"),
    }
    bad["empty"][0].write_bytes(b"")
    bad["binary"][0].write_bytes(b"\xff\xfe\x00")
    packed = gzip.compress(good.read_bytes())
    bad["cut"][0].write_bytes(packed[:-20])
    bad["damaged"][0].write_bytes(packed[:60] + bytes(20) + packed[80:])

    for path, message in bad.values():
        with pytest.raises(FileFormatError, match=message) as caught:
            read_checker_decisions(path)
        assert str(path) in str(caught.value)
