"""The situation in which a position is judged: score, cube and rules, as the player on roll has it.

`CubeContext` is what users and players hold; `cubes_of` makes of many of them what the kernel
wants.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import lru_cache
from typing import Any

import numpy as np

from engine.backgammon.match import Match
from engine.cube.met import MatchEquityTable, load_table
from engine.kernels import cubeful
from engine.kernels.cubeful import LEVELS, Cubes

__all__ = ["CubeContext", "Owner", "cubes_of"]

Array = np.ndarray[Any, Any]


class Owner(IntEnum):
    """Who may turn the cube, as the player on roll sees it."""

    CENTRE = cubeful.CENTRE
    ME = cubeful.ME
    OPPONENT = cubeful.OPPONENT

    def flipped(self) -> "Owner":
        """Switches sides."""
        return {Owner.ME: Owner.OPPONENT, Owner.OPPONENT: Owner.ME}.get(self, self)


@dataclass(frozen=True, slots=True)
class CubeContext:
    """Score, cube and rules, for the player on roll. `CubeContext()` is money, the cube centred.

    The value of a position is a match-winning chance in a match, points in money games.
    """

    away: tuple[int, int] = (0, 0)
    """Points that the player on roll and his opponent need; (0, 0) for money."""
    cube: int = 1
    owner: Owner = Owner.CENTRE
    in_play: bool = True
    """Whether the cube may be turned in this game: not in the Crawford game."""
    jacoby: bool = False
    """Gammons count only once the cube is turned. Without meaning in a match, like beavers."""
    beavers: bool = False
    table: MatchEquityTable | None = None
    """None is the default match equity table."""

    @classmethod
    def of(cls, match: Match | None, table: MatchEquityTable | None = None) -> "CubeContext":
        """The situation of the player on roll in a match; None is a money game, cube centred.

        While a double is offered the doubler is the player on roll, and the cube not yet turned.
        """
        if match is None:
            return cls(table=table)
        owner = Owner.CENTRE
        if match.cube_owner is not None:
            owner = Owner.ME if match.cube_owner == match.on_roll else Owner.OPPONENT
        at_limit = match.cube.bit_length() > match.max_cube_exponent
        return cls(
            away=match.away,
            cube=match.cube,
            owner=owner,
            in_play=not match.crawford and (match.length > 0 or not at_limit),
            jacoby=match.jacoby and match.length == 0,
            beavers=match.beavers and match.length == 0,
            table=table,
        )

    @property
    def is_money(self) -> bool:
        """Whether points are played for, not a match."""
        return self.away == (0, 0)

    def flipped(self) -> "CubeContext":
        """Switches sides: the same situation as the opponent has it."""
        return replace(self, away=self.away[::-1], owner=self.owner.flipped())

    def without_cube(self) -> "CubeContext":
        """The same situation with the cube out of play: its values are cubeless."""
        return replace(self, in_play=False)


def cubes_of(contexts: Sequence[CubeContext]) -> tuple[Cubes, Array]:
    """The kernel's form of N situations, each distinct one once, and int64[N], which is whose."""
    numbers: dict[CubeContext, int] = {}
    index = np.array([numbers.setdefault(each, len(numbers)) for each in contexts], np.int64)
    rows = [_row(context) for context in numbers]
    return Cubes(
        np.array([stakes for stakes, _ in rows]).reshape(-1, LEVELS, 6),
        np.array([turns for _, turns in rows], np.int64),
        np.array([context.owner for context in numbers], np.int64),
        np.array([context.beavers for context in numbers], np.bool_),
    ), index


@lru_cache(maxsize=4096)
def _row(context: CubeContext) -> tuple[Array, int]:
    """The stakes, float64[LEVELS, 6], and the number of turns that matter."""
    factors = np.array([1, 2, 3])
    if context.is_money:
        points = 2.0 ** np.arange(LEVELS)[:, None] * factors
        if context.jacoby and context.owner == Owner.CENTRE:
            points[0] = 1
        return np.hstack((points, -points)), LEVELS - 1 if context.in_play else 0
    table = context.table or load_table()
    mine, theirs = context.away
    post = min(context.away) == 1
    stakes = np.empty((LEVELS, 6))
    for level in range(LEVELS):
        for column, factor in enumerate(factors.tolist()):
            points_won = factor * context.cube << level
            stakes[level, column] = table.mwc(mine - points_won, theirs, post)
            stakes[level, 3 + column] = table.mwc(mine, theirs - points_won, post)
    turns = 0
    while context.in_play and context.cube << turns < max(context.away):
        turns += 1
    return stakes, turns
