"""Where the compiled kernels are kept."""

import os
import subprocess
import sys
from pathlib import Path

import engine.kernels
from engine.kernels import announce_compilation, folder_of

SAY_THE_FOLDERS = (
    "from engine.kernels import CACHE_FOLDER, folder_of;"
    "print(CACHE_FOLDER, *map(folder_of, ('choice', 'forward', 'random')), sep='\\n')"
)


def run_with(**environment: str) -> "subprocess.CompletedProcess[str]":
    """What a fresh Python with this environment says of the root and three modules' folders."""
    return subprocess.run(
        [sys.executable, "-P", "-c", SAY_THE_FOLDERS],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))} | environment,
        capture_output=True,
        text=True,
        check=True,
    )


def folders_with(**environment: str) -> list[Path]:
    return [Path(line) for line in run_with(**environment).stdout.splitlines()]


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

    done = run_with(XDG_CACHE_HOME=str(taken), TMPDIR=str(elsewhere))

    assert Path(done.stdout.splitlines()[0]).parent == elsewhere
    assert not list(elsewhere.iterdir()), "it goes when the run ends"
    (line,) = done.stderr.splitlines()
    assert f"cannot write to {str(taken / 'acepoint' / 'kernels')!r}" in line


def test_compiling_is_announced_until_it_is_done(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(engine.kernels, "CACHE_FOLDER", tmp_path)

    announce_compilation()
    first = capsys.readouterr()
    folder_of("forward").mkdir()
    announce_compilation()

    assert "compiling the kernels" in first.err and first.out == ""
    assert capsys.readouterr().err == ""


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
