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
from functools import cache, partial
from pathlib import Path
from typing import Any

import numba

__all__ = ["CACHE_FOLDER", "folder_of", "inner", "kernel"]

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
    elsewhere = numba.config.CACHE_DIR
    folder = folder_of(function.__module__.rpartition(".")[2])
    numba.config.CACHE_DIR = str(folder)
    compiled: Any = numba.njit(cache=True, nogil=True)(function)
    numba.config.CACHE_DIR = elsewhere
    on_disk = getattr(compiled, "_cache", None)  # numba reads it without a guard
    if on_disk is not None:  # it is with NUMBA_DISABLE_JIT
        on_disk.load_overload = partial(_load_or_compile, on_disk.load_overload, folder)
    return compiled


def _load_or_compile(load: Callable[..., Any], folder: Path, *arguments: Any) -> Any:
    """What numba has on disk of a kernel; None where it must compile, which is announced.

    What cannot be read goes, so that it is compiled again.
    """
    try:
        found = load(*arguments)
    except (OSError, MemoryError):
        raise
    except Exception:  # pickle's, and whatever the objects say that it makes of damaged files
        for file in folder.rglob("*.nb[ic]"):
            file.unlink(missing_ok=True)
        found = None
    if found is None:
        _say_that_it_compiles()
    return found


@cache
def _say_that_it_compiles() -> None:
    print("compiling the kernels (once, under a minute) ...", file=sys.stderr)


def inner(function: Callable[..., Any] | None = None, *, fastmath: bool = False) -> Any:
    """Compile a function that only kernels call, and that neither makes nor returns an array.

    So numba need not count references to its arguments: the counting took longer than the work.
    """
    compile_function = numba.njit(_nrt=False, fastmath=fastmath)
    return compile_function if function is None else compile_function(function)
