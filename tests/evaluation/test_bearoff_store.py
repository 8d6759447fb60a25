"""Bearoff databases on disk: damaged, foreign, built twice at once, on a full disk, interrupted."""

import json
import os
import subprocess
import sys

import pytest

from engine.errors import FileFormatError
from engine.evaluation import bearoff_store
from engine.evaluation.bearoff import databases, load
from engine.evaluation.bearoff_build import build, solve
from engine.evaluation.bearoff_store import (
    HEADER,
    ONE_SIDED,
    TWO_SIDED,
    Database,
    folder,
    is_sound,
    present,
    read,
)
from engine.kernels.bearoff import ALL, MAX_CHECKERS

SMALL = Database("one-sided", 3, 4)
LARGER = Database("one-sided", 3, 5)
PAIRS = Database("two-sided", 3, 3)

# In other processes only the databases are elsewhere: compiled kernels stay where they are.
ENVIRONMENT = dict(os.environ)
ELSEWHERE = """
import os, sys
from engine.evaluation import bearoff_build, bearoff_store
os.environ["XDG_CACHE_HOME"] = sys.argv[1]
"""


@pytest.fixture(autouse=True)
def cache_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    load.cache_clear()
    yield
    load.cache_clear()


def start(code, *arguments):
    """A Python that runs code with databases elsewhere."""
    return subprocess.Popen(
        [sys.executable, "-c", ELSEWHERE + code, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
    )


@pytest.mark.parametrize("database", [SMALL, PAIRS], ids=str)
def test_what_was_built_is_read_back(database):
    build(database, progress=False)

    numbers = read(database)
    assert numbers.tobytes() == solve(database).tobytes()
    assert not numbers.flags.writeable
    assert database.path.stat().st_size == database.bytes
    assert list(folder().iterdir()) == [database.path]


def test_the_default_databases_are_small():
    assert ONE_SIDED.positions == 54264
    assert TWO_SIDED.positions == 924
    assert ONE_SIDED.bytes + TWO_SIDED.bytes < 100e6


def damage(path, at, text):
    content = bytearray(path.read_bytes())
    content[at : at + len(text)] = text
    path.write_bytes(content)


def cut(path):
    path.write_bytes(path.read_bytes()[:-1])


def older(path):
    header = json.loads(path.read_bytes()[:HEADER]) | {"format": "acepoint-bearoff-0"}
    damage(path, 0, json.dumps(header).encode().ljust(HEADER))


def replace(path):
    LARGER.path.rename(path)


FAULTS = {
    "a changed number": (lambda path: damage(path, HEADER + 100, b"!"), "checksum"),
    "a changed header": (lambda path: damage(path, 0, b"!"), "damaged or of another program"),
    "another program's": (lambda path: path.write_bytes(b"gnubg-OS-06-15-1-1-0" * 300), "damaged"),
    "a list": (lambda path: damage(path, 0, b"[]".ljust(HEADER)), "another version"),
    "an older version": (older, "another version, expected acepoint-bearoff-1"),
    "a deep list": (lambda path: damage(path, 0, b"[" * HEADER), "damaged or of another program"),
    "cut short": (cut, "bytes instead of"),
    "empty": (lambda path: path.write_bytes(b""), "damaged"),
    "another size": (replace, "not the one-sided 3x4 that its name"),
    "missing": (lambda path: path.unlink(), "No such file"),
}


@pytest.mark.parametrize(("spoil", "said"), FAULTS.values(), ids=FAULTS)
def test_a_file_that_is_not_sound_is_refused_and_built_again(spoil, said):
    build(SMALL, progress=False)
    build(LARGER, progress=False)
    sound = SMALL.path.read_bytes()
    spoil(SMALL.path)

    with pytest.raises(FileFormatError, match=said) as refusal:
        read(SMALL)
    assert repr(str(SMALL.path)) in str(refusal.value)
    assert not is_sound(SMALL)

    build(SMALL, progress=False)
    assert SMALL.path.read_bytes() == sound


def test_loading_takes_the_best_sound_databases_and_tells_of_the_others(capsys):
    for database in (SMALL, LARGER, PAIRS):
        build(database, progress=False)
    assert present("one-sided") == [LARGER, SMALL]
    damage(LARGER.path, HEADER, b"!!!!")

    found = load()

    assert (found.points, found.positions, found.width) == (3, SMALL.positions, SMALL.width)
    assert (found.pair_points, found.pair_positions) == (3, PAIRS.positions)
    assert databases(found) == [SMALL, PAIRS]
    assert f"{str(LARGER.path)!r}: damaged" in capsys.readouterr().err


def test_what_covers_the_default_comes_before_what_is_only_larger(monkeypatch):
    monkeypatch.setitem(bearoff_store.DEFAULTS, "one-sided", LARGER)
    covering, longer = Database("one-sided", 4, 5), Database("one-sided", 12, 4)
    assert longer.positions > covering.positions
    for database in (LARGER, covering, longer):
        build(database, progress=False)

    assert present("one-sided") == [covering, LARGER, longer]
    assert databases(load()) == [covering]


@pytest.mark.parametrize("points", range(1, 7))
def test_every_bearoff_is_done_before_the_rolls_that_a_database_tells_apart(points):
    database = Database("one-sided", points, MAX_CHECKERS)
    tails = solve(database).reshape(-1, 2, database.width)

    assert (tails[:, :, -1] == 0).all()
    assert (tails[1:, ALL, 0] == 1).all()


def test_without_databases_loading_gives_empty_ones_silently(capsys):
    assert (load().positions, load().pair_positions) == (0, 0)
    assert databases(load()) == []
    assert capsys.readouterr().err == ""
    assert not folder().exists()


@pytest.mark.parametrize(("points", "checkers"), [(0, 15), (13, 15), (6, 0), (6, 16)])
def test_a_size_that_cannot_be_is_refused(points, checkers):
    with pytest.raises(FileFormatError, match="expected a number from 1 to"):
        Database("one-sided", points, checkers)


def test_a_database_too_large_for_the_machine_is_refused_before_it_is_built():
    with pytest.raises(FileFormatError, match=r"two-sided 12x15.*MB, but there are"):
        build(Database("two-sided", 12, 15))


def test_a_folder_that_cannot_be_made_is_told_of(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))

    with pytest.raises(FileFormatError, match="Not a directory"):
        build(SMALL, progress=False)


def test_a_full_disk_leaves_nothing_behind(tmp_path):
    limited = """
import resource
database = bearoff_store.Database("one-sided", 3, 4)
bearoff_build.solve(database)  # compiled, if need be
resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
try:
    bearoff_build.build(database, progress=False)
except bearoff_store.FileFormatError as error:
    print(error)
"""
    said, fault = start(limited, tmp_path).communicate()

    assert "cannot write" in said, fault
    assert "File too large" in said
    assert list(folder().iterdir()) == []


def test_an_interrupted_build_leaves_the_sound_one(monkeypatch):
    build(SMALL, progress=False)

    def interrupt(file):
        raise KeyboardInterrupt

    monkeypatch.setattr(bearoff_store.os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        build(SMALL, progress=False)

    assert is_sound(SMALL)
    assert list(folder().iterdir()) == [SMALL.path]


def test_two_processes_may_build_at_once(tmp_path):
    code = """
for _ in range(20):
    bearoff_build.build(bearoff_store.Database("two-sided", 3, 3), progress=False)
    bearoff_store.read(bearoff_store.Database("two-sided", 3, 3))
"""
    both = [start(code, tmp_path) for _ in range(2)]

    faults = [each.communicate()[1] for each in both]

    assert [each.returncode for each in both] == [0, 0], faults
    assert is_sound(PAIRS)
    assert list(folder().iterdir()) == [PAIRS.path]
