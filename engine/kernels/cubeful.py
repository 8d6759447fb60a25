"""The value of a position with the doubling cube, from its five probabilities.

Janowski's model ("Take-Points in Money Games", 1993), carried over to matches as the manual of GNU
Backgammon describes it. A value is a match-winning chance, or points in money games; the formulas
hold for any linear measure. Let p be the winning chance of the player on roll, and at level k, the
cube turned k more times, let

    win_k, lose_k  be the mean values of a win and a loss with the position's gammon shares,
    W_k, L_k       those of a single win and a single loss: what a pass gives.

*Live cube*: p moves without jumps, so a double comes exactly when the take is optional. The player
cashes at p = cash_k, where the opponent with the cube of level k + 1 has no more than after a pass,
and the opponent cashes at p = take_k. The value is linear between the points

    (0, lose_k)  (take_k, L_k)  (cash_k, W_k)  (1, win_k),

of which the second is there only if the opponent may double, the third only if the player may. So
take_k lies on the first piece of the player's own cube of level k + 1, cash_k on the last of the
opponent's:

    take_k = cash_{k+1} (L_k - lose_{k+1}) / (W_{k+1} - lose_{k+1})
    cash_k = take_{k+1} + (1 - take_{k+1}) (W_k - L_{k+1}) / (win_{k+1} - L_{k+1})

down from the level at which nobody gains by another turn, where take = 0 and cash = 1. In money
games all levels are alike, so take_k = take_{k+1}, cash_k = cash_{k+1}: the formulas of Janowski.

*Dead cube*: nobody turns it again; the value is linear from lose_k to win_k.

The value is dead + x (live - dead), x the *cube efficiency*. It is 1 where the opponent cannot lose
by doubling, whatever happens: he will at his next turn, and timing plays no part. So take points,
cash points, dead cubes, automatic redoubles and free drops are results of one recursion. But nobody
turns the cube after the last roll: the more of the player's wins come with the roll that he is
about to make, the smaller is x, down to nothing.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from engine.kernels import inner, kernel
from engine.kernels.movegen import OTHER
from engine.kernels.plans import is_race

__all__ = [
    "ACTIONS",
    "BOTH_SIDES",
    "CENTRE",
    "GAIN",
    "LEVELS",
    "ME",
    "OPPONENT",
    "Cubes",
    "actions_of_positions",
    "best_action",
    "cube_actions",
    "outcome_worths",
    "position_value",
    "timing",
    "timing_of_boards",
]

Array = np.ndarray[Any, Any]

LEVELS = 8  # of the cube: enough for 64 points
CENTRE, ME, OPPONENT = 0, 1, 2
ACTIONS = 4  # no double, double and take, double and pass, double and beaver
GAIN = 1e-9  # of value that a turn of the cube must bring: less is rounding
TINY = 1e-9  # of a win or a loss that is less likely the shares of gammons do not matter

# Cube efficiency where both sides can still profit from the cube, and where one can. Fitted, with
# the length of a full race, to 3,000 decisions that GNU Backgammon looked four plies ahead for.
BOTH_SIDES = 0.78
ONE_SIDE = 0.70
ONE_TURN_LATE = 0.90  # for a player who cannot lose by doubling, and does not double this time
FULL_RACE = 60  # pips of both sides together, from which a race is timed as well as contact
# Wins that must come later than the next roll for a cube that is fully worth it. Fitted to exact
# match-winning chances of bearoffs with up to three checkers a side, at twenty scores.
LATER_WINS = 0.5


class Cubes(NamedTuple):
    """The cube and the stakes in C situations, each as its player on roll has it."""

    stakes: Array
    """float64[C, LEVELS, 6]: with the cube turned 0, 1, ... more times, the value of winning a
    single game, a gammon, a backgammon and of losing them."""
    turns: Array
    """int64[C]: the level at which nobody gains by another turn or may turn it again, or from which
    on all levels are alike; 0 for a cube out of play."""
    endless: Array
    """bool[C]: whether all levels from `turns` - 1 on are alike."""
    owner: Array
    """int64[C]: CENTRE, ME or OPPONENT."""
    beavers: Array
    """bool[C]: whether the doubled side may beaver."""


@njit(inline="always")
def _mean_stakes(stakes: Array, level: int, shares: tuple[float, ...]) -> tuple[float, float]:
    """win_k and lose_k: the mean values of a win and of a loss at one level.

    shares: of gammons and backgammons among the wins, then among the losses.
    """
    gammon, backgammon, lost_gammon, lost_backgammon = shares
    won, lost = stakes[level, 0], stakes[level, 3]
    won += (stakes[level, 1] - won) * gammon + (stakes[level, 2] - stakes[level, 1]) * backgammon
    lost += (stakes[level, 4] - lost) * lost_gammon
    lost += (stakes[level, 5] - stakes[level, 4]) * lost_backgammon
    return won, lost


@njit(inline="always")
def _steps(stakes: Array, level: int, won: float, lost: float) -> tuple[float, float]:
    """take_k / cash_{k+1} and (cash_k - take_{k+1}) / (1 - take_{k+1}), from win and lose_{k+1}."""
    single_win, single_loss = stakes[level + 1, 0], stakes[level + 1, 3]
    to_take = (stakes[level, 3] - lost) / (single_win - lost)
    to_cash = (stakes[level, 0] - single_loss) / (won - single_loss)
    return to_take, to_cash


@njit(inline="always")
def _efficiency(take: float, cash: float, ready: float) -> float:
    """The cube efficiency; take is 0 or cash is 1 for a side to whom the cube is of no use."""
    return ready * (BOTH_SIDES if take > 0 and cash < 1 else ONE_SIDE)


@njit(inline="always")
def _held(
    stakes: Array, level: int, p: float, won: float, lost: float, take: float, cash: float,
    efficiency: float,
) -> float:  # fmt: skip
    """The value when the cube stays as it is until the next turn."""
    dead = lost + p * (won - lost)
    if p < take:
        live = lost + (stakes[level, 3] - lost) * (p / take)
    elif p > cash:
        live = stakes[level, 0] + (won - stakes[level, 0]) * ((p - cash) / (1 - cash))
    else:
        low = stakes[level, 3] if take > 0 else lost
        high = stakes[level, 0] if cash < 1 else won
        live = low + (high - low) * ((p - take) / (cash - take))
    return dead + efficiency * (live - dead)


@inner
def cube_actions(
    cubes: Cubes, index: int, values: Array, at: int, ready: float, ending: float, actions: Array
) -> None:
    """The values of what can be done with the cube, for the player on roll.

    values: float32[.], the five probabilities from `at`; ready, ending: from `timing`.
    Written: actions float64[4], no double, double and take, double and pass,
    double and beaver; where the player may not double, or may not be beavered, as if he might.
    """
    stakes, turns, owner = cubes.stakes[index], cubes.turns[index], cubes.owner[index]
    p = np.float64(values[at])
    shares = (
        min(values[at + 1] / max(p, TINY), 1.0),
        min(values[at + 2] / max(p, TINY), 1.0),
        min(values[at + 3] / max(1 - p, TINY), 1.0),
        min(values[at + 4] / max(1 - p, TINY), 1.0),
    )
    take, take_1, take_2 = 0.0, 0.0, 0.0
    cash, cash_1 = 1.0, 1.0
    won, lost = _mean_stakes(stakes, turns, shares)
    if turns == 0:
        actions[0] = lost + p * (won - lost)
        won_1, lost_1 = _mean_stakes(stakes, 1, shares)
        actions[1] = lost_1 + p * (won_1 - lost_1)
        actions[2] = stakes[0, 0]
        actions[3] = actions[1]
        return
    won_1, lost_1, won_2, lost_2 = won, lost, won, lost
    last = turns - 1
    if cubes.endless[index]:
        to_take, to_cash = _steps(stakes, last, won, lost)
        cash = to_cash / (1 - to_take + to_take * to_cash)
        take = to_take * cash
        take_1, cash_1 = take, cash
        won, lost = _mean_stakes(stakes, last, shares)
        last -= 1
    for level in range(last, -1, -1):
        take_2, take_1, cash_1 = take_1, take, cash
        won_2, lost_2, won_1, lost_1 = won_1, lost_1, won, lost
        to_take, to_cash = _steps(stakes, level, won, lost)
        take = cash_1 * to_take
        cash = take_1 + (1 - take_1) * to_cash
        won, lost = _mean_stakes(stakes, level, shares)
    may, opponent_may = owner != OPPONENT, owner != ME
    take = take if opponent_may else 0.0
    cash = cash if may else 1.0
    in_time = min(1.0, (1.0 - ending / max(p, ending, TINY)) / LATER_WINS)
    efficiency = _efficiency(take, cash, ready)
    if opponent_may and lost_1 <= lost and won_1 <= won:
        efficiency = 1.0
    elif may and lost_1 >= lost and won_1 >= won:
        efficiency = min(1.0, ONE_TURN_LATE * ready)
    actions[0] = _held(stakes, 0, p, won, lost, take, cash, in_time * efficiency)
    at_once = lost_2 <= lost_1 and won_2 <= won_1
    efficiency = 1.0 if at_once else _efficiency(take_1, 1.0, ready)
    actions[1] = _held(stakes, 1, p, won_1, lost_1, take_1, 1.0, in_time * efficiency)
    actions[2] = stakes[0, 0]
    actions[3] = actions[1]
    if cubes.beavers[index]:
        efficiency = _efficiency(take_2, 1.0, ready)
        actions[3] = _held(stakes, 2, p, won_2, lost_2, take_2, 1.0, in_time * efficiency)


@inner
def position_value(
    cubes: Cubes, index: int, values: Array, at: int, ready: float, ending: float, actions: Array
) -> float:
    """The value for the player on roll, who doubles where that is right and is answered rightly.

    actions: float64[4], working memory; the rest as in `cube_actions`.
    """
    cube_actions(cubes, index, values, at, ready, ending, actions)
    return best_action(cubes, index, actions)


@inner
def best_action(cubes: Cubes, index: int, actions: Array) -> float:
    """The value when both sides do what is right, of the values of `cube_actions`."""
    if cubes.turns[index] == 0 or cubes.owner[index] == OPPONENT:
        return actions[0]
    return max(actions[0], min(actions[1], actions[2], actions[3]))


@njit(inline="always")
def outcome_worths(cubes: Cubes, index: int) -> tuple[float, float, float, float, float]:
    """About what each of the five probabilities counts for to the player on roll.

    With the cube turned once where it can be, since most games are played for that much.
    """
    stakes = cubes.stakes[index]
    level = min(cubes.turns[index], 1)
    win, lose = stakes[level, 0], stakes[level, 3]
    return (
        win - lose,
        stakes[level, 1] - win,
        stakes[level, 2] - stakes[level, 1],
        stakes[level, 4] - lose,
        stakes[level, 5] - stakes[level, 4],
    )


@inner
def _readiness(boards: Array, row: int) -> float:
    """How well the cube can be timed in packed int8[., 64] boards[row], from 0 to 1.

    A race has fewer rolls left the shorter it is, down to the last roll and a dead cube.
    """
    if not is_race(boards, row):
        return 1.0
    pips = 0
    for column in range(1, 26):
        pips += column * (boards[row, column] + boards[row, OTHER + column])
    return min(pips / FULL_RACE, 1.0)


@inner
def _ending_chance(boards: Array, row: int) -> float:
    """The chance that the player on roll in packed int8[., 64] boards[row], a race, bears off his
    last checkers with this roll.
    """
    count, first, second = 0, 0, 0
    for column in range(25, 0, -1):
        for _ in range(boards[row, column]):
            count += 1
            if count > 4:
                return 0.0
            if count == 1:
                first = column
            elif count == 2:
                second = column
    throws = 0
    for high in range(1, 7):
        steps = 0
        for column in range(1, first + 1):
            steps += boards[row, column] * ((column + high - 1) // high)
        throws += steps <= 4
        for low in range(1, high):
            alone = count == 1 and first <= high + low
            throws += 2 * (alone or (count == 2 and first <= high and second <= low))
    return throws / 36


@inner
def timing(boards: Array, row: int) -> tuple[float, float]:
    """How well the cube can be timed in packed int8[., 64] boards[row], from 0 to 1, and the chance
    that the player on roll ends the game with this roll: 1 and 0 in contact and in long races.
    """
    ready = _readiness(boards, row)
    return ready, (_ending_chance(boards, row) if ready < 1.0 else 0.0)


@kernel
def timing_of_boards(boards: Array, ready: Array, ending: Array) -> None:
    """`timing` of packed int8[N, 64] boards, written to float64[N] each."""
    for row in range(len(boards)):
        ready[row], ending[row] = timing(boards, row)


@kernel
def actions_of_positions(
    cubes: Cubes, index: Array, values: Array, ready: Array, ending: Array, actions: Array
) -> None:
    """`cube_actions` of N positions.

    index: int64[N], which situation each is in; values: float32[N * 5]; ready, ending: float64[N];
    actions: float64[N, 4], written.
    """
    for row in range(len(index)):
        cube_actions(cubes, index[row], values, 5 * row, ready[row], ending[row], actions[row])
