import sqlite3
from pathlib import Path

import numpy as np
import pytest

from engine.arena.results import APPLICATION_ID, Results
from engine.arena.schedule import Chunk, RoundRobin
from engine.errors import AcepointError, FileFormatError

SCHEDULE = RoundRobin(("a", "b", "c"), 6)
SETTINGS = {"seed": 4}
COLUMNS = ("games", "cubes")


def table(*scores: tuple[int, int]) -> np.ndarray:
    """Deals with these scores in their two games, and something in the other columns."""
    return np.array([[[score, 1, 2 * abs(score)] for score in deal] for deal in scores], np.int32)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database with four deals of the meeting (0, 2)."""
    path = tmp_path / "results.db"
    with Results(SCHEDULE, COLUMNS, SETTINGS, path) as results:
        results.add(Chunk((0, 2), np.array([5, 1])), table((3, -3), (1, 2)))
        results.add(Chunk((0, 2), np.array([0, 4])), table((-1, -1), (2, -2)))
    return path


def test_scores_come_back_in_the_order_of_the_deals(path: Path) -> None:
    with Results(SCHEDULE, COLUMNS, SETTINGS, path) as results:
        deals, saved = results.table((0, 2))
        assert deals.tolist() == [0, 1, 4, 5]
        assert np.array_equal(saved, table((-1, -1), (1, 2), (2, -2), (3, -3)))
        assert results.table((0, 1))[1].shape == (0, 2, 3)


def test_what_is_missing_is_known(path: Path) -> None:
    with Results(SCHEDULE, COLUMNS, SETTINGS, path) as results:
        missing = {meeting: deals.tolist() for meeting, deals in results.missing().items()}
    assert missing == {(0, 1): [0, 1, 2, 3, 4, 5], (0, 2): [2, 3], (1, 2): [0, 1, 2, 3, 4, 5]}


def test_without_a_path_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Results(SCHEDULE, COLUMNS, SETTINGS) as results:
        results.add(Chunk((1, 2), np.array([2])), table((1, -1)))
        assert results.table((1, 2))[1][..., 0].tolist() == [[1, -1]]
    assert not list(tmp_path.iterdir())


def test_a_chunk_is_saved_whole_or_not_at_all(path: Path) -> None:
    with Results(SCHEDULE, COLUMNS, SETTINGS, path) as results:
        with pytest.raises(ValueError, match="zip"):
            results.add(Chunk((0, 2), np.array([2, 3])), table((1, 1)))
        assert results.missing()[0, 2].tolist() == [2, 3]


@pytest.mark.parametrize(
    ("schedule", "settings", "named"),
    [
        (RoundRobin(("a", "b"), 6), SETTINGS, r'players \["a", "b", "c"\], not \["a", "b"\]'),
        (RoundRobin(("a", "b", "c"), 7), SETTINGS, "deals 6, not 7"),
        (SCHEDULE, {"seed": 5}, "seed 4, not 5"),
        (SCHEDULE, {"seed": 4, "length": 7}, "length None, not 7"),
        (SCHEDULE, {}, "seed 4, not None"),
    ],
)
def test_other_settings_are_refused_by_name(
    path: Path, schedule: RoundRobin, settings: dict[str, int], named: str
) -> None:
    with pytest.raises(AcepointError, match=f"results.db holds a tournament with {named}"):
        Results(schedule, COLUMNS, settings, path)


def refuse(path: Path, match: str) -> None:
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(FileFormatError, match=match) as caught:
        Results(SCHEDULE, COLUMNS, SETTINGS, path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert before == (path.read_bytes() if path.is_file() else None)


@pytest.mark.parametrize(
    "content", [b"x", b"not a database\n" * 200, b"SQLite format 3\0" + b"?" * 900]
)
def test_a_file_of_another_kind_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    refuse(path, "not an Acepoint results database|damaged")


def test_the_database_of_another_program_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE setting (name, value)")
    database.close()
    refuse(path, "not an Acepoint results database")


@pytest.mark.parametrize("version", [1, 7])
def test_another_version_is_refused_by_number(path: Path, version: int) -> None:
    database = sqlite3.connect(path)
    assert database.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
    database.execute(f"PRAGMA user_version = {version}")
    database.close()
    refuse(path, f"version {version}; this program reads version 2")


def test_a_truncated_file_is_refused(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-4096])
    refuse(path, "damaged")


def test_a_page_of_rubbish_is_refused(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-4096:] = bytes(range(256)) * 16
    path.write_bytes(content)
    refuse(path, "damaged")


def test_a_missing_folder_is_refused(tmp_path: Path) -> None:
    refuse(tmp_path / "no" / "results.db", "unable to open")


def test_a_folder_is_refused(tmp_path: Path) -> None:
    refuse(tmp_path, "unable to open")


def test_a_full_disk_loses_nothing_that_was_saved(path: Path) -> None:
    many = RoundRobin(SCHEDULE.players, 5000)
    path.unlink()
    with Results(many, COLUMNS, SETTINGS, path) as results:
        results.add(Chunk((0, 1), np.arange(10)), np.ones((10, 2, 3), np.int32))
        results._database.execute("PRAGMA max_page_count = 5")
        with pytest.raises(FileFormatError, match=r"results\.db: .*full"):
            results.add(Chunk((0, 2), np.arange(5000)), np.ones((5000, 2, 3), np.int32))
    with Results(many, COLUMNS, SETTINGS, path) as results:
        assert {meeting: len(deals) for meeting, deals in results.missing().items()} == {
            (0, 1): 4990,
            (0, 2): 5000,
            (1, 2): 5000,
        }
