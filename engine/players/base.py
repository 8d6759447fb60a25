"""The contracts of players: many positions in, the chosen results and cube actions out."""

from typing import Any, Protocol, runtime_checkable

import numpy as np

from engine.backgammon.match import Match

__all__ = ["Array", "CubefulPlayer", "Judge", "Player", "Seated"]

Array = np.ndarray[Any, Any]


class Seated(Protocol):
    """What all players have."""

    name: str
    """The text that `make_player` builds it from."""

    fingerprint: str
    """What the name leaves open and the play depends on: a package's version; a net's hash and the
    bearoff databases."""

    def close(self) -> None:
        """Give back processes and files; the player is not used afterwards."""
        ...


class Player(Seated, Protocol):
    """Anything that can sit at the board in money games without the cube.

    What a player chooses depends on what it is asked alone, not on the batch it came in, so that
    a tournament has the same result however its games are spread over processes.
    """

    def best_packed(self, packed: Array, dice: Array) -> Array:
        """The chosen result of each of N unfinished positions.

        packed: int8[N, 2, 32], row 0 on roll; dice: int8[N, 2], 1..6 in any order.
        Returns int8[N, 2, 32], a legal result as the next player sees it.
        """
        ...


class CubefulPlayer(Seated, Protocol):
    """A player that plays with the cube, for money and in matches."""

    def best_packed(self, packed: Array, dice: Array, match: Match) -> Array:
        """As that of `Player`; match: the score and cube of them all, before the roll."""
        ...

    def act_packed(self, packed: Array, match: Match) -> Array:
        """What it does in each of N unfinished positions in which it may do something to the cube.

        packed: int8[N, 2, 32], row 0 the player `on_roll` in `match`, the doubler if a double is
        open, whoever is asked. Returns int64[N], one of `legal_actions(match)` for each; before
        the roll that is ROLL or DOUBLE.
        """
        ...


@runtime_checkable
class Judge(Protocol):
    """A player that says what it thinks of a position."""

    def evaluate_packed(self, packed: Array) -> Array:
        """float32[N, 5] probabilities of int8[N, 2, 32] unfinished positions, row 0 on roll."""
        ...
