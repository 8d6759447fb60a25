"""The situation in which a position is judged: score, cube and rules, for the player on roll."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import lru_cache
from typing import Any

import numpy as np

from engine.backgammon.match import MAX_LENGTH, Match, Offer, require_match
from engine.cube.met import MatchEquityTable, load_table
from engine.errors import AcepointError, PositionError
from engine.kernels import cubeful
from engine.kernels.cubeful import LEVELS, Cubes
from engine.kernels.match_equity import match_stakes, useful_turns

__all__ = ["Contexts", "CubeContext", "Owner", "cubes_of", "decision_context", "distinct"]

Array = np.ndarray[Any, Any]

# Turns left of the cube that are counted: a fifth makes a difference of 0.04 points at most, with
# three wins in five gammons, and the exact equities of bearoffs know no limit.
FEW_TURNS = 4
ALIKE = 2  # turns of the cube in a money game; Jacoby makes a difference to the first


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

    The *value* of a position is a match-winning chance in a match, and points per unit of the cube
    in money games. Its *equity* is the value on the scale on which a single game won or lost at
    the present cube is +1 or -1: the value itself for money, EMG in a match.

    away: points that the player on roll and his opponent need; (0, 0) for money.
    in_play: whether the cube may be turned in this game: not in the Crawford game, for instance.
    jacoby: gammons count only once the cube has been turned. Without meaning in a match.
    beavers: the doubled side may beaver. Without meaning in a match.
    turns_left: how often the cube may still be turned; None is so often that it does not matter.
    table: the match equity table; None is the default one.
    """

    away: tuple[int, int] = (0, 0)
    cube: int = 1
    owner: Owner = Owner.CENTRE
    in_play: bool = True
    jacoby: bool = False
    beavers: bool = False
    turns_left: int | None = None
    table: MatchEquityTable | None = None

    def __post_init__(self) -> None:
        if not self.is_money and not all(1 <= points <= MAX_LENGTH for points in self.away):
            raise PositionError(f"away {self.away}: expected 1 to {MAX_LENGTH} points of each side")
        if self.cube < 1 or self.cube & self.cube - 1:
            raise PositionError(f"cube {self.cube}: expected a power of 2")
        left = self.turns_left
        least = 2 if self.beavers else 1 if self.in_play else 0
        if left is not None and not least <= left <= FEW_TURNS:
            raise PositionError(f"turns left {left}: expected {least} to {FEW_TURNS}, or None")

    @classmethod
    def of(cls, match: Match | None, table: MatchEquityTable | None = None) -> "CubeContext":
        """The situation of the player on roll in a match; None is a money game, cube centred.

        While a double is offered the doubler is the player on roll, and the cube not yet turned.
        Raises PositionError for what is no match, or one that is over.
        """
        if match is None:
            return cls(table=table)
        require_match(match)
        is_money = match.length == 0
        if not is_money and min(match.away) < 1:
            raise PositionError(f"score {match.score}: the match to {match.length} is over")
        owner = Owner.CENTRE
        if match.cube_owner is not None:
            owner = Owner.ME if match.cube_owner == match.on_roll else Owner.OPPONENT
        turns_left = max(0, match.max_cube_exponent + 1 - match.cube.bit_length())
        return cls(
            away=match.away,
            cube=match.cube,
            owner=owner,
            in_play=not match.crawford and match.length != 1 and turns_left > 0,
            jacoby=is_money and match.jacoby,
            beavers=is_money and match.beavers and turns_left > 1,
            turns_left=turns_left if turns_left <= FEW_TURNS else None,
            table=table,
        )

    @property
    def is_money(self) -> bool:
        """Whether points are played for, not a match."""
        return self.away == (0, 0)

    @property
    def may_double(self) -> bool:
        """Whether the player on roll may turn the cube, be it of use or not."""
        return self.in_play and self.owner != Owner.OPPONENT

    @property
    def is_dead(self) -> bool:
        """Whether the player on roll can gain nothing by turning the cube, now or later."""
        return not self.in_play or (not self.is_money and self.cube >= self.away[0])

    def flipped(self) -> "CubeContext":
        """Switches sides: the same situation as the opponent has it."""
        return replace(self, away=self.away[::-1], owner=self.owner.flipped())

    def turned(self, times: int = 1) -> "CubeContext":
        """What the player on roll has after his double was taken, or at `times` 2 beavered."""
        turned = replace(self, cube=self.cube << times, owner=Owner.OPPONENT)
        if self.turns_left is None:
            return turned
        left = max(self.turns_left - times, 0)
        return replace(
            turned,
            turns_left=left,
            in_play=self.in_play and left > 0,
            beavers=self.beavers and left > 1,
        )

    def without_cube(self) -> "CubeContext":
        """The same situation with the cube out of play: its equities are cubeless."""
        return replace(self, in_play=False)

    def loss(self, kind: int) -> float:
        """The equity of losing now: `kind` 1 is a single game, 2 a gammon, 3 a backgammon."""
        won, lost, worth = _row(self)[0][0, [0, 3, 2 + kind]].tolist()
        return float((2 * worth - won - lost) / (won - lost))

    def mwc(self, equity: float) -> float:
        """The match-winning chance of an EMG."""
        stakes, _ = _row(self)
        return float((stakes[0, 0] + stakes[0, 3]) / 2 + equity * (stakes[0, 0] - stakes[0, 3]) / 2)


def decision_context(match: Match | None, table: MatchEquityTable | None = None) -> CubeContext:
    """The situation in which the player on roll may double, his opponent take or beaver.

    Raises PositionError as `CubeContext.of`, and while a beaver or a raccoon waits for an answer.
    """
    context = CubeContext.of(match, table)
    if match is not None and match.offer > Offer.DOUBLE:
        raise PositionError(
            f"a {match.offer.name.lower()} waits for an answer: expected a double at most"
        )
    return context


Contexts = CubeContext | Sequence[CubeContext]
"""One situation for all positions of a batch, or one for each."""


def distinct(contexts: Contexts, count: int) -> tuple[list[CubeContext], Array]:
    """The situations of `count` positions, each once, and int64[count]: which each position has."""
    if isinstance(contexts, CubeContext):
        return [contexts], np.zeros(count, np.int64)
    if len(contexts) != count:
        raise AcepointError(f"{len(contexts)} situations, {count} positions: expected as many")
    numbers: dict[CubeContext, int] = {}
    index = [numbers.setdefault(context, len(numbers)) for context in contexts]
    return list(numbers), np.array(index, np.int64)


def cubes_of(contexts: Sequence[CubeContext]) -> Cubes:
    """The kernels' form of situations."""
    rows = [_row(context) for context in contexts]
    return Cubes(
        np.array([stakes for stakes, _ in rows]).reshape(-1, LEVELS, 6),
        np.array([turns for _, turns in rows], np.int64),
        np.array([_is_endless(context) for context in contexts], np.bool_),
        np.array([context.owner for context in contexts], np.int64),
        np.array([context.beavers for context in contexts], np.bool_),
    )


@lru_cache(maxsize=1 << 14)
def _row(context: CubeContext) -> tuple[Array, int]:
    """The stakes of a situation, float64[LEVELS, 6], and the turns of the cube that matter."""
    if context.is_money:
        points = 2.0 ** np.arange(LEVELS)[:, None] * (1, 2, 3)
        if context.jacoby and context.owner == Owner.CENTRE:
            points[0] = 1
        return np.hstack((points, -points)), _turns(context, ALIKE)
    table = context.table or load_table()
    stakes = np.empty((LEVELS, 6))
    match_stakes(table.pre, table.post, *context.away, context.cube, stakes)
    return stakes, _turns(context, useful_turns(*context.away, context.cube))


def _is_endless(context: CubeContext) -> bool:
    """Whether all levels of the cube are alike."""
    return context.is_money and context.in_play and context.turns_left is None


def _turns(context: CubeContext, useful: int) -> int:
    """How many turns of the cube matter, if so many would without a limit."""
    if not context.in_play:
        return 0
    if context.turns_left is None:
        return useful
    return context.turns_left if context.is_money else min(useful, context.turns_left)
