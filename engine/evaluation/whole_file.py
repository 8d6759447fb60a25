"""Files that are written whole or not at all."""

import os
from collections.abc import Iterable
from errno import EACCES
from pathlib import Path

from engine.errors import FileFormatError

__all__ = ["write_whole"]


def write_whole(path: str | os.PathLike[str], *parts: bytes | memoryview) -> None:
    """Write a file beside its place, then rename it: what stands there is the old or the new one.

    So two processes that write at once do not harm each other. A link stays, and what it leads to
    is written; a device, say, is written to, not replaced. parts: what the file consists of, one
    after the other. Raises FileFormatError, and leaves the old file and nothing else, when the
    folder or the disk will not take it, or the file is read-only.
    """
    place = Path(os.path.realpath(path))
    stands = os.access(place, os.F_OK)
    try:
        if stands and not place.is_file():
            _write(place, parts)
            return
        if stands and not os.access(place, os.W_OK):
            raise PermissionError(EACCES, os.strerror(EACCES))
        beside = Path(f"{place}.{os.getpid()}.new")
        try:
            _write(beside, parts)
            beside.replace(place)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        kept = "; the file before it is untouched" if stands else ""
        raise FileFormatError(f"cannot write {str(path)!r}: {error.strerror}{kept}") from None


def _write(path: Path, parts: Iterable[bytes | memoryview]) -> None:
    with path.open("wb") as file:
        for part in parts:
            file.write(part)
        file.flush()
        if path.is_file():
            os.fsync(file.fileno())
