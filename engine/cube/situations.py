"""All the situations that a game can come into by turns of the cube, for the rollout's kernels."""

import numpy as np

from engine.cube.context import CubeContext, cubes_of
from engine.kernels.trials import Situations

__all__ = ["Situation", "is_of_no_use", "situations_from"]

Situation = tuple[CubeContext, bool]
"""Score, cube and rules for the player on roll, and whether he is of the root's side."""

MOST_TURNS = 10  # of the cube in one money game; nothing that is rolled out depends on the last


def situations_from(root: CubeContext) -> tuple[Situations, dict[Situation, int]]:
    """The situations that can follow from `root`, whose player on roll is the root's side.

    Also where each of them stands. Equities are on the scale of the root's cube. The last turn of
    the cube is the one from which nobody can gain, and the tenth in money games.
    """
    most = root.cube << MOST_TURNS if root.is_money else None
    numbers: dict[Situation, int] = {(root, True): 0}
    found: list[Situation] = [(root, True)]

    def number(context: CubeContext, is_root: bool) -> int:
        if most is not None and context.cube >= most:
            context = context.without_cube()
        situation = (context, is_root)
        if situation not in numbers:
            numbers[situation] = len(found)
            found.append(situation)
        return numbers[situation]

    played, taken_by, beavered_by = [], [], []
    for context, is_root in found:  # grows while it is walked through
        may_gain = context.may_double and not is_of_no_use(context)
        played.append(number(context.flipped(), not is_root))
        taken_by.append(number(context.turned(), is_root) if may_gain else -1)
        may_be_beavered = may_gain and context.beavers
        beavered_by.append(number(context.turned(2), is_root) if may_be_beavered else -1)

    slope, offset = zip(*(_scale(root, *situation) for situation in found), strict=True)
    return Situations(
        cubes_of([context for context, _ in found]),
        np.array(played, np.int64),
        np.array(taken_by, np.int64),
        np.array(beavered_by, np.int64),
        np.array(slope, np.float64),
        np.array(offset, np.float64),
        np.array([is_root for _, is_root in found], np.bool_),
    ), numbers


def is_of_no_use(context: CubeContext) -> bool:
    """Whether no turn of the cube makes a difference: a single game is the match for both sides, or
    the cube is out of play.
    """
    return int(cubes_of([context]).turns[0]) == 0


def _scale(root: CubeContext, context: CubeContext, is_root: bool) -> tuple[float, float]:
    """Slope and offset from the value of a situation to the equity of the root's side."""
    sign = 1 if is_root else -1
    if root.is_money:
        return sign * context.cube / root.cube, 0.0
    won, lost = cubes_of([root]).stakes[0, 0, [0, 3]].tolist()
    middle, half = (won + lost) / 2, (won - lost) / 2
    return sign / half, ((0 if is_root else 1) - middle) / half
