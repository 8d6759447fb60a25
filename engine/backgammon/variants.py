"""The variants as data: how many checkers a side has and where they start.

Sources: the rules of backgammon; nackgammon (Nack Ballard); hypergammon (three checkers a side).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from engine.backgammon.board import COLUMNS, Boards
from engine.errors import NotationError

__all__ = [
    "BACKGAMMON",
    "HYPERGAMMON",
    "NACKGAMMON",
    "VARIANTS",
    "Variant",
    "require_variant",
    "variant",
]


@dataclass(frozen=True)
class Variant:
    """A starting position, the same for both sides, and what goes with it.

    start_points: (point, checkers on it) of each side, numbered from its own side.
    jacoby: whether money sessions are played with the Jacoby rule unless something else is said.
    """

    name: str
    start_points: tuple[tuple[int, int], ...]
    jacoby: bool = False

    @cached_property
    def checkers(self) -> int:
        """How many checkers each side has."""
        return sum(count for _, count in self.start_points)

    @cached_property
    def start(self) -> Boards:
        """The starting board, int8[2, 26], read-only."""
        board = np.zeros((2, COLUMNS), np.int8)
        for point, count in self.start_points:
            board[:, point] = count
        board.setflags(write=False)
        return board


BACKGAMMON = Variant("backgammon", ((24, 2), (13, 5), (8, 3), (6, 5)))
NACKGAMMON = Variant("nackgammon", ((24, 2), (23, 2), (13, 4), (8, 3), (6, 4)))
HYPERGAMMON = Variant("hypergammon", ((24, 1), (23, 1), (22, 1)), jacoby=True)

VARIANTS = {each.name: each for each in (BACKGAMMON, NACKGAMMON, HYPERGAMMON)}


def require_variant(value: object) -> None:
    """Raises NotationError when it is no `Variant`."""
    if not isinstance(value, Variant):
        raise NotationError(f"variant {value!r:.60}: expected a Variant, such as variant(name)")


def variant(name: str) -> Variant:
    """The variant of that name. Raises NotationError when there is none."""
    if name not in VARIANTS:
        raise NotationError(f"variant {name!r}: expected one of {', '.join(VARIANTS)}")
    return VARIANTS[name]
