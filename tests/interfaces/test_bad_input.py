"""Bad input to the real command: exit code 2 and one line that quotes what is wrong."""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from engine.backgammon.plays import legal_plays
from engine.backgammon.position import Position
from engine.interfaces.cli.main import main

START = "4HPwATDgc/ABMA"
XGID = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10"
RUN = "from engine.interfaces.cli.main import main; main()"
FINISHED = "4HPwATAAAAAAAA"  # the player on roll has borne off all


@pytest.fixture
def refused(monkeypatch, capsys, acepoint):
    """Runs a command line in this process and gives the line with which it is refused."""

    def run(*arguments: object) -> str:
        monkeypatch.setattr(sys, "argv", ["acepoint", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        printed = capsys.readouterr()
        assert stop.value.code == 2
        assert printed.out == ""
        assert len(printed.err.splitlines()) == 1, printed.err
        assert printed.err.startswith("acepoint: ")
        return printed.err

    return run


@pytest.mark.parametrize(
    ("arguments", "quoted"),
    [
        (["move", "4HPw", "31"], "'4HPw'"),
        (["move", START, "77"], "'77'"),
        (["move", START, "31", "--net", "none.safetensors"], "none.safetensors"),
        (["score", "checker", "none.jsonl"], "none.jsonl"),
        (["tournament", "random", "nobody"], "nobody"),
        (["move", START, "31", "--pies"], "--pies"),
        (["mvoe", START], "command 'mvoe': expected one of move, cube"),
        (["bearoff", "build", "--kind", "None"], "'None'"),
    ],
)
def test_the_installed_command_refuses_in_one_line_with_code_2(acepoint, arguments, quoted):
    done = acepoint(*arguments)

    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert quoted in done.stderr


@pytest.mark.parametrize(
    ("position", "quoted"),
    [
        ("", "position ''"),
        ("4HPw", "position '4HPw'"),
        ("4HPwATDgc/AB!A", "'4HPwATDgc/AB!A': character '!'"),
        ("4HPwATDgc/ABMB", "'4HPwATDgc/ABMB': the last character"),
        ("////////////8A", "'////////////8A': the opponent has more than 15"),
        ("4HPwATDgc/ABMA:cAk", "match ID 'cAk'"),
        ("4HPwATDgc/ABMA:!!!!!!!!!!!!", "match ID '!!!!!!!!!!!!'"),
        (XGID[:35], f"XGID {XGID[:35]!r}"),
        (XGID.replace("b", "p"), "position: the top player"),
        (XGID.replace(":31:", ":71:"), "dice '71'"),
        ("board:You:Acepoint:1:0", "FIBS board 'board:You:Acepoint:1:0'"),
    ],
)
def test_a_malformed_position_is_quoted(refused, position, quoted):
    assert quoted in refused("move", position, "31")


@pytest.mark.parametrize("dice", ["", "3", "07", "77", "abc", "3-1-1"])
def test_malformed_dice_are_quoted(refused, dice):
    assert f"dice {dice!r}" in refused("move", START, dice)


def test_dice_must_come_from_somewhere(refused):
    assert "no dice" in refused("move", START)


def test_a_finished_game_has_no_plays(refused):
    line = refused("move", FINISHED, "31")
    assert FINISHED in line
    assert "over" in line


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["move", START, "31", "--plies", "5"], "plies 5: expected 0 to 4"),
        (["move", START, "31", "--plies", "1", "--filter", "sieve"], "filter 'sieve'"),
        (["score", "checker", "decisions.jsonl", "--plies", "5"], "decisions.jsonl"),
        (["move", START, "31", "--plies", "-1"], "plies -1"),
        (["move", START, "31", "--plies", "two"], "'two'"),
        (["move", START, "31", "--candidates", "0"], "--candidates 0"),
        (["move", START, "31", "--variant", "chess"], "'chess'"),
        (["move", START, "31", "--pies", "0"], "--pies"),
        (["move"], "POSITION"),
        (["perft", "0"], "depth 0"),
        (["perft", "deep"], "'deep'"),
        (["perft", "1", "--variant", "chess"], "'chess'"),
        (["score", "dice", "decisions.jsonl"], "'dice'"),
        (["score", "checker", "decisions.jsonl", "--limit", "0"], "--limit 0"),
        (["score", "checker", "d.jsonl", "--player", "gnubg:0", "--plies", "1"], "gnubg:0"),
        (["score", "checker", "d.jsonl", "--player", "sage:1", "--filter", "wide"], "--filter"),
        (["score", "cube", "d.jsonl", "--by-phase"], "--by-phase"),
        (["score", "cube", "d.jsonl", "--filter", "wide"], "--filter"),
        (["score", "cube", "d.jsonl", "--player", "gnubg:0"], "--player"),
        (["play", "--seed", "-1"], "--seed -1"),
        (["play", "--variant", "chess"], "'chess'"),
        (["play", "--length", "5", "--jacoby", "on"], "--length"),
        (["play", "--length", "5", "--beavers"], "--length"),
        (["play", "--length", "5", "--automatic-doubles", "1"], "--length"),
        (["tournament", "random", "nobody"], "nobody"),
        (["tournament", "random"], "random"),
        (["castle"], "castle"),
        ([], "tournament"),
    ],
)
def test_a_bad_argument_is_named(refused, arguments, said):
    assert said in refused(*arguments)


def bad_nets(good: Path, folder: Path) -> dict[str, Path]:
    """Files that look like nets, by what is wrong with them."""
    content = good.read_bytes()
    (folder / "truncated").write_bytes(content[:-100])
    (folder / "text").write_text("no net\n")
    (folder / "empty").write_bytes(b"")
    save_file({"layer0.weight": np.zeros((8, 4), np.float32)}, folder / "other")
    (folder / "encoder").write_bytes(content.replace(b"thermometer", b"hygrometers"))
    flipped = bytearray(content)
    flipped[-1] ^= 1
    (folder / "damaged").write_bytes(flipped)
    kinds = ("truncated", "text", "empty", "other", "encoder", "damaged", "missing")
    return {kind: folder / kind for kind in kinds} | {"folder": folder}


@pytest.mark.parametrize(
    "kind", ["truncated", "text", "empty", "other", "encoder", "damaged", "missing", "folder"]
)
def test_a_net_that_cannot_be_used_is_named(refused, small_net, tmp_path, kind):
    path = bad_nets(small_net, tmp_path)[kind]

    assert str(path) in refused("move", START, "31", "--net", path)


@pytest.mark.parametrize("command", [["move", "AACgAgAAKgAAAA", "31"], ["play"]])
def test_a_net_for_another_variant_is_refused(refused, small_net, command):
    assert "hypergammon" in refused(*command, "--variant", "hypergammon", "--net", small_net)


def test_a_folder_is_no_net(refused, tmp_path):
    assert f"{str(tmp_path)!r}: is a folder" in refused("move", START, "31", "--net", tmp_path)


@pytest.mark.parametrize("option", ["--net", "--met"])
def test_an_option_with_nothing_after_it_is_named(refused, option):
    assert f"{option} '': expected" in refused("cube", START, option, "")
    assert f"{option} '': expected" in refused("cube", START, f"{option}=")


def test_a_limit_may_be_beyond_any_file(refused, tmp_path):
    (tmp_path / "decisions.jsonl").write_text("[1]\n")
    file = tmp_path / "decisions.jsonl"
    assert f"{file}: line 1" in refused("score", "checker", file, "--limit", 10**23)


@pytest.mark.parametrize("player", ["nobody", "random"])
def test_a_player_that_cannot_be_scored_is_named(refused, player, tmp_path):
    file = tmp_path / "d.jsonl"
    play = legal_plays(Position.start(), (3, 1))[0]
    candidates = [{"result": play.result.id, "equity": 0}]
    file.write_text(json.dumps({"position": START, "dice": "31", "candidates": candidates}))
    assert player in refused("score", "checker", file, "--player", player)


def test_a_file_that_is_not_there_is_named(refused, tmp_path):
    assert str(tmp_path / "none.jsonl") in refused("score", "checker", tmp_path / "none.jsonl")
    assert "none.safetensors" in refused(
        "tournament", "random", f"acepoint:0:net={tmp_path}/none.safetensors"
    )


def test_a_disk_too_full_for_the_kernels_is_said_in_one_line(tmp_path):
    def no_room_for_a_kernel() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (256, 256))

    done = subprocess.run(
        [sys.executable, "-c", RUN, "perft", "1"],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"XDG_CACHE_HOME": str(tmp_path)},
        preexec_fn=no_room_for_a_kernel,
    )
    assert done.returncode == 2
    last = done.stderr.splitlines()[-1]
    assert last.startswith("acepoint: ") and "File too large" in last
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("closed", ["stdout", "stderr"])
def test_a_closed_output_is_no_reason_to_fail(acepoint, small_net, closed):
    """As `acepoint move ... >&-` has it."""
    code = f"import os, sys; os.close({1 if closed == 'stdout' else 2}); sys.{closed} = None\n{RUN}"
    done = subprocess.run(
        [sys.executable, "-c", code, "move", START, "31", "--net", str(small_net)],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert ("8/5 6/5" in done.stdout) == (closed == "stderr")


def test_a_message_is_one_line_in_any_encoding(acepoint):
    """tyro draws its boxes with other characters there."""
    done = subprocess.run(
        [sys.executable, "-c", RUN, "move", START, "31", "--plies", "x"],
        env=os.environ | {"PYTHONIOENCODING": "latin-1"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 2
    assert done.stderr.startswith("acepoint: Error parsing --plies: invalid literal for int()")
    assert len(done.stderr.splitlines()) == 1
