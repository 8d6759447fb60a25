"""What every evaluator with the cube answers, however far it looks ahead."""

from typing import Any, NamedTuple, Protocol

import numpy as np

from engine.cube.context import Contexts, CubeContext
from engine.cube.equity import CubeEquities

__all__ = ["Evaluator", "Ranking"]

Array = np.ndarray[Any, Any]


class Ranking(NamedTuple):
    """The plays of a roll, ranked: those looked at deepest first, the best of them first."""

    order: Array
    """int64[N]: their numbers, the best first."""
    equities: Array
    """float64[N], for the mover, as in `engine.cube.equity.CubeEquities`."""
    probabilities: Array
    """float32[N, 5] after the play, for the mover."""
    plies: Array
    """int64[N]: how far they were looked ahead."""


class Evaluator(Protocol):
    """Says what positions, plays and cube actions are worth; positions are int8[N, 2, 32]."""

    def evaluate(self, packed: Array) -> Array:
        """float32[N, 5] probabilities for the player on roll; exact for finished games.

        Both sides play for money without the cube.
        """
        ...

    def choose(self, packed: Array, dice: Array, contexts: Contexts | None) -> Array:
        """The best results, int8[N, 2, 32] as the next player sees them.

        packed: none finished; dice: int8[N, 2]; contexts: the situation of the mover, one or N of
        them, or None for money games without the cube.
        """
        ...

    def rank(self, results: Array, context: CubeContext) -> Ranking:
        """Rank the plays of one roll by their int8[N, 2, 32] results, as the next player sees them.

        By equity with the cube, then without, then by checkers off. context: of the mover.
        """
        ...

    def cube(self, packed: Array, contexts: Contexts) -> tuple[CubeEquities, Array]:
        """What each use of the cube is worth in N positions, none finished, and the probabilities,
        float32[N, 5], of the player on roll if he does not double.

        contexts: his situation, one or N of them.
        """
        ...
