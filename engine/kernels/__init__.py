"""Hot loops, compiled by numba on first use: arrays in, arrays out, nothing raised inside.

Numba's on-disk cache does not notice an edit in another file, so the cache folder is named after
a hash of every kernel source: old machine code is never run with new sources.
"""

import hashlib
import os
import sys
import tempfile
from pathlib import Path

import numba

__all__ = ["CACHE_FOLDER", "announce_compilation"]

_STAMP = "complete"


def _source_hash() -> str:
    digest = hashlib.sha256(f"{numba.__version__} {sys.version}".encode())
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _cache_folder() -> Path:
    """The first writable place for compiled kernels: the user's cache, or a temporary one."""
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(root) / "acepoint" / "kernels" / _source_hash()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return Path(tempfile.mkdtemp(prefix="acepoint-kernels-"))
    if os.access(folder, os.W_OK):
        return folder
    return Path(tempfile.mkdtemp(prefix="acepoint-kernels-"))


CACHE_FOLDER = _cache_folder()
numba.config.CACHE_DIR = str(CACHE_FOLDER)


def announce_compilation() -> None:
    """Say once per version, on standard error, that the first run compiles the kernels."""
    stamp = CACHE_FOLDER / _STAMP
    if not stamp.exists():
        print("compiling the kernels (once, under a minute) ...", file=sys.stderr)
        stamp.touch()
