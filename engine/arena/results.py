"""The results database: one SQLite file a tournament, from which it goes on after a stop."""

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from engine.arena.schedule import Array, Chunk, Meeting, RoundRobin
from engine.errors import AcepointError, FileFormatError

__all__ = ["Results"]

APPLICATION_ID = 0x41636550  # "AceP": tells SQLite files of ours from those of others
VERSION = 1
SQLITE_START = b"SQLite format 3\0"

SCHEMA = f"""
BEGIN;
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {VERSION};
CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL);  -- value: JSON
CREATE TABLE result (   -- one row a deal; the scores of player a in its two games
    a INTEGER NOT NULL, -- the players' numbers, from 0
    b INTEGER NOT NULL,
    deal INTEGER NOT NULL,
    score_first INTEGER NOT NULL,
    score_second INTEGER NOT NULL,
    PRIMARY KEY (a, b, deal)
) WITHOUT ROWID;
COMMIT;
"""


class Results:
    """The scores of a round robin, on disk or, without a path, in memory. A context manager.

    Args:
        schedule: The round robin that is played.
        settings: Whatever else decides the results, as JSON values.
        path: The file, made when it does not exist.

    Raises FileFormatError when the file is no results database, damaged, or cannot be opened, and
    AcepointError when it holds a tournament with another schedule or other settings.
    """

    def __init__(
        self, schedule: RoundRobin, settings: Mapping[str, Any], path: Path | None = None
    ) -> None:
        self._schedule = schedule
        self._path = path
        self._settings = {"players": schedule.players, "deals": schedule.deals, **settings}
        with self._readable_errors():
            if path is not None:
                _check_kind(path)
            self._database = sqlite3.connect(path or ":memory:", isolation_level=None)
        try:
            with self._readable_errors():
                self._open()
        except AcepointError:
            self._database.close()
            raise

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        """Close the file; what was added is in it."""
        self._database.close()

    def add(self, chunk: Chunk, scores: Array) -> None:
        """Save the scores int8[D, 2] of a chunk, all of them or, after an error, none."""
        a, b = chunk.meeting
        rows = [
            (a, b, deal, first, second)
            for deal, (first, second) in zip(chunk.deals.tolist(), scores.tolist(), strict=True)
        ]
        with self._readable_errors(), self._transaction():
            self._database.executemany("INSERT OR REPLACE INTO result VALUES (?, ?, ?, ?, ?)", rows)

    def scores(self, meeting: Meeting) -> tuple[Array, Array]:
        """The deals int64[D] saved of a meeting, rising, and their scores int8[D, 2]."""
        with self._readable_errors():
            rows = self._database.execute(
                "SELECT deal, score_first, score_second FROM result"
                " WHERE a = ? AND b = ? ORDER BY deal",
                meeting,
            ).fetchall()
        table = np.array(rows, np.int64).reshape(-1, 3)
        return table[:, 0], table[:, 1:].astype(np.int8)

    def missing(self) -> dict[Meeting, Array]:
        """The deals int64[D] of each meeting that are not saved."""
        every = np.arange(self._schedule.deals)
        return {
            meeting: np.setdiff1d(every, self.scores(meeting)[0], assume_unique=True)
            for meeting in self._schedule.meetings
        }

    def _open(self) -> None:
        if not self._pragma("schema_version"):
            self._database.executescript(SCHEMA)
        elif self._pragma("application_id") != APPLICATION_ID:
            raise FileFormatError(f"{self._path}: not an Acepoint results database")
        elif self._pragma("user_version") != VERSION:
            raise FileFormatError(
                f"{self._path}: results database of version {self._pragma('user_version')}; "
                f"this program reads version {VERSION}"
            )
        elif self._database.execute("PRAGMA quick_check").fetchone() != ("ok",):
            raise FileFormatError(f"{self._path}: damaged results database")
        self._compare_settings()

    def _compare_settings(self) -> None:
        wanted = {name: json.dumps(value) for name, value in self._settings.items()}
        saved = dict(self._database.execute("SELECT name, value FROM setting"))
        if not saved:
            with self._transaction():
                self._database.executemany("INSERT INTO setting VALUES (?, ?)", wanted.items())
        elif saved != wanted:
            name = next(name for name in {**wanted, **saved} if wanted.get(name) != saved.get(name))
            raise AcepointError(
                f"{self._path} holds a tournament with {name} {saved.get(name)}, "
                f"not {wanted.get(name)}: give another file, or the same settings to go on"
            )

    def _pragma(self, name: str) -> int:
        return int(self._database.execute(f"PRAGMA {name}").fetchone()[0])

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._database.execute("BEGIN")
        try:
            yield
            self._database.execute("COMMIT")
        except BaseException:
            if self._database.in_transaction:  # a full disk has ended it already
                self._database.execute("ROLLBACK")
            raise

    @contextmanager
    def _readable_errors(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.OperationalError) as error:
            raise FileFormatError(f"{self._path}: cannot use this results file: {error}") from error
        except sqlite3.DatabaseError as error:
            raise FileFormatError(f"{self._path}: damaged results database: {error}") from error


def _check_kind(path: Path) -> None:
    """Refuse a file that is no SQLite database: SQLite itself writes over the very short ones."""
    if path.is_file():
        with path.open("rb") as file:
            start = file.read(len(SQLITE_START))
        if start and start != SQLITE_START:
            raise FileFormatError(f"{path}: not an Acepoint results database")
