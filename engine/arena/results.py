"""The results database: one SQLite file a tournament, from which it goes on after a stop."""

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import numpy as np

from engine.arena.schedule import Array, Chunk, Meeting, RoundRobin
from engine.errors import AcepointError, FileFormatError

__all__ = ["Results"]

APPLICATION_ID = 0x41636550  # "AceP": tells SQLite files of ours from those of others
VERSION = 2
SQLITE_START = b"SQLite format 3\0"

SCHEMA = """
BEGIN;
PRAGMA application_id = {application_id};
PRAGMA user_version = {version};
CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL);  -- value: JSON
CREATE TABLE result (   -- one row a game, as player a has it
    a INTEGER NOT NULL, -- the players' numbers, from 0
    b INTEGER NOT NULL,
    deal INTEGER NOT NULL,
    game INTEGER NOT NULL, -- 0, or 1 with the sides exchanged
    score INTEGER NOT NULL,
    {columns},
    PRIMARY KEY (a, b, deal, game)
) WITHOUT ROWID;
COMMIT;
"""


class Results:
    """What a round robin has brought, on disk or, without a path, in memory. A context manager.

    Args:
        schedule: The round robin that is played.
        columns: What is counted of each game beside the score.
        settings: Whatever else decides the results, as JSON values.
        path: The file, made when it does not exist.

    Raises FileFormatError when the file is no results database, damaged, or cannot be opened, and
    AcepointError when it holds a tournament with another schedule or other settings.
    """

    def __init__(
        self,
        schedule: RoundRobin,
        columns: tuple[str, ...],
        settings: Mapping[str, Any],
        path: Path | None = None,
    ) -> None:
        self._schedule = schedule
        self.columns = columns
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

    def __exit__(self, *_: object) -> None:
        """Close the file; what was added is in it."""
        self._database.close()

    def add(self, chunk: Chunk, table: Array) -> None:
        """Save a chunk's int32[D, 2, 1 + K] of `Contest`, all or, after an error, nothing of it."""
        rows = [
            (*chunk.meeting, deal, game, *values)
            for deal, games in zip(chunk.deals.tolist(), table.tolist(), strict=True)
            for game, values in enumerate(games)
        ]
        marks = ", ".join("?" * (5 + len(self.columns)))
        with self._readable_errors(), self._transaction():
            self._database.executemany(f"INSERT OR REPLACE INTO result VALUES ({marks})", rows)

    def table(self, meeting: Meeting) -> tuple[Array, Array]:
        """The deals int64[D] saved of a meeting, rising, and their int32[D, 2, 1 + K]."""
        values = ", ".join(("score", *self.columns))
        with self._readable_errors():
            rows = self._database.execute(
                f"SELECT deal, {values} FROM result WHERE a = ? AND b = ? ORDER BY deal, game",
                meeting,
            ).fetchall()
        games = np.array(rows, np.int64).reshape(-1, 2, 2 + len(self.columns))
        return games[:, 0, 0], games[:, :, 1:].astype(np.int32)

    def missing(self) -> dict[Meeting, Array]:
        """The deals int64[D] of each meeting that are not saved."""
        every = np.arange(self._schedule.deals)
        return {
            meeting: np.setdiff1d(every, self.table(meeting)[0], assume_unique=True)
            for meeting in self._schedule.meetings
        }

    def _open(self) -> None:
        if not self._pragma("schema_version"):
            counted = ",\n    ".join(f"{name} INTEGER NOT NULL" for name in self.columns)
            self._database.executescript(
                SCHEMA.format(application_id=APPLICATION_ID, version=VERSION, columns=counted)
            )
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
