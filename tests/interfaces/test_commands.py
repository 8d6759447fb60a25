"""The real command on good input: what it prints, its JSON, its exit codes."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
import pytest

from engine import Bot, legal_plays, read_id
from engine.backgammon.notation import parse_play
from engine.backgammon.position import Position
from engine.interfaces.cli.main import main
from engine.interfaces.cli.perft import Perft

START = "4HPwATDgc/ABMA"
WITH_DICE = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10"
COMMANDS = (
    "move",
    "cube",
    "bearoff",
    "play",
    "tournament",
    "score",
    "met",
    "bench",
    "perft",
    "train",
)
SCRIPT = Path(sysconfig.get_path("scripts")) / "acepoint"


def test_a_table_is_printed_whatever_the_encoding():
    command = [SCRIPT, "tournament", "acepoint", "random", "--games", "4"]
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert " ? " in done.stdout, "for a plus-minus sign"


def object_of(done: "subprocess.CompletedProcess[str]") -> dict:
    assert done.returncode == 0, done
    assert len(done.stdout.splitlines()) == 1
    return json.loads(done.stdout)


def test_help_lists_every_command(acepoint):
    done = acepoint("--help")

    assert done.returncode == 0
    assert all(f"\n  {name} " in done.stdout for name in COMMANDS)
    assert "as gnubg counts" in " ".join(done.stdout.split())


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_counts_plies_and_has_an_example(acepoint, name):
    done = acepoint(name, "--help")

    assert done.returncode == 0
    assert "as gnubg counts" in " ".join(done.stdout.replace("│", " ").split())
    assert f"Example: acepoint {name} " in " ".join(done.stdout.split())


def test_move_json_has_the_fields_of_the_contract(acepoint, small_net):
    told = object_of(acepoint("move", START, "3-1", "--json", "--net", small_net))

    assert list(told) == ["position", "dice", "plies", "candidates"]
    assert (told["position"], told["dice"], told["plies"]) == (START, "31", 0)
    fields = ["play", "result", "equity", "probabilities", "plies"]
    assert all(list(candidate) == fields for candidate in told["candidates"])


def test_move_ranks_every_legal_play_as_the_bot_does(acepoint, small_net):
    told = object_of(acepoint("move", START, "31", "--json", "--net", small_net))["candidates"]
    position, _ = read_id(START)
    ranking = Bot(small_net).rank(position, (3, 1))

    assert {each["result"] for each in told} == {
        play.result.id for play in legal_plays(position, (3, 1))
    }
    assert [each["play"] for each in told] == [str(each.play) for each in ranking]
    for each, candidate in zip(told, ranking, strict=True):
        assert each["equity"] == pytest.approx(candidate.equity, abs=1e-6)
        assert each["probabilities"] == pytest.approx(candidate.probabilities.tolist(), abs=1e-6)
        assert parse_play(each["play"], position, (3, 1)).result.id == each["result"]


def test_move_takes_the_dice_from_the_id_unless_others_are_given(acepoint, small_net):
    from_id = object_of(acepoint("move", WITH_DICE, "--json", "--net", small_net))
    given = object_of(acepoint("move", WITH_DICE, "66", "--json", "--net", small_net))

    assert (from_id["dice"], given["dice"]) == ("31", "66")
    assert from_id["position"] == START


def test_move_prints_board_and_table(acepoint, small_net):
    done = acepoint("move", START, "31", "--candidates", "3", "--net", small_net)

    assert done.returncode == 0
    assert "+13-14-15-16-17-18-+" in done.stdout
    position, _ = read_id(START)
    best = [str(each.play) for each in Bot(small_net).rank(position, (3, 1))]
    shown = done.stdout.partition("play ")[2].splitlines()[2:]
    assert [line[1:].partition("  ")[0] for line in shown[:3]] == best[:3]
    assert "13 more plays: --candidates 16" in shown[3]
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_move_when_nothing_can_be_played(acepoint, small_net):
    """A checker on the bar against a closed board, its pips counted by hand."""
    board = np.zeros((2, 26), np.int8)
    board[0, [25, 0]] = 1, 14
    board[1, 1:7], board[1, 0] = 2, 3
    told = object_of(acepoint("move", Position(board).id, "31", "--json", "--net", small_net))

    (only,) = told["candidates"]
    assert only["play"] == "cannot move"
    assert only["result"] == Position(board[::-1]).id


@pytest.mark.parametrize(
    ("variant", "counts"),
    [
        ("backgammon", [447, 202_782]),
        ("nackgammon", [547, 324_161]),
        ("hypergammon", [195, 38_017]),
    ],
)
def test_perft(acepoint, variant, counts):
    told = object_of(acepoint("perft", "2", "--variant", variant, "--json"))

    assert list(told) == ["variant", "depth", "counts", "seconds"]
    assert told["counts"] == counts


def decisions(path: Path) -> Path:
    """One decision that every bot gets right, as it has no choice, and one with a made-up best."""
    start, _ = read_id(START)
    candidates = [
        {"play": str(play), "result": play.result.id, "equity": -0.1 * number}
        for number, play in enumerate(legal_plays(start, (3, 1)))
    ]
    only = legal_plays(start, (3, 1))[:1]
    lines = [
        {"position": START, "dice": "31", "candidates": candidates},
        {
            "position": START,
            "dice": "31",
            "candidates": [{"result": play.result.id, "equity": 0.5} for play in only],
        },
    ]
    path.write_text("\n".join(map(json.dumps, lines)))
    return path


def test_score_json_has_the_fields_of_the_contract(acepoint, small_net, tmp_path):
    file = decisions(tmp_path / "decisions.jsonl")
    told = object_of(acepoint("score", "checker", file, "--json", "--net", small_net))
    first = object_of(
        acepoint("score", "checker", file, "--json", "--net", small_net, "--limit", "1")
    )

    fields = ["pr", "mean_loss", "decisions", "unlisted", "plies", "seconds"]
    assert sorted(told) == sorted(fields)
    start, _ = read_id(START)
    results = [play.result for play in legal_plays(start, (3, 1))]
    choice = results.index(Bot(small_net).best(start, (3, 1)).result)
    assert told["mean_loss"] == pytest.approx(0.1 * choice / 2)
    assert first["mean_loss"] == pytest.approx(0.1 * choice)
    assert told["pr"] == pytest.approx(500 * told["mean_loss"])
    assert (told["decisions"], first["decisions"]) == (2, 1)
    assert told["unlisted"] == int(choice != 0)


def test_score_prints_a_table(acepoint, small_net, tmp_path):
    done = acepoint("score", "checker", decisions(tmp_path / "d.jsonl"), "--net", small_net)

    assert done.returncode == 0
    assert done.stdout.split()[:4] == ["plies", "PR", "mean", "loss"]


def test_score_by_phase_adds_a_row_for_each_phase_and_one_for_all(acepoint, small_net, tmp_path):
    file = decisions(tmp_path / "d.jsonl")
    told = object_of(acepoint("score", "checker", file, "--json", "--by-phase", "--net", small_net))
    shown = acepoint("score", "checker", file, "--by-phase", "--net", small_net)

    contact, whole = told["phases"]
    assert (contact["phase"], whole["phase"]) == ("contact", "all")
    assert contact["pr"] == whole["pr"] == told["pr"]
    assert contact["decisions"] == told["decisions"] == 2
    assert contact["candidates"] == 0
    assert shown.returncode == 0
    assert shown.stdout.splitlines()[-1].split() == ["all", "2", f"{told['pr']:.2f}", "0"]


def test_another_player_is_scored_as_the_net_itself_would_be(acepoint, small_net, tmp_path):
    file = decisions(tmp_path / "d.jsonl")
    own = object_of(acepoint("score", "checker", file, "--json", "--net", small_net))
    named = ["--player", f"acepoint:0:net={small_net}"]
    told = object_of(acepoint("score", "checker", file, "--json", "--by-phase", *named))
    shown = acepoint("score", "checker", file, *named)

    assert told["plies"] is None
    assert [told[key] for key in ("pr", "unlisted")] == [own[key] for key in ("pr", "unlisted")]
    assert shown.stdout.split()[0] == "player"


def test_play_is_a_game_against_the_bot(acepoint, small_net):
    done = acepoint("play", "--seed", "3", "--net", small_net, typed="hint\nresign backgammon\nn\n")

    assert done.returncode == 0
    assert done.stderr == ""
    assert "equity" in done.stdout
    assert "Score: you 0, Acepoint 3." in done.stdout


def test_the_same_seed_throws_the_same_dice(acepoint, small_net):
    first, second = (
        acepoint("play", "--seed", "3", "--net", small_net, typed="quit\n").stdout for _ in range(2)
    )
    assert first == second


def test_an_interrupt_ends_it_quietly(acepoint, small_net):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([SCRIPT, "play", "--net", small_net], **pipes) as process:
        process.stdout.readline()
        while process.poll() is None:  # one that comes just before it waits for a line is not heard
            process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
        errors = process.stderr.read()

    assert process.returncode == 130
    assert b"Traceback" not in errors


def test_an_interrupt_that_numba_hides_is_one_too(monkeypatch):
    """It comes while Python objects are made of what a kernel returns."""

    def interrupted(_command):
        raise SystemError("a result with an exception set") from KeyboardInterrupt()

    monkeypatch.setattr(Perft, "run", interrupted)
    monkeypatch.setattr(sys, "argv", ["acepoint", "perft", "1"])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 130


@pytest.mark.parametrize(
    ("arguments", "found", "left"),
    [(["perft", "1"], None, "1"), (["perft", "1"], "3", "3"), (["train", "--help"], None, None)],
)
def test_our_commands_keep_numpy_to_one_thread(monkeypatch, capsys, arguments, found, left):
    monkeypatch.setattr(sys, "argv", ["acepoint", *arguments])
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", found or "")  # so that it is restored
    if found is None:
        monkeypatch.delenv("OPENBLAS_NUM_THREADS")

    with pytest.raises(SystemExit) as stop:
        main()

    assert stop.value.code == 0
    assert os.environ.get("OPENBLAS_NUM_THREADS") == left


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_reader_that_leaves_is_no_error(acepoint, options):
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([SCRIPT, "perft", "1", *options], **pipes) as process:
        process.stdout.close()
        errors = process.stderr.read()

    assert process.returncode == 141
    assert errors == b""
