"""`acepoint train`: a real process that is stopped, its output, and what it refuses."""

import signal
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from engine.evaluation.network import Network
from engine.interfaces.cli.main import main

TINY = [
    *("--seed", "7", "--shape.hidden", "16", "8", "--self-play.games", "16"),
    *("--self-play.backups", "256", "--stages.td-share", "0.3"),
    *("--learning.td-batch", "64", "--learning.batch", "64", "--learning.replay", "1"),
    *("--learning.buffer", "1500", "--deals", "0"),
    "--stages.no-bearoff",
]


@pytest.fixture
def train(monkeypatch, capsys, acepoint):
    """Runs `acepoint train` in this process: its exit code, its output, its messages."""

    def run(*arguments: object) -> tuple[int, str, list[str]]:
        monkeypatch.setattr(sys, "argv", ["acepoint", "train", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        printed = capsys.readouterr()
        return stop.value.code, printed.out, printed.err.splitlines()

    return run


def test_a_run_says_where_the_net_is(train, begin, finish, tmp_path):
    code, out, told = train("--games", 120, "--out", tmp_path / "run", "--workers", 2, *TINY)

    assert code == 0
    assert out == f"{tmp_path / 'run' / 'net.safetensors'}\n"
    assert any(" minutes, " in line and " games, " in line for line in told)
    assert Network.load(out.strip(), "backgammon").hash == Network.load(finish(begin())).hash


def test_ctrl_c_saves_and_says_how_to_go_on(train, begin, finish, acepoint, tmp_path):
    folder = tmp_path / "run"
    script = Path(sysconfig.get_path("scripts")) / "acepoint"
    command = [script, "train", "--games", "120", "--out", folder, *TINY]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        told = b""
        while b"TD, " not in told:  # the first iteration is done
            told += process.stderr.read1()
            assert process.poll() is None, told
        process.send_signal(signal.SIGINT)
        out, rest = process.communicate()

    assert process.returncode == 130
    assert out == b""
    last = rest.decode().splitlines()[-1]
    assert last == f"go on with: acepoint train --resume {folder}"
    assert "Traceback" not in rest.decode()

    code, out, _ = train("--resume", folder, "--deals", 0)

    assert code == 0
    assert Network.load(out.strip()).hash == Network.load(finish(begin())).hash


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--minutes", "1", "--games", "1"], "--minutes and --games: expected one of them"),
        (["--minutes", "0"], "--minutes 0.0: expected more than 0"),
        (["--minutes", "nan"], "--minutes nan: expected more than 0"),
        (["--minutes", "inf"], "--minutes inf: expected more than 0"),
        (["--games", "-1"], "--games -1: expected more than 0"),
        (["--workers", "0"], "--workers 0: expected 1 or more"),
        (["--deals", "-1"], "--deals -1: expected 0 or more"),
        (["--seed", "-1"], "seed -1: expected"),
        (["--learning.rate", "nan"], "rate nan: expected"),
        (["--shape.hidden", "12"], "hidden 12: expected multiples of 8"),
        (["--shape.encoder", "wavelets"], "encoder 'wavelets': expected one of"),
        (["--variant", "chess"], "variant 'chess': expected one of backgammon"),
        (["--init", "none.safetensors"], "net file 'none.safetensors': no such file"),
        (["--decisions", "none.jsonl"], "none.jsonl"),
        (["--seed", "one"], "--seed"),
        (["--device", "abacus"], "device 'abacus': "),
        (["--device", "meta"], "device 'meta': "),
    ],
)
def test_bad_settings_are_refused_in_one_line(arguments, said, train, tmp_path):
    given = [] if "--deals" in arguments else ["--deals", 0]
    code, out, told = train(*arguments, *given, "--out", tmp_path / "run")

    assert (code, out) == (2, "")
    (line,) = told
    assert line.startswith("acepoint: ")
    assert said in line
    assert not (tmp_path / "run").exists()


def test_a_run_never_goes_into_a_folder_with_something_in_it(train, tmp_path):
    (tmp_path / "thesis.tex").write_text("")
    code, _, (line,) = train("--out", tmp_path)
    assert code == 2
    assert f"--out {str(tmp_path)!r} is not an empty folder" in line


def test_a_run_never_goes_into_a_file(train, tmp_path):
    (tmp_path / "file").write_text("")
    for out in (tmp_path / "file", tmp_path / "file" / "run"):
        code, _, (line,) = train("--out", out, "--deals", 0)
        assert code == 2
        assert f"--out {str(out)!r}" in line


def test_what_cannot_be_taken_up_is_refused(train, tmp_path):
    code, out, (line,) = train("--resume", tmp_path, "--deals", 0)
    assert (code, out) == (2, "")
    assert f"checkpoint {str(tmp_path / 'checkpoint.safetensors')!r}: no such file" in line
    assert list(tmp_path.iterdir()) == []


def test_a_device_that_is_not_there_is_no_fault_of_the_run_taken_up(train, begin, finish):
    trainer = begin()
    finish(trainer)
    code, _, told = train("--resume", trainer.folder, "--deals", 0, "--device", "abacus")
    assert code == 2
    assert told[-1].startswith("acepoint: device 'abacus': ")


@pytest.mark.parametrize("more", [["--out", "runs/other"], ["--seed", 3]])
def test_a_run_goes_on_as_it_began(more, train, tmp_path):
    code, _, (line,) = train("--resume", tmp_path, *more)
    assert code == 2
    assert "--resume goes on as it began: expected no --out and no settings" in line


def test_a_rate_that_is_too_high_ends_in_one_line(train, tmp_path):
    absurd = ["--learning.rate", "1e30", "--games", 200, "--out", tmp_path / "run"]
    code, out, told = train(*TINY, *absurd)

    assert (code, out) == (2, "")
    assert told[-1].startswith("acepoint: the loss is nan: try a smaller rate than")
    assert not any("Traceback" in line for line in told)
