"""`cube`, `met`, `score cube`, and `move` at a score: what they print, and what they refuse."""

import json
import sys
from pathlib import Path

import pytest

from engine import Bot, read_id
from engine.backgammon.position import Position
from engine.backgammon.variants import HYPERGAMMON
from engine.cube.context import CubeContext
from engine.cube.met import load_table
from engine.evaluation import outcome
from engine.interfaces.cli.main import main

START = "4HPwATDgc/ABMA"
FINISHED = "4HPwATAAAAAAAA"
CELLS = "XGID=-ABBBBBa-----Ba----cBb--h-"
MONEY = f"{CELLS}:0:0:1:00:0:0:0:0:10"
BEAVERS = f"{CELLS}:0:0:1:00:0:0:3:0:10"
TRAILER = f"{CELLS}:0:0:1:00:3:4:0:5:10"
CRAWFORD = f"{CELLS}:0:0:1:00:3:4:1:5:10"
THEIRS = f"{CELLS}:1:-1:1:00:0:0:0:5:10"
OVER = f"{CELLS}:0:0:1:00:5:4:0:5:10"
GOLDEN = Path(__file__).parents[1] / "golden" / "cube_decisions.jsonl"


@pytest.fixture
def command(monkeypatch, capsys, small_net):
    """Runs a command line in this process; gives exit code, standard output and error."""

    def run(*arguments: object, net: bool = True) -> tuple[int, str, str]:
        given = [*map(str, arguments), *(["--net", str(small_net)] if net else [])]
        monkeypatch.setattr(sys, "argv", ["acepoint", *given])
        with pytest.raises(SystemExit) as stop:
            main()
        printed = capsys.readouterr()
        return int(str(stop.value.code)), printed.out, printed.err

    return run


@pytest.fixture
def told(command):
    """The JSON object that a command prints."""

    def run(*arguments: object, net: bool = True) -> dict:
        code, out, err = command(*arguments, "--json", net=net)
        assert (code, err) == (0, "")
        assert len(out.splitlines()) == 1
        return json.loads(out)

    return run


@pytest.mark.parametrize("text", [START, MONEY, BEAVERS, TRAILER, CRAWFORD, THEIRS])
def test_cube_json_has_the_fields_of_the_contract(told, small_net, text):
    answer = told("cube", text)
    position, match = read_id(text)
    decision = Bot(small_net).cube(position, match)

    assert answer == {
        "position": position.id,
        "plies": 0,
        "no_double": decision.no_double,
        "double_take": decision.double_take,
        "double_pass": decision.double_pass,
        "action": decision.action,
        "take": decision.takes,
        "probabilities": decision.probabilities.tolist(),
    }


def test_cube_prints_the_equities_always_in_the_same_order(command, small_net):
    code, out, err = command("cube", TRAILER)
    decision = Bot(small_net).cube(*read_id(TRAILER))

    assert (code, err) == (0, "")
    assert "X needs 2 points, O 1; cube at 1 in the centre." in out
    assert "Gammon price: 1.00 for X, 0.00 for O. 0-ply:" in out
    places = [out.index(words) for words in ("No double ", "Double, take ", "Double, pass ")]
    assert places == sorted(places)
    for equity in (decision.no_double, decision.double_take, decision.double_pass):
        assert f"{equity:+.4f}" in out
        assert f"{100 * decision.context.mwc(equity):.2f}" in out
    assert f"Proper cube action: {decision.action}\n" in out
    assert "take point of O" in out
    assert max(map(len, out.splitlines())) <= 80


def test_cube_tells_what_errors_cost(command, small_net):
    _, out, _ = command("cube", MONEY)
    errors = Bot(small_net).cube(*read_id(MONEY)).errors
    names = {"no double": "Not doubling", "double": "Doubling", "take": "Taking", "pass": "Passing"}

    for choice, name in names.items():
        assert (f"{name} costs {errors[choice]:.4f}." in out) == (errors[choice] >= 0.0005)


def test_cube_shows_beavers_where_they_are_played(command):
    _, with_beavers, _ = command("cube", BEAVERS)
    _, without, _ = command("cube", MONEY)

    assert "Money game, Jacoby, Beavers; cube at 1" in with_beavers
    assert "Double, beaver " in with_beavers
    assert "beaver" not in without.lower()


def test_the_highest_cube_of_an_xgid_is_the_last(told, small_net):
    """Doubled to it, the cube is dead: as many points as twice the chances say."""
    answer = told("cube", f"{CELLS}:0:0:1:00:0:0:0:0:1")
    (values,) = Bot(small_net).evaluate([read_id(MONEY)[0]])

    assert answer["double_take"] == pytest.approx(2 * float(outcome.equity(values)), abs=1e-6)
    assert answer["double_take"] != pytest.approx(told("cube", MONEY)["double_take"], abs=1e-3)
    assert told("cube", f"{CELLS}:0:0:1:00:0:0:0:0:0")["action"] == "Cube not available"


@pytest.mark.parametrize(("letter", "waits"), [("B", "beaver"), ("R", "raccoon")])
def test_what_waits_for_an_answer_after_a_double_is_not_judged_as_one(command, letter, waits):
    text = f"{CELLS}:2:-1:1:{letter}:0:0:3:0:10"
    code, out, err = command("cube", text)

    assert (code, out) == (2, "")
    assert f"position '{text}': a {waits} waits for an answer: expected a double at most" in err


def test_in_a_match_plays_have_their_match_winning_chance(command, small_net):
    _, out, _ = command("move", TRAILER, 31)
    position, match = read_id(TRAILER)
    best, *_ = Bot(small_net).rank(position, (3, 1), match)
    chance = CubeContext.of(match).mwc(best.equity)

    assert "EMG" in out and "equity" not in out
    assert f"{best.equity:+.4f}" in out and f" {100 * chance:.2f} " in out
    assert "MWC" not in command("move", MONEY, 31)[1]


@pytest.mark.parametrize(
    ("text", "situation"),
    [(CRAWFORD, "X needs 2 points, O 1; no cube"), (THEIRS, "cube at 2 with O")],
)
def test_cube_when_the_player_may_not_double(command, text, situation):
    _, out, _ = command("cube", text)

    assert situation in out
    assert "Proper cube action: Cube not available\n" in out
    assert "Double, take" not in out
    assert "take point" not in out


def test_another_table_gives_another_equity_in_a_match_only(told, tmp_path):
    file = tmp_path / "my.csv"
    file.write_text(load_table("woolsey").to_text())
    score = f"{CELLS}:0:0:1:00:1:2:0:7:10"

    standard, jacobs, mine = (
        told("cube", score, *extra)["no_double"]
        for extra in ([], ["--met", "jacobs"], ["--met", file])
    )
    assert len({standard, jacobs, mine}) == 3
    assert mine == pytest.approx(told("cube", score, "--met", "woolsey")["no_double"], abs=1e-6)
    assert told("cube", MONEY) == told("cube", MONEY, "--met", "jacobs")


def test_cube_of_a_variant(command, random_network, tmp_path):
    random_network(8, variant="hypergammon").save(tmp_path / "net")
    arguments = ["--variant", "hypergammon", "--net", tmp_path / "net"]
    code, out, _ = command("cube", Position.start(HYPERGAMMON).id, *arguments, net=False)

    assert code == 0
    assert out.count("69 pips") == 2


# Plays at a score


def test_move_uses_the_match_of_the_id(told, small_net):
    text = f"{CELLS}:0:0:1:31:3:4:0:5:10"
    position, match = read_id(text)
    ranking = Bot(small_net).rank(position, (3, 1), match)
    answer = told("move", text)["candidates"]

    assert [each["play"] for each in answer] == [str(each.play) for each in ranking]
    assert [each["equity"] for each in answer] == [each.equity for each in ranking]


def test_move_cubeless_shows_the_other_equities(told, command, small_net):
    position, _ = read_id(START)
    ranking = Bot(small_net).rank(position, (3, 1), CubeContext().without_cube())
    answer = told("move", START, "31", "--cubeless")["candidates"]

    assert [each["equity"] for each in answer] == [each.equity for each in ranking]
    assert answer != told("move", START, "31")["candidates"]
    assert "Money game; cube at 1 in the centre." in command("move", START, "31")[1]
    assert "Money game; no cube." in command("move", START, "31", "--cubeless")[1]


# Scoring cube decisions


def test_score_cube_json_has_the_fields_of_the_contract(told):
    given = told("score", "cube", GOLDEN, "--given-probabilities", net=False)
    own = told("score", "cube", GOLDEN)
    some = told("score", "cube", GOLDEN, "--limit", "7")

    assert list(given) == ["double_loss", "take_loss", "decisions", "plies", "seconds"]
    assert (given["decisions"], some["decisions"], given["plies"]) == (300, 7, 0)
    assert given["double_loss"] < own["double_loss"]
    assert given["take_loss"] < own["take_loss"]


def test_score_cube_prints_a_table(command):
    code, out, _ = command("score", "cube", GOLDEN, "--given-probabilities", net=False)

    assert code == 0
    assert out.split()[:5] == ["plies", "double", "loss", "take", "loss"]


# Match equity tables


def test_met_show_prints_a_table(command):
    code, out, err = command("met", "show", net=False)

    assert (code, err) == (0, "")
    assert "Kazaross-XG2 match equity table, copyright (C) 2011 Neil Kazaross" in out
    assert "Trailer after the Crawford game" in out
    assert "32.3" in out and "48.8" in out
    assert max(map(len, out.splitlines())) <= 80


def test_met_json(told):
    answer = told("met", "show", "--met", "g11", "--points", "12", net=False)
    table = load_table("g11")

    assert list(answer) == ["met", "source", "pre", "post"]
    assert answer["met"] == "g11"
    assert answer["pre"] == table.pre[1:13, 1:13].tolist()
    assert answer["post"] == table.post[1:13].tolist()
    assert len(told("met", "show", "--points", "64", net=False)["pre"]) == 64


def test_met_compute_prints_a_file_that_met_takes(command, told, tmp_path):
    code, out, _ = command(
        "met", "compute", "--gammon-rate", "0.2", "--efficiency", "0.5", "--points", "11", net=False
    )
    (tmp_path / "my.csv").write_text(out)
    shown = told("met", "show", "--met", tmp_path / "my.csv", "--points", "11", net=False)
    computed = told(
        "met", "compute", "--gammon-rate", "0.2", "--efficiency", "0.5", "--points", "11", net=False
    )

    assert code == 0
    assert out.startswith("# Computed by Acepoint: gammon rate 0.2, cube efficiency 0.5\naway,1,")
    assert shown["post"] == pytest.approx(computed["post"], abs=1e-6)
    assert [each for row in shown["pre"] for each in row] == pytest.approx(
        [each for row in computed["pre"] for each in row], abs=1e-6
    )


# What is refused


@pytest.mark.parametrize(
    ("arguments", "quoted"),
    [
        (["cube", "4HPw"], "'4HPw'"),
        (["cube", FINISHED], f"position '{FINISHED}': the game is over"),
        (["cube", OVER], "score of player 1 5: expected less than"),
        (["cube", START, "--met", "nosuch"], "match equity table 'nosuch'"),
        (["cube", START, "--plies", "99"], "plies 99"),
        (["cube", START, "--variant", "tabula"], "variant 'tabula'"),
        (["move", START, "31", "--met", "nosuch"], "match equity table 'nosuch'"),
        (["met", "show", "--met", "nosuch"], "match equity table 'nosuch'"),
        (["met", "show", "--points", "65"], "--points 65: expected 1 to 64"),
        (["met", "show", "--points", "0"], "--points 0"),
        (["met", "show", "--efficiency", "0.5"], "expected with met compute only"),
        (["met", "compute", "--met", "g11"], "--met g11: expected with met show only"),
        (["met", "compute", "--gammon-rate", "2"], "gammon rate 2.0: expected a number from 0"),
        (["met", "compute", "--efficiency", "nan"], "cube efficiency nan"),
        (["met", "burn"], "burn"),
        (["score", "cube", "none.jsonl"], "none.jsonl"),
        (["score", "checker", GOLDEN, "--given-probabilities"], "--given-probabilities"),
        (["score", "cube", GOLDEN, "--given-probabilities", "--plies", "1"], "--plies"),
        (["score", "cube", GOLDEN, "--given-probabilities", "--net", "x"], "--net"),
        (["score", "checker", GOLDEN], "dice is None"),
    ],
)
def test_bad_input_is_one_line_and_code_2(command, arguments, quoted):
    code, out, err = command(*arguments, net=False)

    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert quoted in err
