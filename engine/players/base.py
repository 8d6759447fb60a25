"""The contract of a player: many positions with their rolls in, the chosen results out."""

from typing import Any, Protocol

import numpy as np

__all__ = ["Array", "Player"]

Array = np.ndarray[Any, Any]


class Player(Protocol):
    """Anything that can sit at the board.

    What a player chooses depends on position and roll alone, not on the batch it came in, so that
    a tournament has the same result however its games are spread over processes.
    """

    name: str
    """The text that `make_player` builds it from."""

    fingerprint: str
    """What the name leaves open and the play depends on: a package's version, a net's hash."""

    def best_packed(self, packed: Array, dice: Array) -> Array:
        """The chosen result of each of N unfinished positions.

        packed: int8[N, 2, 32], row 0 on roll; dice: int8[N, 2], 1..6 in any order.
        Returns int8[N, 2, 32], a legal result as the next player sees it.
        """
        ...

    def close(self) -> None:
        """Give back processes and files; the player is not used afterwards."""
        ...
