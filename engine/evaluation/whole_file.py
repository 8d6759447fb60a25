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
    kept = ""
    try:
        if os.access(path, os.F_OK) and (not Path(path).is_file() or _is_open_here(path)):
            _write(Path(path), parts)
            return
        if os.access(place, os.F_OK):
            kept = "; the file before it is untouched"
            if not os.access(place, os.W_OK):
                raise PermissionError(EACCES, os.strerror(EACCES))
        beside = Path(f"{place}.{os.getpid()}.new")
        try:
            _write(beside, parts)
            beside.replace(place)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise FileFormatError(f"cannot write {str(path)!r}: {error.strerror}{kept}") from None


def _is_open_here(path: str | os.PathLike[str]) -> bool:
    """Whether the path is a file that a process has open, by a name such as /dev/stdout."""
    named = Path(path).absolute()
    return named.parts[1] in ("dev", "proc") and named.is_symlink()


def _write(path: Path, parts: Iterable[bytes | memoryview]) -> None:
    with path.open("wb") as file:
        for part in parts:
            file.write(part)
        file.flush()
        if path.is_file():
            os.fsync(file.fileno())
