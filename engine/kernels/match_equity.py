"""What the points of a game are worth in a match, and match equity tables filled in by recursion.

A table is two arrays over the points that the sides need. `pre`, float64[S, S], has the chance of a
side that needs `i` points against one that needs `j`, up to and including the Crawford game;
`post`, float64[S], that of the trailer who needs `i` after it, when the leader needs one. Their
first row, column and entry are not used.
"""

from typing import Any

import numpy as np
from numba import njit

from engine.kernels import inner, kernel
from engine.kernels.cubeful import ACTIONS, CENTRE, LEVELS, Cubes, position_value

__all__ = ["fill_table", "match_stakes", "useful_turns"]

Array = np.ndarray[Any, Any]

OPENING_LUCK = 0.03  # of the winning chance, before anybody may double


@inner
def _chance(pre: Array, post: Array, away: int, opponent_away: int, crawford_over: bool) -> float:
    """The match-winning chance between two games."""
    if away <= 0:
        return 1.0
    if opponent_away <= 0:
        return 0.0
    if not crawford_over:
        return pre[away, opponent_away]
    if opponent_away == 1:
        return post[away]
    return 1.0 - post[opponent_away]


@kernel
def match_stakes(
    pre: Array, post: Array, away: int, opponent_away: int, cube: int, stakes: Array
) -> None:
    """The match-winning chances after the ways in which a game can end.

    away, opponent_away: what the player on roll and his opponent need before the game. Written:
    stakes float64[LEVELS, 6], as in `engine.kernels.cubeful.Cubes`.
    """
    crawford_over = min(away, opponent_away) == 1  # or will be, when this game is over
    for level in range(len(stakes)):
        for ending in range(3):
            points = (cube << level) * (ending + 1)
            stakes[level, ending] = _chance(pre, post, away - points, opponent_away, crawford_over)
            stakes[level, 3 + ending] = _chance(
                pre, post, away, opponent_away - points, crawford_over
            )


@kernel
def useful_turns(away: int, opponent_away: int, cube: int) -> int:
    """How often the cube can be turned until a single game is the match for both sides."""
    turns = 0
    while cube << turns < max(away, opponent_away):
        turns += 1
    return turns


@njit
def _before_game(
    pre: Array, post: Array, away: int, opponent_away: int, cubes: Cubes, turns: int,
    rates: Array, ready: float,
) -> float:  # fmt: skip
    """The chance of a side before a game in which the cube can be turned so often."""
    actions = np.empty(ACTIONS)
    values = np.empty(5, np.float32)
    chance = 0.0
    cubes.turns[0] = turns
    for on_roll in range(2):
        if on_roll == 0:
            match_stakes(pre, post, away, opponent_away, 1, cubes.stakes[0])
        else:
            match_stakes(pre, post, opponent_away, away, 1, cubes.stakes[0])
        for luck in (-OPENING_LUCK, OPENING_LUCK):
            win = 0.5 + luck
            values[0] = win
            values[1], values[2] = win * rates[0], win * rates[1]
            values[3], values[4] = (1 - win) * rates[0], (1 - win) * rates[1]
            value = position_value(cubes, 0, values, 0, ready, 0.0, actions)
            chance += 0.25 * (value if on_roll == 0 else 1 - value)
    return chance


@kernel
def fill_table(
    pre: Array, post: Array, pre_given: int, post_given: int, rates: Array, ready: float
) -> None:
    """Fill in a table beyond the points up to which it is given.

    A game is taken for a position in which each side is on roll half the time, with a winning
    chance of one half, give or take OPENING_LUCK. So the leader's free drop has its worth. A player
    never gets more than if he needed a point less, nor less than if his opponent did.

    rates: float64[2], gammons or better and backgammons as shares of all wins, the same for both
    sides; ready: the timing of the cube as in `cube_actions`.
    """
    cubes = Cubes(
        np.empty((1, LEVELS, 6)),
        np.zeros(1, np.int64),
        np.zeros(1, np.bool_),
        np.full(1, CENTRE, np.int64),
        np.zeros(1, np.bool_),
    )
    for away in range(post_given + 1, len(post)):
        post[away] = 0.5
        if away > 1:
            turns = useful_turns(away, 1, 1)
            chance = _before_game(pre, post, away, 1, cubes, turns, rates, ready)
            post[away] = min(chance, post[away - 1])
    for away in range(pre_given + 1, len(pre)):
        for opponent_away in range(1, away):
            turns = useful_turns(away, opponent_away, 1) if opponent_away > 1 else 0
            chance = _before_game(pre, post, away, opponent_away, cubes, turns, rates, ready)
            least, most = pre[away, opponent_away - 1], pre[away - 1, opponent_away]
            chance = min(max(chance, least), most)
            pre[away, opponent_away], pre[opponent_away, away] = chance, 1 - chance
        pre[away, away] = 0.5
