"""Hot loops, compiled by numba on first use: arrays in, arrays out, nothing raised inside.

Numba's on-disk cache does not notice an edit in another file, so each module's machine code is
kept in a folder named after a hash of its source, of this file and of every kernel module that it
imports: old machine code is never run with new sources, and an edit compiles again only what it
touches.
"""

import atexit
import contextlib
import hashlib
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba

__all__ = ["CACHE_FOLDER", "announce_compilation", "folder_of", "inner", "kernel"]

_IMPORT = re.compile(r"^from engine\.kernels\.(\w+) import", re.MULTILINE)


def _cache_folder() -> Path:
    """Where compiled kernels are kept: the user's cache, or for want of it until the run ends."""
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(root) / "acepoint" / "kernels"
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            return folder
    print(f"cannot write to {str(folder)!r}: kernels are kept for this run only", file=sys.stderr)
    temporary = tempfile.mkdtemp(prefix="acepoint-kernels-")
    atexit.register(shutil.rmtree, temporary, ignore_errors=True)
    return Path(temporary)


CACHE_FOLDER = _cache_folder()


@cache
def _source_hash(module: str) -> str:
    """The hash of a kernel module's source and, through their own, of those it imports."""
    source = Path(__file__).with_name(f"{module}.py").read_text()
    compilation = f"{numba.__version__} {sys.version} {Path(__file__).read_text()}"
    digest = hashlib.sha256(f"{compilation} {source}".encode())
    for imported in _IMPORT.findall(source):
        digest.update(_source_hash(imported).encode())
    return digest.hexdigest()[:16]


def folder_of(module: str) -> Path:
    """Where the machine code of a kernel module is kept."""
    return CACHE_FOLDER / f"{module}-{_source_hash(module)}"


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that Python calls: cached on disk, without the interpreter's lock."""
    numba.config.CACHE_DIR = str(folder_of(function.__module__.rpartition(".")[2]))
    compiled: Callable[..., Any] = numba.njit(cache=True, nogil=True)(function)
    return compiled


def inner(function: Callable[..., Any] | None = None, *, fastmath: bool = False) -> Any:
    """Compile a function that only kernels call, and that neither makes nor returns an array.

    So numba need not count references to its arguments: the counting took longer than the work.
    """
    compile_function = numba.njit(_nrt=False, fastmath=fastmath)
    return compile_function if function is None else compile_function(function)


def announce_compilation(module: str = "forward") -> None:
    """Say on standard error, when a kernel module has not been compiled yet, that it will be."""
    if not folder_of(module).exists():
        print("compiling the kernels (once, under a minute) ...", file=sys.stderr)
