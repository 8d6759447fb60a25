"""Where the compiled kernels are kept."""

import os
import subprocess
import sys
from pathlib import Path

import engine.kernels
from engine.kernels import announce_compilation

SAY_THE_FOLDER = "from engine.kernels import CACHE_FOLDER; print(CACHE_FOLDER)"


def folder_with(**environment: str) -> Path:
    """The cache folder of a fresh Python with this environment."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", SAY_THE_FOLDER],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))} | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return Path(done.stdout.strip())


def test_compiled_kernels_are_kept_in_the_user_s_cache(tmp_path):
    folder = folder_with(XDG_CACHE_HOME=str(tmp_path))

    assert folder.is_dir()
    assert folder.parent == tmp_path / "acepoint" / "kernels"


def test_where_the_user_s_cache_cannot_be_written_a_temporary_folder_is_used(tmp_path):
    taken = tmp_path / "file"
    taken.write_text("no folder can be made in here")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()

    folder = folder_with(XDG_CACHE_HOME=str(taken), TMPDIR=str(elsewhere))

    assert folder.parent == elsewhere
    assert os.access(folder, os.W_OK)


def test_compiling_is_announced_once(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(engine.kernels, "CACHE_FOLDER", tmp_path)

    announce_compilation()
    first = capsys.readouterr()
    announce_compilation()

    assert "compiling the kernels" in first.err and first.out == ""
    assert capsys.readouterr().err == ""


def test_other_sources_have_another_folder(tmp_path):
    """A copy of the kernels with one more comment, imported from its own place."""
    kernels = Path(engine.kernels.__file__).parent
    copy = tmp_path / "engine" / "kernels"
    copy.mkdir(parents=True)
    for source in kernels.glob("*.py"):
        (copy / source.name).write_text(source.read_text())
    (copy.parent / "__init__.py").write_text("")
    cache = {"XDG_CACHE_HOME": str(tmp_path), "PYTHONPATH": str(tmp_path)}

    before = folder_with(**cache)
    (copy / "bits.py").write_text((copy / "bits.py").read_text() + "# seen\n")

    assert folder_with(**cache).parent == before.parent
    assert folder_with(**cache) != before
