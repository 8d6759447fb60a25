"""`acepoint rollout`: what it prints, saves and refuses."""

import json
import sys

import pytest

from engine.cube.rollout import Rollout
from engine.interfaces.cli.main import main

START = "4HPwATDgc/ABMA"
MATCH = "XGID=-b----E-C---eE---c-e----B-:0:0:1:00:2:3:0:5:10"
BEAVERS = "XGID=-ABBBBBa-----Ba----cBb--h-:0:0:1:00:0:0:3:0:10"
FINISHED = "4HPwATAAAAAAAA"
QUICK = ("--truncate", "2", "--trials", "36")


@pytest.fixture
def command(monkeypatch, capsys, small_net):
    """Runs `acepoint rollout` in this process; gives exit code, standard output and error."""

    def run(*arguments: object) -> tuple[int, str, str]:
        given = ["acepoint", "rollout", *map(str, arguments), "--net", str(small_net)]
        monkeypatch.setattr(sys, "argv", given)
        with pytest.raises(SystemExit) as stop:
            main()
        printed = capsys.readouterr()
        return int(str(stop.value.code)), printed.out, printed.err

    return run


@pytest.fixture
def told(command):
    """The JSON object that the command prints."""

    def run(*arguments: object) -> dict:
        code, out, err = command(*arguments, "--json")
        assert (code, err) == (0, "")
        assert len(out.splitlines()) == 1
        return json.loads(out)

    return run


def test_plays_are_ranked_with_their_errors(told):
    answer = told(START, 31, "--candidates", 3, *QUICK)
    assert (answer["dice"], answer["trials"], answer["truncate"]) == ("31", 36, 2)
    equities = [each["equity"] for each in answer["candidates"]]
    assert len(equities) == 3 and equities == sorted(equities, reverse=True)
    assert sum(each["chance_best"] for each in answer["candidates"]) == pytest.approx(1)
    for each in answer["candidates"]:
        low, high = each["interval"]
        assert low < each["equity"] < high and each["standard_error"] > 0
        assert len(each["probabilities"]) == len(each["probability_errors"]) == 5


@pytest.mark.parametrize("text", [START, MATCH, BEAVERS])
def test_without_dice_the_cube_decision_is_rolled_out(told, text):
    answer = told(text, *QUICK)
    actions = [each["action"] for each in answer["candidates"]]
    assert actions == ["No double", "Double, take"]
    assert answer["double_pass"] == 1 and answer["double_take"] > -3
    assert answer["action"].split(",")[0] in {
        "Double", "No double", "Too good to double", "Redouble", "No redouble",
    }  # fmt: skip


def test_a_cube_of_no_use_to_the_leader_alone_is_rolled_out(told):
    """He needs one point after the Crawford game: a double would help the trailer only."""
    answer = told("XGID=-b----E-C---eE---c-e----B-:0:0:1:00:4:2:0:5:10", *QUICK)
    assert [each["action"] for each in answer["candidates"]] == ["No double", "Double, take"]
    assert answer["double_take"] < answer["no_double"]


def test_what_cannot_be_printed_is_saved_first(command, monkeypatch, tmp_path):
    def fail(*_: object) -> None:
        raise OSError("the disk of standard output is full")

    monkeypatch.setattr("engine.interfaces.cli.rollout.print_json", fail)
    file = tmp_path / "rollout.json"

    assert command(START, 31, *QUICK, "--out", file, "--json")[0] == 2

    assert len(json.loads(file.read_text())["trials"][0]) == 36


def test_what_cannot_be_saved_is_printed_all_the_same(command, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    code, out, err = command(START, 31, *QUICK, "--out", "x" * 253)

    assert code == 2
    assert "3-1 to play" in out and "all trials played" in out
    assert err.startswith("acepoint: cannot write 'xxx") and len(err.splitlines()) == 1


def test_the_tables_name_what_was_rolled_out(command):
    code, out, _ = command(START, 31, *QUICK, "--plain")
    assert code == 0
    assert "truncated after 2 plies, 0-ply, luck left in, seed 0; all trials played" in out
    assert "lose bg" in out
    code, out, _ = command(MATCH, *QUICK, "--cubeless")
    assert code == 0 and "No double" in out and "Double, take" not in out


def test_one_trial_has_an_equity_and_no_error(told, command):
    answer = told(START, 31, "--trials", 1, "--truncate", 1, "--candidates", 1)
    assert answer["candidates"][0]["standard_error"] is None
    assert command(START, 31, "--trials", 1, "--truncate", 1)[0] == 0


def test_a_saved_rollout_is_extended(told, tmp_path):
    file = tmp_path / "rollout.json"
    told(START, 31, *QUICK, "--out", file)
    extended = told(START, 31, *QUICK, "--trials", 72, "--resume", file, "--out", file)
    assert extended == told(START, 31, *QUICK, "--trials", 72)
    assert extended == told(START, 31, *QUICK, "--trials", 72, "--resume", file)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((START, 31, "--trials", 0), "trials 0"),
        ((START, 31, "--candidates", 0), "--candidates 0"),
        ((START, 31, "--workers", 0), "--workers 0"),
        ((START, 31, "--clear", "inf"), "clear inf: expected a number"),
        ((START, 31, "--clear", "nan"), "clear nan: expected a number"),
        ((START, 31, "--until-se", "inf"), "standard error inf: expected a number"),
        ((START, 31, "--plies", 9), "plies 9"),
        ((START, 31, "--later-from", 10**20), "later from 1"),
        ((START, 31, "--later-from", -1), "later from -1"),
        ((START, 31, "--cubeful", "--cubeless"), "--cubeful, --cubeless"),
        ((START, 37), "dice '37'"),
        ((FINISHED, 31), f"position '{FINISHED}': the game is over"),
        ((FINISHED,), f"position '{FINISHED}': the game is over"),
        ((START, 31, "--resume", "none.json"), "rollout file 'none.json'"),
        ((START, 31, "--out", "none/r.json"), "--out 'none/r.json': expected a file in a folder"),
        ((START, 31, "--out", "/"), "--out '/': expected a file"),
    ],
)
def test_bad_input_is_one_clear_line(command, arguments, said):
    code, out, err = command(*arguments)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1 and said in err


def test_ctrl_c_prints_and_saves_what_there_is(command, monkeypatch, tmp_path):
    run = Rollout.run

    def interrupted(rollout: Rollout, limits: object, *arguments: object) -> None:
        run(rollout, type(limits)(36), *arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(Rollout, "run", interrupted)
    file = tmp_path / "rollout.json"
    code, out, _ = command(START, 31, "--truncate", 2, "--out", file)
    assert code == 130 and "; interrupted:" in out and "lose bg" in out
    assert len(json.loads(file.read_text())["trials"][0]) == 36
