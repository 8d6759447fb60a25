"""Commands in a real terminal: nothing is cut, and an error is one line there too."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sysconfig
import termios
from pathlib import Path

import pytest

START = "4HPwATDgc/ABMA"
MATCH = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:2:3:0:5:10"
NARROWEST = 62  # of what cannot be parted: two columns of a rollout, a board
COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@pytest.fixture
def shown(small_net):
    """What a command shows in a terminal of so many columns, and its exit code."""

    def run(columns: int, *arguments: object) -> tuple[str, int]:
        mine, its = pty.openpty()
        fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        environment = {name: text for name, text in os.environ.items() if name != "COLUMNS"}
        script = Path(sysconfig.get_path("scripts")) / "acepoint"
        command = [script, *map(str, arguments), "--net", small_net]
        with subprocess.Popen(
            command, stdin=its, stdout=its, stderr=its, env=environment
        ) as process:
            os.close(its)
            said = b""
            while True:
                try:
                    part = os.read(mine, 65536)
                except OSError:  # the other end is closed
                    break
                if not part:
                    break
                said += part
        os.close(mine)
        return COLOURS.sub("", said.decode().replace("\r\n", "\n")), process.returncode

    return run


@pytest.mark.parametrize("columns", [60, 80, 200])
@pytest.mark.parametrize(
    "arguments",
    [
        ["move", MATCH, "--candidates", 3],
        ["cube", MATCH.replace(":31:", ":00:")],
        ["rollout", START, 31, "--candidates", 2, "--trials", 36, "--truncate", 1, "--no-bearoff"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_no_table_is_cut_or_wider_than_the_terminal(shown, acepoint, small_net, arguments, columns):
    out, code = shown(columns, *arguments)
    piped = acepoint(*arguments, "--net", small_net).stdout

    assert code == 0
    assert "…" not in out
    figures = re.findall(r"[+-]?\d+\.\d+", piped)
    assert figures and set(figures) <= set(re.findall(r"[+-]?\d+\.\d+", out))
    tables = [line for line in out.splitlines() if re.search(r"\d\.\d.*\d\.\d|──", line)]
    assert max(len(line.rstrip()) for line in tables) <= max(columns, NARROWEST)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["move", START, 31, "--bogus"], "Unrecognized options: --bogus (see --help)"),
        (["move", START, 31, "--plies", "x"], "Error parsing --plies: invalid literal"),
        (["mvoe"], "command 'mvoe': expected one of move, cube"),
    ],
)
def test_a_bad_argument_is_one_line_in_a_terminal_too(shown, arguments, said):
    out, code = shown(80, *arguments)

    assert code == 2
    assert out.startswith(f"acepoint: {said}")
    assert len(out.splitlines()) == 1
