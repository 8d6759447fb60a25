"""`scripts/strength`: what it says of runs, by the files that they left."""

import re
import sys

import pytest

from engine.arena.statistics import Estimate
from engine.errors import AcepointError
from training.journal import Counters, Journal
from training.strength import POINTS, Measurement, draw, main, read_run, table
from training.yardstick import PR

TD = Measurement(1.5, 2048, 0, Estimate(-0.25, 0.125), 12.5)
EXACT = Measurement(15.0, 4100, 65_536, Estimate(0.5, 0.0625), None)


def note(folder, *measurements, first=1):
    """Let a journal write them, each an iteration later than the one before."""
    folder.mkdir(exist_ok=True)
    with Journal(folder, "", quiet=True) as journal:
        for step, (minutes, games, backups, points, pr) in enumerate(measurements, first):
            counters = Counters(step, games, 0, backups, 0, 60 * minutes)
            figures = {"points per game against random": Estimate(2.0, 0.01), POINTS: points}
            journal.strength(counters, figures | ({} if pr is None else {PR: Estimate(pr, None)}))
    return folder


def test_what_a_journal_has_noted_is_read_back(tmp_path):
    assert read_run(note(tmp_path / "run", TD, EXACT)) == [TD, EXACT]


def test_one_deal_gives_no_interval(tmp_path):
    lone = TD._replace(points=Estimate(-1.0, None))
    assert read_run(note(tmp_path / "run", lone)) == [lone]


def test_a_run_that_was_taken_up_has_each_measurement_once(tmp_path):
    """It was killed after the second measurement and went on from before it."""
    folder = note(tmp_path / "run", TD, EXACT)
    again, last = EXACT._replace(minutes=15.5), EXACT._replace(minutes=20.0)
    note(folder, again, last, first=2)

    assert read_run(folder) == [TD, again, last]


def test_the_table(tmp_path):
    lines = table({"quick": [TD, EXACT], "long": [EXACT]}).splitlines()

    assert [re.split(r" *\| *", line)[1:-1] for line in lines] == [
        ["run", "minutes", "games", "exact backups", POINTS, "checker PR"],
        ["---", "---:", "---:", "---:", "---:", "---:"],
        ["quick", "1.5", "2,048", "0", "-0.250 ± 0.125", "12.50"],
        ["quick", "15.0", "4,100", "65,536", "+0.500 ± 0.062", ""],
        ["long", "15.0", "4,100", "65,536", "+0.500 ± 0.062", ""],
    ]


def test_the_command_prints_all_or_the_ends(tmp_path, capsys):
    folder = note(tmp_path / "run", TD, EXACT)

    assert main([str(folder)]) == 0
    assert capsys.readouterr().out == table({str(folder): [TD, EXACT]}) + "\n"
    assert main([str(folder), "--ends"]) == 0
    assert capsys.readouterr().out == table({str(folder): [EXACT]}) + "\n"


def test_a_file_that_cannot_be_read_is_told_in_one_line(tmp_path, capsys):
    (tmp_path / "events.out.tfevents.1").mkdir()

    assert main([str(tmp_path)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "Is a directory" in line and "events.out.tfevents.1" in line


@pytest.mark.parametrize("name", ["none", "empty", "unmeasured"])
def test_a_folder_without_measurements_is_named(name, tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    (tmp_path / "unmeasured").mkdir()
    with Journal(tmp_path / "unmeasured", "", quiet=True) as journal:
        journal.strength(Counters(), {})
    capsys.readouterr()

    assert main([str(tmp_path / name)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    (line,) = printed.err.splitlines()
    assert f"run {str(tmp_path / name)!r}: no measurement against pubeval" in line


def test_a_plot_tells_runs_and_stages_apart_and_is_the_same_twice(tmp_path):
    pytest.importorskip("matplotlib")
    runs = {"quick": [TD, EXACT], "long": [TD]}
    first, second = tmp_path / "a.svg", tmp_path / "b.svg"
    draw(runs, first)
    draw(runs, second)

    text = first.read_text()
    assert text == second.read_text()
    assert len(text) < 100_000
    shown = re.findall(r"<text[^>]*>([^<]*)</text>", text)
    assert {"minutes", "games", "quick", "long", "TD(λ)", "exact backups", POINTS} <= set(shown)


def test_a_plot_goes_into_a_file_of_a_known_kind(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    draw({"quick": [TD]}, tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")

    with pytest.raises(AcepointError, match=r"a\.txt': expected a file ending in \.svg"):
        draw({"quick": [TD]}, tmp_path / "a.txt")
    with pytest.raises(AcepointError, match=r"cannot write .*No such file"):
        draw({"quick": [TD]}, tmp_path / "none" / "a.svg")


def test_a_plot_without_matplotlib_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(AcepointError, match=r"pip install acepoint\[plots\]"):
        draw({"quick": [TD]}, tmp_path / "a.svg")
