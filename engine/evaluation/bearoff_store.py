"""Bearoff databases on disk: their names, their form, and that they are sound.

They are kept in the user's cache folder. A file is a header of one line of JSON, filled up with
spaces to HEADER bytes, and then the numbers, float64, little-endian, which are mapped into memory
and so are shared by all processes. The header has a format number and the CRC-32 of the numbers.
It is checked whenever a file is opened: the default databases take less than a tenth of a second,
less than numba takes to be imported, and no note of what was checked before has to be believed.
"""

import json
import os
import re
import shutil
import zlib
from dataclasses import dataclass
from math import comb
from pathlib import Path
from typing import Any, Literal

import numpy as np

from engine.errors import FileFormatError
from engine.evaluation.whole_file import write_whole
from engine.kernels.bearoff import MAX_CHECKERS, MAX_POINTS, PAIR

__all__ = [
    "DEFAULTS",
    "ONE_SIDED",
    "TWO_SIDED",
    "Database",
    "Kind",
    "check_room",
    "folder",
    "is_sound",
    "present",
    "read",
    "write",
]

Array = np.ndarray[Any, Any]
Kind = Literal["one-sided", "two-sided"]

FORMAT = "acepoint-bearoff-1"
HEADER = 4096  # a page, so that the numbers begin on one
LEAST_PIPS = 3  # that a roll moves while nothing is borne off
LANES = 8


@dataclass(frozen=True)
class Database:
    """What a database covers: all positions with at most `checkers` checkers on `points` points.

    Raises FileFormatError when that is too much for any.
    """

    kind: Kind
    points: int
    checkers: int

    def __post_init__(self) -> None:
        for name, number, most in (
            ("points", self.points, MAX_POINTS),
            ("checkers", self.checkers, MAX_CHECKERS),
        ):
            if not 1 <= number <= most:
                raise FileFormatError(
                    f"{self.kind} bearoff database with {number} {name}: "
                    f"expected a number from 1 to {most}"
                )

    def __str__(self) -> str:
        return f"{self.kind} {self.points}x{self.checkers}"

    @property
    def positions(self) -> int:
        """How many positions a side can have in it, the one without checkers too."""
        return comb(self.points + self.checkers, self.points)

    @property
    def width(self) -> int:
        """How many numbers of rolls a one-sided database tells apart; it takes fewer to be done.

        A checker on the ace point wastes half of what moves one two points on, so it counts as two
        pips.
        """
        rolls = max(self.points, 2) * self.checkers // LEAST_PIPS + 2
        return -(-rolls // LANES) * LANES

    @property
    def numbers(self) -> int:
        """How many float64 it has (see `engine.kernels.bearoff.Bearoff`)."""
        if self.kind == "one-sided":
            return self.positions * 2 * self.width
        return self.positions**2 * PAIR

    @property
    def bytes(self) -> int:
        """The size of the file."""
        return HEADER + 8 * self.numbers

    @property
    def path(self) -> Path:
        """Where it is kept."""
        return folder() / f"{self.kind}-{self.points}x{self.checkers}.bearoff"

    def covers(self, other: "Database") -> bool:
        """Whether all positions of another database of the kind are in this one."""
        return self.points >= other.points and self.checkers >= other.checkers


ONE_SIDED = Database("one-sided", 6, 15)
TWO_SIDED = Database("two-sided", 6, 6)
DEFAULTS = {each.kind: each for each in (ONE_SIDED, TWO_SIDED)}


def folder() -> Path:
    """The folder of the databases: in the user's cache folder, whether it is there or not."""
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(root) / "acepoint" / "bearoff"


def present(kind: Kind) -> list[Database]:
    """The databases of a kind that are in the folder, sound or not, best first.

    Those that cover the default one come before the others, and then the largest.
    """
    pattern = re.compile(rf"{kind}-(\d+)x(\d+)\.bearoff")
    matches = (pattern.fullmatch(path.name) for path in folder().glob(f"{kind}-*.bearoff"))
    sizes = ((int(match[1]), int(match[2])) for match in matches if match)
    found = [
        Database(kind, points, checkers)
        for points, checkers in sizes
        if 1 <= points <= MAX_POINTS and 1 <= checkers <= MAX_CHECKERS
    ]
    default = DEFAULTS[kind]
    return sorted(
        found, key=lambda each: (each.covers(default), each.positions, each.points), reverse=True
    )


def read(database: Database) -> Array:
    """The numbers of a database, read-only float64[.], mapped into memory.

    Raises FileFormatError, quoting the path, when the file is missing, damaged or of another
    version.
    """
    path = database.path
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            header = file.read(HEADER)
    except OSError as error:
        raise FileFormatError(f"bearoff database {str(path)!r}: {error.strerror}") from None
    fault = _fault(database, header, size)
    if fault:
        raise FileFormatError(f"bearoff database {str(path)!r}: {fault}")
    numbers = np.asarray(np.memmap(path, "<f8", "r", HEADER, (database.numbers,)))
    if zlib.crc32(numbers.data) != json.loads(header)["crc32"]:
        raise FileFormatError(f"bearoff database {str(path)!r}: damaged, its checksum is wrong")
    return numbers


def is_sound(database: Database) -> bool:
    """Whether a database is there, whole and of this version."""
    try:
        read(database)
    except FileFormatError:
        return False
    return True


def _fault(database: Database, header: bytes, size: int) -> str:
    """What is wrong with a file of this header and size, or nothing."""
    try:
        fields = json.loads(header)
    except (ValueError, RecursionError):
        return "damaged or of another program"
    if not isinstance(fields, dict) or fields.get("format") != FORMAT:
        return f"of another version, expected {FORMAT}"
    if fields != _header(database, fields.get("crc32")):
        return f"not the {database} that its name says"
    if size != database.bytes:
        return f"damaged, {size:,} bytes instead of {database.bytes:,}"
    return ""


def _header(database: Database, crc32: Any) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "kind": database.kind,
        "points": database.points,
        "checkers": database.checkers,
        "crc32": crc32,
    }


def check_room(database: Database) -> None:
    """Make the folder. FileFormatError when that cannot be, or the disk or memory is too small."""
    try:
        folder().mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(folder()).free
    except OSError as error:
        raise FileFormatError(f"folder {str(folder())!r}: {error.strerror}") from None
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for room, where in ((free, f"free in {str(folder())!r}"), (memory, "memory in this machine")):
        if database.bytes > room:
            raise FileFormatError(
                f"{database} bearoff database: {database.bytes / 1e6:,.0f} MB, "
                f"but there are {room / 1e6:,.0f} MB {where}"
            )


def write(database: Database, numbers: Array) -> None:
    """Write a database whole or not at all; FileFormatError as `write_whole` raises it."""
    header = json.dumps(_header(database, zlib.crc32(numbers.data))).encode().ljust(HEADER)
    write_whole(database.path, header, numbers.astype("<f8", copy=False).data)
