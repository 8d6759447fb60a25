"""Gnubg and pubeval as players, through the optional package gnubg-nn in a process of its own."""

import contextlib
import os
import struct
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import numpy as np

from engine.errors import AcepointError
from engine.kernels.movegen import legal_results, pack, unpack
from engine.players.base import Array

__all__ = ["PLIES", "GnubgPlayer"]

PLIES = range(3)
"""Lookaheads that gnubg-nn offers (rolls ahead)."""

_PACKAGE = "gnubg-nn"
_SCRIPT = Path(__file__).with_name("gnubg_process.py")


class GnubgPlayer:
    """Gnubg's cubeless best play, or pubeval's.

    Args:
        name: The player's name, used in messages.
        plies: Rolls that gnubg looks ahead, one of `PLIES`; None is pubeval.

    Raises AcepointError when the package is not installed, when its process stops, and when it
    answers with anything but a legal play.
    """

    def __init__(self, name: str, plies: int | None) -> None:
        self.name = name
        try:
            self.fingerprint = f"{_PACKAGE} {metadata.version(_PACKAGE)}"
        except metadata.PackageNotFoundError:
            raise AcepointError(
                f"player {name!r} needs the package {_PACKAGE}: pip install acepoint[peers]"
            ) from None
        mode = "pubeval" if plies is None else str(plies)
        # -P: without it the folder of the script comes first in the search for modules, and
        # `random` there hides the standard library's. A session of its own: Ctrl-C in a terminal
        # is not for it.
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(_SCRIPT), str(os.getpid()), mode],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )

    def best_packed(self, packed: Array, dice: Array) -> Array:
        """See `engine.players.base.Player`. Only real choices are asked for."""
        results, offsets = legal_results(packed, dice)
        first = offsets[:-1]
        counts = np.diff(offsets)
        chosen: Array = results[first]
        asked = counts > 1
        if asked.any():
            chosen[asked] = self._ask(packed[asked], dice[asked])
            same = (results == np.repeat(chosen, counts, axis=0)).all(axis=(1, 2))
            legal = np.logical_or.reduceat(same, first)
            if not legal.all():
                self._refuse(packed, dice, chosen, int(np.argmin(legal)))
        return chosen

    def close(self) -> None:
        """End the process."""
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()  # type: ignore[union-attr]
        self._process.stdout.close()  # type: ignore[union-attr]
        self._process.wait()

    def _ask(self, packed: Array, dice: Array) -> Array:
        source, sink = self._process.stdout, self._process.stdin
        assert source is not None and sink is not None
        requests = np.empty((len(packed), 54), np.int8)
        requests[:, :52] = unpack(packed).reshape(-1, 52)
        requests[:, 52] = dice.max(axis=1)
        requests[:, 53] = dice.min(axis=1)
        try:
            sink.write(struct.pack("<I", len(requests)) + requests.tobytes())
            sink.flush()
            answers = source.read(len(requests) * 52)
        except BrokenPipeError:
            answers = b""
        if len(answers) < len(requests) * 52:
            raise AcepointError(f"player {self.name!r}: the process of {_PACKAGE} has stopped")
        return pack(np.frombuffer(answers, np.int8).reshape(-1, 2, 26))

    def _refuse(self, packed: Array, dice: Array, chosen: Array, index: int) -> None:
        raise AcepointError(
            f"player {self.name!r}: {_PACKAGE} answered {unpack(chosen)[index].tolist()}, "
            f"which is no legal result of {dice[index].tolist()} "
            f"in {unpack(packed)[index].tolist()}"
        )
