"""Bearoffs with the cube: exact equities where the database has them, the model's elsewhere."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.cube.context import Contexts, CubeContext, Owner, cubes_of, distinct
from engine.cube.decisions import CubeDecision, decision_of
from engine.cube.equity import CubeEquities, cube_equities, timing
from engine.evaluation.bearoff import Race, is_exact, probabilities, races
from engine.kernels.bearoff import Bearoff, actions_of_boards
from engine.kernels.movegen import words_of

__all__ = ["BearoffAnalysis", "analyse", "with_exact_equities"]

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class BearoffAnalysis:
    """What the databases say of one position."""

    exact: bool
    """Whether it is in the two-sided database, so that probabilities and money equities are exact;
    otherwise the sides race without looking at each other, and the cube is the model's."""
    races: tuple[Race, Race] | None
    """Of the player on roll and of the opponent; None when the one-sided database lacks one."""
    decision: CubeDecision
    """In the situation that was asked for."""
    money: dict[Owner, CubeDecision]
    """In a money game, for each owner of the cube."""


def with_exact_equities(
    equities: CubeEquities, bearoff: Bearoff, packed: Array, contexts: Contexts
) -> CubeEquities:
    """The equities, exact for the money games among them that are in the two-sided database.

    packed: int8[N, 2, 32], the positions; contexts: the situation of the player on roll, one or N
    of them. The Jacoby rule makes no difference: both sides have borne off a checker.
    """
    situations, index = distinct(contexts, len(packed))
    cubes = cubes_of(situations)
    actions = np.stack(equities, axis=1)
    words = words_of(packed)
    actions_of_boards(bearoff, words, index, cubes.endless, cubes.owner, cubes.beavers, actions)
    return CubeEquities(*actions.T)


def analyse(bearoff: Bearoff, packed: Array, context: CubeContext) -> BearoffAnalysis | None:
    """What the databases say of an int8[1, 2, 32] packed board, not of a finished game; None when
    neither has it.
    """
    values, known = probabilities(bearoff, packed)
    if not known[0]:
        return None

    def decide(context: CubeContext) -> CubeDecision:
        modelled = cube_equities(values, context, timing(packed))
        equities = with_exact_equities(modelled, bearoff, packed, context)
        return decision_of(values, equities, context)

    return BearoffAnalysis(
        is_exact(bearoff, packed[0]),
        races(bearoff, packed[0]),
        decide(context),
        {owner: decide(CubeContext(owner=owner)) for owner in Owner},
    )
