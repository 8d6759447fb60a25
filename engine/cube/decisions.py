"""Cube decisions: what the player on roll should do, how to answer him, what errors cost."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from engine.cube.context import Contexts, CubeContext, Owner, distinct
from engine.cube.equity import CONTACT, CubeEquities, Timing, cube_equities
from engine.kernels.cubeful import GAIN

__all__ = [
    "NOT_AVAILABLE",
    "CubeActions",
    "CubeDecision",
    "actions_of",
    "cube_actions",
    "decision_of",
]

Array = np.ndarray[Any, Any]

NOT_AVAILABLE = "Cube not available"
EQUAL = 1e-4  # equities no further apart leave the double optional


class CubeActions(NamedTuple):
    """The cube decisions of N positions, as the player on roll sees them."""

    no_double: Array
    """float64[N] equity when he does not double: points per unit of the cube in money games, EMG
    in matches. The next two likewise, both on the scale of the cube before the double."""
    double_take: Array
    double_pass: Array
    doubles: Array
    """bool[N]: whether doubling is right; never where he may not double."""
    takes: Array
    """bool[N]: whether taking is right, should he double."""
    beavers: Array
    """bool[N]: whether the doubled side should beaver, should he double; never in a match."""


@dataclass(frozen=True, slots=True)
class CubeDecision:
    """The cube decision of one position, for the player on roll."""

    context: CubeContext
    probabilities: Array
    """float32[5] before the roll."""
    no_double: float
    """Equity when he does not double: points per unit of the cube in money games, EMG in matches.
    The next three likewise, all on the scale of the cube before the double; where he may not
    double, or not be beavered, as if he might."""
    double_take: float
    double_pass: float
    double_beaver: float

    @property
    def doubles(self) -> bool:
        """Whether doubling is right; False where he may not double."""
        return self.context.may_double and self.doubled > self.no_double + GAIN

    @property
    def takes(self) -> bool:
        """Whether taking, or beavering, is right should he double."""
        return min(self.double_take, self.double_beaver) <= self.double_pass

    @property
    def beavers(self) -> bool:
        """Whether the doubled side should turn the cube back at once, and keep it."""
        return self.double_beaver < self.double_take

    @property
    def raccoons(self) -> bool:
        """Whether the doubler should turn the cube once more if he is beavered."""
        left = self.context.turns_left
        return self.context.beavers and self.double_take > 0 and (left is None or left > 2)

    @property
    def too_good(self) -> bool:
        """Whether playing on for the gammon is worth more than the cash."""
        return self.context.may_double and not self.doubles and self.no_double > self.double_pass

    @property
    def optional(self) -> bool:
        """Whether doubling and not doubling are worth the same, the cube being of use."""
        equal = abs(self.doubled - self.no_double) <= EQUAL
        return self.context.may_double and not self.context.is_dead and equal

    @property
    def doubled(self) -> float:
        """The equity of doubling when the answer is right."""
        return min(self.double_take, self.double_pass, self.double_beaver)

    @property
    def equity(self) -> float:
        """The equity when both sides do what is right."""
        return max(self.no_double, self.doubled) if self.context.may_double else self.no_double

    @property
    def errors(self) -> dict[str, float]:
        """What each choice of either side costs it in equity, 0 for a right one."""
        best = self.equity
        errors = {"no double": best - self.no_double}
        if self.context.may_double:
            errors["double"] = best - self.doubled
            errors["take"] = self.double_take - self.doubled
            errors["pass"] = self.double_pass - self.doubled
            if self.context.beavers:
                errors["beaver"] = self.double_beaver - self.doubled
        return errors

    @property
    def action(self) -> str:
        """The right actions of both sides in the usual words: `Double, take`, and so on."""
        if not self.context.may_double:
            return NOT_AVAILABLE
        double = "redouble" if self.context.owner == Owner.ME else "double"
        answer = "beaver" if self.beavers else "take" if self.takes else "pass"
        if self.optional:
            return f"Optional {double}, {answer}"
        if self.doubles:
            return f"{double.capitalize()}, {answer}"
        if self.too_good:
            return f"Too good to {double}, {answer}"
        return f"No {double}, {answer}"


def cube_actions(probabilities: Array, contexts: Contexts, when: Timing = CONTACT) -> CubeActions:
    """The cube decisions of N positions; the arguments as in `engine.cube.equity.cube_equities`."""
    return actions_of(cube_equities(probabilities, contexts, when), contexts)


def actions_of(equities: CubeEquities, contexts: Contexts) -> CubeActions:
    """The cube decisions of N positions in which the uses of the cube are worth that."""
    situations, index = distinct(contexts, len(equities.no_double))
    may_double = np.array([context.may_double for context in situations], np.bool_)[index]
    accepted = np.minimum(equities.double_take, equities.double_beaver)
    doubled = np.minimum(accepted, equities.double_pass)
    return CubeActions(
        equities.no_double,
        equities.double_take,
        equities.double_pass,
        may_double & (doubled > equities.no_double + GAIN),
        accepted <= equities.double_pass,
        equities.double_beaver < equities.double_take,
    )


def decision_of(values: Array, equities: CubeEquities, context: CubeContext) -> CubeDecision:
    """The cube decision of the one position of a batch, values: its float32[1, 5]."""
    return CubeDecision(context, values[0], *(float(equity[0]) for equity in equities))
