"""Other engines in the speed table: asking them, and checking what they answer.

Each task runs in a fresh process, as some answer a position they have seen from a cache.
"""

import json
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from engine.backgammon.ids import encode_position
from engine.errors import AcepointError
from engine.kernels.movegen import swap, unpack

__all__ = [
    "Ask",
    "Packed",
    "Row",
    "Sample",
    "ask_nobody",
    "ask_peer",
    "checked",
    "is_legal",
    "same_results",
]

Packed = npt.NDArray[np.int8]
Answers = list[Any]


class Row(NamedTuple):
    """One line of the table; None where an engine has no such figure or is not installed."""

    what: str
    acepoint: float
    gnubg: float | None
    sage: float | None
    unit: str


class Sample(NamedTuple):
    """N distinct positions with a roll each, and all their legal results."""

    packed: Packed
    """int8[N, 2, 32], row 0 on roll."""
    dice: npt.NDArray[np.int8]
    """int8[N, 2]"""
    results: Packed
    """int8[M, 2, 32] as the next player sees them."""
    offsets: npt.NDArray[np.int64]
    """int64[N + 1]: the results of position i are rows offsets[i] : offsets[i + 1]."""


Ask = Callable[[str, str, Packed, npt.NDArray[np.int8]], tuple[float, Answers] | None]
"""(package, task, positions, dice) -> positions a second and the answers; None: not there."""


def ask_nobody(*_: object) -> None:
    """An `Ask` for when the peers are left out."""
    return


def ask_peer(
    package: str, task: str, packed: Packed, dice: npt.NDArray[np.int8]
) -> tuple[float, Answers] | None:
    """What a peer answers in a process of its own; see `engine.interfaces.peer_process`."""
    if not _is_installed(package):
        return None
    request = {
        "boards": unpack(packed).reshape(-1, 52).tolist(),
        "dice": np.sort(dice, axis=1)[:, ::-1].tolist(),
    }
    script = Path(__file__).with_name("peer_process.py")
    process = subprocess.run(
        # -P: modules beside the script must not hide those of the same name elsewhere.
        [sys.executable, "-P", script, package, task],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        check=False,
    )
    if process.returncode:
        reason = (process.stderr.splitlines() or [f"exit code {process.returncode}"])[-1]
        raise AcepointError(f"{package} failed at {task}: {reason}")
    answer = json.loads(process.stdout)
    return len(packed) / answer["seconds"], answer["answers"]


@cache
def _is_installed(package: str) -> bool:
    """Whether a peer can be asked; says once if it cannot."""
    if find_spec(package) is not None:
        return True
    print(f"{package} is not installed: pip install acepoint[peers]", file=sys.stderr)
    return False


def checked(
    answer: tuple[float, Answers] | None,
    sample: Sample,
    package: str,
    is_right: Callable[[Any, set[bytes], bytes], bool],
) -> float | None:
    """The speed of a peer whose every answer is right. Raises AcepointError when one is not."""
    if answer is None:
        return None
    speed, answers = answer
    legal = unpack(sample.results)
    passed = unpack(swap(sample.packed))
    for index, given in enumerate(answers):
        results = {
            board.tobytes() for board in legal[sample.offsets[index] : sample.offsets[index + 1]]
        }
        if not is_right(given, results, passed[index].tobytes()):
            position = encode_position(unpack(sample.packed)[index])
            high, low = sample.dice[index]
            raise AcepointError(
                f"{package} disagrees about the plays of {position} with {high}{low}"
            )
    return speed


def same_results(given: list[list[int]], legal: set[bytes], passed: bytes) -> bool:
    """Whether these are all legal results, or none where only a pass is."""
    return {_bytes(board) for board in given} == legal or (not given and legal == {passed})


def is_legal(given: list[int] | None, legal: set[bytes], _: bytes) -> bool:
    """Whether this is a legal result, if it is told."""
    return given is None or _bytes(given) in legal


def _bytes(board: list[int]) -> bytes:
    return np.array(board, np.int8).tobytes()
