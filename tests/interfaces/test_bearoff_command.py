"""`acepoint bearoff`: what it builds, shows and refuses."""

import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from engine import match_id, read_id
from engine.backgammon.match import Match
from engine.backgammon.position import Position
from engine.backgammon.variants import VARIANTS
from engine.evaluation.bearoff import load
from engine.evaluation.bearoff_build import build
from engine.evaluation.bearoff_store import ONE_SIDED, TWO_SIDED, folder
from engine.interfaces.cli.main import main

BEAROFF = "KwIAQFIAAAAAAA"  # 1, 3, 5 and 6 against 1, 1, 2, 3 and 6
LAST_ROLLS = "IAAAgAAAAAAAAA"  # a checker on the six point each
GAMMONISH = "fN8HAAADAAAAAA"  # two on the ace point against fifteen
START = "4HPwATDgc/ABMA"
FINISHED = "4HPwATAAAAAAAA"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A cache folder with the default databases."""
    path = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(path))
        for database in (ONE_SIDED, TWO_SIDED):
            build(database, progress=False)
    return path


@pytest.fixture
def run(monkeypatch, capsys, built):
    """Runs `acepoint bearoff ...` in this process: exit code, output, messages."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(built))
    load.cache_clear()

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["acepoint", "bearoff", *arguments])
        with pytest.raises(SystemExit) as stop:
            main()
        return stop.value.code, *capsys.readouterr()

    yield run
    load.cache_clear()


def told(done):
    code, out, _ = done
    assert code == 0
    assert len(out.splitlines()) == 1
    return json.loads(out)


def test_build_says_what_it_built_and_builds_it_once(run, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    size = ("--points", "2", "--checkers", "3")

    first = told(run("build", "--json", *size))["databases"]
    second = told(run("build", "--json", *size))["databases"]
    (one,) = told(run("build", "--json", "--kind", "one-sided", *size))["databases"]

    assert [each["kind"] for each in first] == ["one-sided", "two-sided"]
    assert [each["positions"] for each in first] == [10, 10]
    assert [each["built"] for each in first + second] == [True, True, False, False]
    assert one == second[0] | {"seconds": one["seconds"]}
    assert sorted(each["file"] for each in first) == sorted(map(str, folder().iterdir()))


def test_build_prints_a_table_and_a_bar(run, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    code, out, messages = run("build", "--points", "2", "--checkers", "3")

    assert code == 0
    assert "one-sided 2x3" in out
    assert "two-sided 2x3" in out
    assert "100%" in messages


def test_show_is_exact_in_the_two_sided_database(run):
    fields = told(run("show", LAST_ROLLS, "--json"))

    assert fields["exact"]
    assert fields["probabilities"] == [0.8125, 0, 0, 0, 0]
    assert fields["equity"] == 0.625
    assert (fields["no_double"], fields["double_take"], fields["double_pass"]) == (0.5, 1, 1)
    assert (fields["action"], fields["take"]) == ("Double, take", True)
    assert {owner: each["no_double"] for owner, each in fields["money"].items()} == {
        "centre": 0.5,
        "me": 0.625,
        "opponent": 0.5,
    }
    for race in fields["races"]:
        assert race["pips"] == 6
        assert race["rolls"] == pytest.approx([0, 0.75, 0.25])
        assert race["mean_rolls"] == pytest.approx(1.25)
        assert race["epc"] == pytest.approx(1.25 * 49 / 6)
        assert race["wastage"] == pytest.approx(1.25 * 49 / 6 - 6)


def test_show_counts_gammons_outside_the_two_sided_database(run):
    fields = told(run("show", GAMMONISH, "--json"))

    assert not fields["exact"]
    assert fields["probabilities"] == [1, 1, 0, 0, 0]
    assert fields["action"] == "Too good to double, pass"
    assert sum(fields["races"][1]["first_checker"]) == pytest.approx(1)


def test_show_draws_the_rolls_of_both_sides(run):
    code, out, messages = run("show", BEAROFF)

    assert (code, messages) == (0, "")
    lines = out.splitlines()
    assert max(map(len, lines)) <= 100
    assert any("EPC" in line and "wastage" in line for line in lines)
    (three,) = (line for line in lines if line.startswith("     3"))
    _, mine, chance, theirs, their_chance = three.split()
    assert (chance, their_chance) == ("62.6", "75.1")
    assert (len(mine), len(theirs)) == (22, 26)
    assert "Chances of X (exact): win 81.44 %" in out
    assert out.endswith(" Proper cube action: Double, pass\n")


def test_show_judges_a_match_by_its_score(run):
    """At two points each a double is for the match: 81.25 % is a pass, though a take for money."""
    match = match_id(Match(length=2))

    fields = told(run("show", f"{LAST_ROLLS}:{match}", "--json"))
    _, out, _ = run("show", f"{LAST_ROLLS}:{match}")

    assert fields["exact"]
    assert (fields["action"], fields["take"]) == ("Double, pass", False)
    assert "this score, in EMG" in out


def test_show_takes_any_form_of_a_position(run):
    position, _ = read_id(LAST_ROLLS)

    assert told(run("show", position.xgid(), "--json")) == told(run("show", LAST_ROLLS, "--json"))


def test_show_knows_that_hypergammon_has_gammons(run):
    board = np.zeros((2, 26), np.int8)
    board[:, 1:4] = 1

    position = Position(board, VARIANTS["hypergammon"])
    fields = told(run("show", position.id, "--variant", "hypergammon", "--json"))

    assert not fields["exact"]
    assert fields["probabilities"][1] == pytest.approx(5 / 36)  # a double other than 11


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["show", START], f"'{START}': not in a bearoff database"),
        (["show", FINISHED], f"'{FINISHED}': the game is over"),
        (["show", "4HPw"], "position '4HPw'"),
        (["show"], "expected a position"),
        (["show", BEAROFF, "--points", "7"], "--points: expected with bearoff build only"),
        (["build", BEAROFF], f"'{BEAROFF}': expected with bearoff show only"),
        (["build", "--points", "13"], "13 points: expected a number from 1 to 12"),
        (["build", "--checkers", "0"], "0 checkers: expected a number from 1 to 15"),
        (["build", "--kind", "three-sided"], "three-sided"),
        (["burn"], "burn"),
    ],
)
def test_bad_input_is_refused_in_one_line(run, arguments, said):
    code, out, messages = run(*arguments)

    assert (code, out) == (2, "")
    assert len(messages.splitlines()) == 1
    assert said in messages


def test_show_builds_what_is_damaged_and_says_so(run, built):
    with TWO_SIDED.path.open("r+b") as file:
        file.seek(100_000)
        file.write(b"!!!!")

    code, out, messages = run("show", LAST_ROLLS)

    assert code == 0
    assert "its checksum is wrong" in messages
    assert "building the two-sided 6x6 bearoff database" in messages
    assert "(exact)" in out


def test_show_builds_nothing_for_a_position_that_is_no_bearoff(run, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    load.cache_clear()

    code, _, messages = run("show", START)

    assert code == 2
    assert len(messages.splitlines()) == 1
    assert not folder().exists()


def test_an_interrupted_build_says_so_and_leaves_nothing(tmp_path):
    code = (
        "import os, sys\n"
        "from engine.evaluation import bearoff_build\n"
        f"os.environ['XDG_CACHE_HOME'] = {str(tmp_path)!r}\n"
        "from engine.interfaces.cli.main import main\n"
        "sys.argv = ['acepoint', 'bearoff', 'build', '--kind', 'two-sided', '--checkers', '9']\n"
        "main()"
    )
    building = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE)
    fault = b""
    while b"pair/s" not in fault:
        piece = os.read(building.stderr.fileno(), 4096)
        assert piece, fault
        fault += piece
    building.send_signal(signal.SIGINT)
    _, rest = building.communicate()

    assert building.returncode == 130
    assert b"stopped; no two-sided 6x9 database was written" in rest
    assert list((tmp_path / "acepoint" / "bearoff").iterdir()) == []
