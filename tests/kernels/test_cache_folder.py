"""Where the compiled kernels are kept."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import engine.kernels

SAY_THE_FOLDERS = (
    "from engine.kernels import CACHE_FOLDER, folder_of;"
    "print(CACHE_FOLDER, *map(folder_of, ('choice', 'forward', 'random')), sep='\\n')"
)


def run_with(code: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """What a fresh Python with this environment says."""
    return subprocess.run(
        [sys.executable, "-P", "-c", code],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))} | environment,
        capture_output=True,
        text=True,
        check=True,
    )


def folders_with(**environment: str) -> list[Path]:
    return [Path(line) for line in run_with(SAY_THE_FOLDERS, **environment).stdout.splitlines()]


def test_compiled_kernels_are_kept_in_the_user_s_cache(tmp_path):
    root, *modules = folders_with(XDG_CACHE_HOME=str(tmp_path))

    assert root == tmp_path / "acepoint" / "kernels"
    assert root.is_dir()
    assert all(module.parent == root for module in modules)


def test_where_the_user_s_cache_cannot_be_written_a_folder_serves_for_the_run(tmp_path):
    taken = tmp_path / "file"
    taken.write_text("no folder can be made in here")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()

    done = run_with(SAY_THE_FOLDERS, XDG_CACHE_HOME=str(taken), TMPDIR=str(elsewhere))

    assert Path(done.stdout.splitlines()[0]).parent == elsewhere
    assert not list(elsewhere.iterdir()), "it goes when the run ends"
    (line,) = done.stderr.splitlines()
    assert f"cannot write to {str(taken / 'acepoint' / 'kernels')!r}" in line


def test_compiling_is_announced_when_it_is_done(tmp_path):
    code = """
import numpy as np
from engine.kernels.plans import plans_of
plans_of(np.zeros((1, 64), np.int8))
"""
    first, second = (run_with(code, XDG_CACHE_HOME=str(tmp_path)) for _ in range(2))

    assert first.stderr == "compiling the kernels (once, under a minute) ...\n"
    assert first.stdout == second.stdout == second.stderr == ""


@pytest.mark.parametrize("content", [b"", b"\x80", b"not numba's"])
@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_what_cannot_be_read_is_compiled_again(tmp_path, ending, content):
    code = """
import numpy as np
from engine.kernels.plans import plans_of
print(plans_of(np.zeros((1, 64), np.int8)), len(plans_of.stats.cache_hits))
"""
    cache = str(tmp_path)
    assert run_with(code, XDG_CACHE_HOME=cache).stdout == "[0] 0\n"
    files = list(tmp_path.rglob(f"*plans_of*.{ending}"))
    assert files
    for file in files:
        file.write_bytes(content)

    assert run_with(code, XDG_CACHE_HOME=cache).stdout == "[0] 0\n"
    assert run_with(code, XDG_CACHE_HOME=cache).stdout == "[0] 1\n"


def test_what_others_compile_is_not_kept_among_the_kernels():
    assert run_with("import numba; before = numba.config.CACHE_DIR\n"
                    "import engine.bot; print(numba.config.CACHE_DIR == before)"
                    ).stdout == "True\n"  # fmt: skip


def test_an_edit_gives_new_folders_to_its_module_and_to_those_that_import_it(tmp_path):
    """A copy of the kernels with one more comment, imported from its own place."""
    kernels = Path(engine.kernels.__file__).parent
    copy = tmp_path / "engine" / "kernels"
    copy.mkdir(parents=True)
    for source in kernels.glob("*.py"):
        (copy / source.name).write_text(source.read_text())
    (copy.parent / "__init__.py").write_text("")
    environment = {"XDG_CACHE_HOME": str(tmp_path), "PYTHONPATH": str(tmp_path)}

    _, choice, forward, random = folders_with(**environment)
    (copy / "forward.py").write_text((copy / "forward.py").read_text() + "# seen\n")
    _, new_choice, new_forward, new_random = folders_with(**environment)

    assert new_forward != forward
    assert new_choice != choice, "it imports forward"
    assert new_random == random
