"""What a net is told of a board: named, versioned feature sets.

An encoder is a table of codes: each (column, count) of a row has a short vector, and the features
of a board are the codes of its 52 columns, one after the other. So a first layer over the features
is, for each column and count, one row of a table: the forward pass adds up rows and knows nothing
of encoders, and a richer code costs nothing at play. Features that are not the sum of columns,
such as how many rolls hit, are computed for every board, so there are few of them.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.errors import NetError
from engine.kernels.tactics import TACTICS, tactics_of

__all__ = ["ENCODERS", "Encoder", "encoder"]

Array = np.ndarray[Any, Any]

COLUMNS = 26
COUNTS = 16
ROW = 32  # bytes of a packed row


@dataclass(frozen=True)
class Encoder:
    """One feature set. `codes` is float32[26, 16, K]: the code of each column and count."""

    name: str
    version: int
    codes: Array
    has_tactics: bool
    """Whether the features of `engine.kernels.tactics` follow the codes."""

    @property
    def _coded(self) -> int:
        return 2 * COLUMNS * int(self.codes.shape[2])

    @property
    def features(self) -> int:
        """How many features a board has: 52 K, and the tactical ones."""
        return self._coded + self.has_tactics * TACTICS

    def encode(self, packed: Array) -> Array:
        """float32[N, features] of int8[N, 2, 32] packed boards, for the player on roll."""
        columns = np.arange(COLUMNS)
        codes = self.codes[columns, packed[:, :, :COLUMNS]].reshape(len(packed), self._coded)
        if not self.has_tactics:
            return codes
        boards = np.ascontiguousarray(packed).reshape(len(packed), 2 * ROW)
        return np.concatenate([codes, tactics_of(boards)], axis=1)

    def tactics(self, weight: Array) -> Array:
        """The weights of the tactical features for the kernels, float32[TACTICS, H] or [0, H]."""
        return weight[:, self._coded :].T

    def table(self, weight: Array) -> Array:
        """Fold a first layer, float32[H, features], into float32[64, 16, H] for the kernels."""
        hidden = len(weight)
        slots = weight[:, : self._coded].reshape(hidden, 2, COLUMNS, self.codes.shape[2])
        table = np.zeros((2, ROW, COUNTS, hidden), np.float32)
        table[:, :COLUMNS] = np.einsum("hrck,cnk->rcnh", slots, self.codes, optimize=True)
        return table.reshape(2 * ROW, COUNTS, hidden)


def _thermometer_codes() -> Array:
    """A unit for each of the first five checkers on a point, and one for the rest.

    The first two say blot and made point. Checkers off get the share that is off, since the race
    hangs on it, and units for the first (no gammon any more), the fifth, tenth and last few.
    """
    count = np.arange(COUNTS, dtype=np.float32)
    point = np.stack([count >= n for n in range(1, 6)] + [np.maximum(count - 5, 0) / 4], axis=-1)
    off = np.stack([count / 15, *(count >= n for n in (1, 5, 10, 12, 14))], axis=-1)
    codes = np.repeat(point[None], COLUMNS, axis=0).astype(np.float32)
    codes[0] = off
    return codes


ENCODERS = {
    each.name: each
    for each in (
        Encoder("thermometer", 1, _thermometer_codes(), has_tactics=False),
        Encoder("tactical", 2, _thermometer_codes(), has_tactics=True),
    )
}


def encoder(name: str, version: int) -> Encoder:
    """The encoder of this name and version; NetError when there is none."""
    found = ENCODERS.get(name)
    if found is None:
        raise NetError(f"unknown encoder {name!r}: expected one of {', '.join(ENCODERS)}")
    if found.version != version:
        raise NetError(
            f"encoder {name!r} is of version {version}: this Acepoint reads version {found.version}"
        )
    return found
