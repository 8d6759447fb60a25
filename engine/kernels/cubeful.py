"""The value of a position with the doubling cube, from its five probabilities.

Janowski's model ("Take-points in money games", 1993; its match form as GNU Backgammon documents
it). Values are match-winning chances, or points in money games: any linear measure will do. Let p
be the winning chance of the player on roll, and at the cube of level k (turned k more times)
let win_k, lose_k be the mean values of a win and a loss by the gammon shares of the position, and
W_k, L_k those of a single win and loss, which is what a pass gives.

*Live cube*: p moves without jumps, so a double is offered exactly where the take is optional.
`cash_k` is the p at which the opponent may as well pass the cube turned from level k, `take_k` the
p at which the player himself may as well pass the opponent's. Between the points that the side
with access to the cube has, the value is linear: lose_k at 0, L_k at take_k, W_k at cash_k, win_k
at 1. So take_k is where the value with the own cube of level k + 1 is L_k, and cash_k where that
with the opponent's cube of level k + 1 is W_k:

    take_k = cash_{k+1} (L_k - lose_{k+1}) / (W_{k+1} - lose_{k+1})
    cash_k = take_{k+1} + (1 - take_{k+1}) (W_k - L_{k+1}) / (win_{k+1} - L_{k+1})

from the level downwards at which nobody gains by another turn, where take = 0 and cash = 1.

*Dead cube*: nobody turns it again, and the value is linear from lose_k to win_k.

The value is dead + efficiency x (live - dead). Where the owner of the cube cannot lose by turning
it (the other side wins the match, or all it can, at the present level already) he turns it at
once: nothing is left to timing, and the efficiency is 1. So dead cubes, automatic redoubles and
free drops are results of the one recursion.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

__all__ = ["CENTRE", "LEVELS", "ME", "OPPONENT", "Cubes", "cube_actions", "efficiency", "value"]

Array = np.ndarray[Any, Any]

LEVELS = 11  # cube levels looked at: enough for 64 points, and for 1e-6 in money games
CENTRE, ME, OPPONENT = 0, 1, 2
OTHER = 32

CONTACT = 0.68
RACE = 0.65


class Cubes(NamedTuple):
    """The cube and the stakes of C situations, each as its player on roll sees them."""

    stakes: Array
    """float64[C, LEVELS, 6]: what he has after winning a single game, a gammon, a backgammon and
    losing them, with the cube turned 0, 1, ... more times."""
    turns: Array
    """int64[C]: the level at which nobody gains by another turn; 0 for a cube out of play."""
    owner: Array
    """int64[C]: CENTRE, ME or OPPONENT."""
    beavers: Array
    """bool[C]: whether the doubled side may beaver."""


@njit(inline="always")
def _mean_stakes(stake: Array, win: float, lose: float, values: Array) -> tuple[float, float]:
    """The mean value of a win and of a loss at one level, float64[6], by the gammon shares."""
    won = stake[0] + ((stake[1] - stake[0]) * values[1] + (stake[2] - stake[1]) * values[2]) * win
    lost = stake[3] + ((stake[4] - stake[3]) * values[3] + (stake[5] - stake[4]) * values[4]) * lose
    return won, lost


@njit
def _held(
    stake: Array, p: float, won: float, lost: float, take: float, cash: float, x: float
) -> float:
    """The value at one level; take is 0 and cash 1 for a side that has no access to the cube."""
    dead = lost + p * (won - lost)
    if p < take:
        live = lost + (stake[3] - lost) * (p / take)
    elif p > cash:
        live = stake[0] + (won - stake[0]) * ((p - cash) / (1 - cash))
    else:
        low = stake[3] if take > 0 else lost
        high = stake[0] if cash < 1 else won
        live = low + (high - low) * ((p - take) / (cash - take))
    return dead + x * (live - dead)


@njit
def cube_actions(cubes: Cubes, index: int, values: Array, x: float, out: Array) -> None:
    """The values of the position for the player on roll.

    values: float32[5]; x: the efficiency. out: float64[4], written with no double, double and
    take, double and pass, double and beaver.
    """
    stakes = cubes.stakes[index]
    turns = cubes.turns[index]
    owner = cubes.owner[index]
    p = np.float64(values[0])
    win_share = 1 / p if p > 0 else 0.0
    lose_share = 1 / (1 - p) if p < 1 else 0.0
    take, cash = 0.0, 1.0
    above_take, above_cash = 0.0, 1.0
    top_take, top_cash = 0.0, 1.0
    won, lost = _mean_stakes(stakes[turns], win_share, lose_share, values)
    won_1, lost_1 = won, lost
    won_2, lost_2 = won, lost
    for level in range(turns - 1, -1, -1):
        top_take, top_cash = above_take, above_cash
        above_take, above_cash = take, cash
        single_win, single_loss = stakes[level, 0], stakes[level, 3]
        upper_win, upper_loss = stakes[level + 1, 0], stakes[level + 1, 3]
        take = above_cash * (single_loss - lost) / (upper_win - lost)
        cash = above_take + (1 - above_take) * (single_win - upper_loss) / (won - upper_loss)
        won_2, lost_2 = won_1, lost_1
        won_1, lost_1 = won, lost
        won, lost = _mean_stakes(stakes[level], win_share, lose_share, values)
    mine = turns > 0 and owner != OPPONENT
    theirs = turns > 0 and owner != ME
    sure = (mine and lost_1 >= lost and won_1 >= won) or (
        theirs and lost_1 <= lost and won_1 <= won
    )
    out[0] = _held(
        stakes[0],
        p,
        won,
        lost,
        take if theirs else 0.0,
        cash if mine else 1.0,
        1.0 if sure else x,
    )
    out[2] = stakes[0, 0]
    if not mine:
        out[1] = out[3] = out[0]
        return
    sure = lost_2 <= lost_1 and won_2 <= won_1
    out[1] = _held(stakes[1], p, won_1, lost_1, above_take, 1.0, 1.0 if sure else x)
    out[3] = out[1]
    if cubes.beavers[index] and turns > 1:
        out[3] = _held(stakes[2], p, won_2, lost_2, top_take, 1.0, x)


@njit
def value(cubes: Cubes, index: int, values: Array, x: float, out: Array) -> float:
    """The value to the player on roll, who doubles where that is right; out: float64[4] scratch."""
    cube_actions(cubes, index, values, x, out)
    if cubes.turns[index] == 0 or cubes.owner[index] == OPPONENT:
        return out[0]
    return max(out[0], min(out[1], min(out[2], out[3])))


@njit
def efficiency(boards: Array, row: int) -> float:
    """The cube efficiency of int8[., 64] packed boards[row]."""
    rear_mine = rear_theirs = 0
    for column in range(1, 26):
        if boards[row, column]:
            rear_mine = column
        if boards[row, OTHER + column]:
            rear_theirs = column
    return CONTACT if rear_mine + rear_theirs > 25 else RACE


@njit(cache=True, nogil=True)
def actions_of_boards(cubes: Cubes, index: Array, values: Array, boards: Array, out: Array) -> None:
    """`cube_actions` of N positions.

    index: int64[N], the situation of each; values: float32[N, 5]; boards: int8[N, 64];
    out: float64[N, 4].
    """
    for row in range(len(boards)):
        cube_actions(cubes, index[row], values[row], efficiency(boards, row), out[row])
