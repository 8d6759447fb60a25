"""Cubeful equity, for money and at any score, from the five probabilities of a position.

`engine.kernels.cubeful` has the model: Janowski's dead and live cube, with the cube efficiency
between them. A match differs from money only in what the result of a game is worth, and Jacoby,
the Crawford game and dead cubes only in which turns of the cube make a difference.
"""

from typing import Any, NamedTuple

import numpy as np

from engine.cube.context import Contexts, CubeContext, cubes_of, distinct
from engine.kernels.cubeful import ACTIONS, Cubes, actions_of_positions, timing_of_boards
from engine.kernels.movegen import flat

__all__ = [
    "CONTACT",
    "CubeEquities",
    "Market",
    "Timing",
    "best_equities",
    "cube_equities",
    "gammon_prices",
    "market",
    "timing",
    "to_equities",
]

Array = np.ndarray[Any, Any]

GRID = np.linspace(0, 1, 1025)  # of winning chances; the equities are linear in nearly every step


class CubeEquities(NamedTuple):
    """What each use of the cube is worth in N positions, float64[N], for the player on roll.

    Points per unit of the cube in money games, EMG in matches, the cube as it is before the
    double. Where he may not double, or not be beavered, as if he might.
    """

    no_double: Array
    double_take: Array
    double_pass: Array
    double_beaver: Array


class Timing(NamedTuple):
    """What a board says about when the cube can be turned; one number for all positions, or N."""

    ready: Array | float
    """From 0 to 1: how well the cube can be timed, less well the shorter a race."""
    ending: Array | float
    """The chance that the player on roll bears off his last checkers with this roll."""


class Market(NamedTuple):
    """The winning chances of the player on roll at which the right cube action changes.

    For the gammon shares of one position; nan for a point that does not exist.
    """

    double_point: float
    """From here on he doubles."""
    cash_point: float
    """From here on the opponent passes; the opponent's take point is 1 less this."""
    too_good_point: float
    """From here on playing for the gammon is worth more than the cash."""


CONTACT = Timing(1.0, 0.0)


def timing(packed: Array) -> Timing:
    """The timing of the cube in int8[N, 2, 32] packed boards."""
    ready, ending = np.empty((2, len(packed)))
    timing_of_boards(flat(packed), ready, ending)
    return Timing(ready, ending)


def cube_equities(probabilities: Array, contexts: Contexts, when: Timing = CONTACT) -> CubeEquities:
    """What each use of the cube is worth.

    probabilities: float32[N, 5] of the player on roll; contexts: his situation, one or N of them;
    when: from `timing`.
    """
    situations, index = distinct(contexts, len(probabilities))
    cubes = cubes_of(situations)
    actions = np.empty((len(index), ACTIONS))
    values = np.ascontiguousarray(probabilities, np.float32).ravel()
    ready, ending = (np.ascontiguousarray(np.broadcast_to(each, index.shape)) for each in when)
    actions_of_positions(cubes, index, values, ready, ending, actions)
    return CubeEquities(*to_equities(actions, cubes, index).T)


def best_equities(equities: CubeEquities, contexts: Contexts) -> Array:
    """float64[N]: equities of positions whose player on roll uses the cube where that is right."""
    situations, index = distinct(contexts, len(equities.no_double))
    may_double = np.array([context.may_double for context in situations], np.bool_)
    doubled = np.where(may_double[index], np.min(equities[1:], axis=0), -np.inf)
    return np.maximum(equities.no_double, doubled)


def to_equities(values: Array, cubes: Cubes, index: Array) -> Array:
    """The equities, float64[N, K], of values in N of the situations, by row of `cubes`."""
    won, lost = cubes.stakes[index, 0, 0], cubes.stakes[index, 0, 3]
    middle, half = (won + lost) / 2, (won - lost) / 2
    equities: Array = (values - middle[:, None]) / half[:, None]
    return equities


def gammon_prices(context: CubeContext) -> tuple[float, float]:
    """What a gammon is worth above a single win, to the player on roll and to the opponent.

    As a share of the difference between a single win and loss, at the present cube: 0.5 for money.
    """
    (win, gammon, _, loss, lost_gammon, _), *_ = cubes_of([context]).stakes[0].tolist()
    return (gammon - win) / (win - loss), (loss - lost_gammon) / (win - loss)


def market(probabilities: Array, context: CubeContext, when: Timing = CONTACT) -> Market:
    """Where the right cube actions change, for the gammon shares of one position, float32[5]."""
    win, gammon, backgammon, lost_gammon, lost_backgammon = probabilities.astype(np.float64)
    shares = np.array([gammon, backgammon]) / win if win > 0 else np.zeros(2)
    lost_shares = np.array([lost_gammon, lost_backgammon]) / (1 - win) if win < 1 else np.zeros(2)
    rows = np.column_stack(
        (GRID, GRID[:, None] * shares, (1 - GRID)[:, None] * lost_shares)
    ).astype(np.float32)
    equities = cube_equities(rows, context, when)
    doubled = np.min(equities[1:], axis=0)
    return Market(
        _first_rise(doubled - equities.no_double),
        _first_rise(equities.double_take - equities.double_pass),
        _first_rise(equities.no_double - equities.double_pass),
    )


def _first_rise(differences: Array) -> float:
    """The p of GRID at which float64[.] differences first rise above 0, or nan."""
    rises = np.flatnonzero((differences[:-1] <= 0) & (differences[1:] > 0))
    if not rises.size:
        return float("nan")
    before, after = differences[rises[0]], differences[rises[0] + 1]
    return float(GRID[rises[0]] - before / (after - before) * (GRID[1] - GRID[0]))
