"""What the README says is true: its Python runs, its commands are there."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from engine.interfaces.cli.main import COMMANDS

README = (Path(__file__).parents[1] / "README.md").read_text()
PYTHON = re.findall(r"^```python\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("code", PYTHON)
def test_its_python_runs_and_prints_what_its_comments_say(code):
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300
    )
    printed = done.stdout.splitlines()
    promised = re.findall(r"print\(.*\)\s+# (.+)", code)
    assert promised
    assert [line for line in printed if line in promised] == promised


def test_its_commands_are_there():
    used = set(re.findall(r"(?:\$ |`)acepoint ([a-z]+)", README))
    assert {"move", "train", "tournament"} <= used
    assert used <= {*COMMANDS, "train"}
