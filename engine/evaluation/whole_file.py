"""Files that are written whole or not at all."""

import os
from pathlib import Path

from engine.errors import FileFormatError

__all__ = ["write_whole"]


def write_whole(path: str | os.PathLike[str], *parts: bytes | memoryview) -> None:
    """Write a file beside its place, then rename it: what stands there is the old or the new one.

    So two processes that write at once do not harm each other. parts: what it consists of, one
    after the other. Raises FileFormatError, and leaves the old file and
    nothing else, when the folder or the disk will not take it.
    """
    beside = Path(f"{os.fspath(path)}.{os.getpid()}.new")
    try:
        try:
            with beside.open("wb") as file:
                for part in parts:
                    file.write(part)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        kept = "; the file before it is untouched" if Path(path).exists() else ""
        raise FileFormatError(f"cannot write {str(path)!r}: {error.strerror}{kept}") from None
