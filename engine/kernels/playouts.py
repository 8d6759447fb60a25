"""Whole self-played games without leaving compiled code, and the targets of TD(lambda).

Games need not run in lock-step: the forward pass is incremental along one position's plays, so a
batch of games would gain nothing. Threads each play a slice of the games; every game has its own
seed, so how the games are sliced never changes one of them.
"""

from typing import Any

import numpy as np
from numba import njit

from engine.kernels import inner, kernel
from engine.kernels.choice import CUBELESS, best_result, keep_worthy
from engine.kernels.forward import evaluate_into, set_position
from engine.kernels.movegen import results_into
from engine.kernels.net import KEPT, Net, Scratch, make_scratch
from engine.kernels.outcomes import has_won
from engine.kernels.random import opening_roll, random_word, roll

__all__ = ["MAX_TURNS", "lambda_returns", "play_games"]

Array = np.ndarray[Any, Any]

MAX_TURNS = 1024  # a game that lasts longer is left unfinished; nets near random need this


@njit
def _larger(rows: Array, used: int) -> Array:
    """A copy of rows[:used] with twice the room."""
    copy = np.empty((2 * len(rows), *rows.shape[1:]), rows.dtype)
    copy[:used] = rows[:used]
    return copy


@inner
def _candidate(net: Net, scratch: Scratch, high: int, low: int, word: int) -> int:
    """A row of scratch.kept drawn from those worth evaluating, or -1 when the net has no opinion on
    which these are. word: uint64, random.
    """
    count = keep_worthy(net, scratch, high, low, CUBELESS)
    if count > KEPT:
        return -1
    return np.int64((word >> np.uint64(32)) % np.uint64(count))


@kernel
def play_games(
    net: Net, starts: Array, seeds: Array, random_plays: Array, explored: float
) -> tuple[Array, Array, Array, Array, int]:
    """Play one game from each start by the net's own choices.

    starts: uint64[G, 8] packed; seeds: uint64[G]; random_plays: int64[G], how many plays at the
    beginning are drawn uniformly from the legal ones instead, to see more of the game; explored:
    the share of later plays that are drawn from the results that the pruning net finds best.
    Returns boards uint64[M, 8], their values float32[M, 5] for the player on roll, offsets
    int64[G + 1], own bool[M], whether the play that led there was the net's own choice, and how
    many results were evaluated. The rows of game g are offsets[g] to offsets[g + 1], one position a
    turn in order and the last one finished, unless the game ran into MAX_TURNS. The position before
    the opening roll is left out: no double follows it, so it would teach a wrong mean.
    """
    scratch = make_scratch(net.sizes)
    offsets = np.zeros(len(seeds) + 1, np.int64)
    boards = np.empty((len(seeds) * 64 + MAX_TURNS + 1, 8), np.uint64)
    values = np.empty((len(boards), 5), np.float32)
    own = np.empty(len(boards), np.bool_)
    now = np.empty((1, 8), np.uint64)
    count = 0
    for game in range(len(seeds)):
        if count + MAX_TURNS > len(boards):
            boards = _larger(boards, count)
            values = _larger(values, count)
            own = _larger(own, count)
        seed = seeds[game]
        now[0] = starts[game]
        first, second = opening_roll(seed)
        for turn in range(MAX_TURNS):
            high, low = max(first, second), min(first, second)
            set_position(net, scratch, now, 0)
            word = random_word(seed, np.uint64(1 << 32) + np.uint64(turn))
            row = -1
            if turn < random_plays[game]:
                found = results_into(
                    scratch.board_bytes, scratch.board, high, low, scratch.kept, 0, scratch.stack
                )
                row = np.int64((word >> np.uint64(32)) % np.uint64(found))
            elif (word & np.uint64(0xFFFFFFFF)) < explored * 2.0**32:
                row = _candidate(net, scratch, high, low, word)
            own[count] = row < 0
            if row < 0:
                row = best_result(net, scratch, high, low, values[count])
            else:
                evaluate_into(net, scratch, scratch.kept, scratch.kept_bytes, row, values[count])
            now[0] = scratch.kept[row]
            boards[count] = now[0]
            count += 1
            if has_won(now, 0):
                break
            first, second = roll(seed, turn + 1)
        offsets[game + 1] = count
    return (
        boards[:count].copy(), values[:count].copy(), offsets, own[:count].copy(),
        scratch.evaluated[0],
    )  # fmt: skip


@kernel
def lambda_returns(values: Array, one_step: Array, offsets: Array, decay: float) -> Array:
    """The lambda-return of every position: float32[M, 5], for its player on roll.

    values, offsets: as from `play_games`. one_step: float32[M, 5], the estimate of each position
    from the next ones, and its own value where a game ends: for TD(lambda) that of the one which
    followed, seen from this side; or the mean over all rolls of the best play's. decay: lambda,
    from 0 (one step) to 1 (the whole game).

    G_t = S_t + lambda flip(G_{t+1} - V_{t+1}), S_t the estimate of one step: what later estimates
    correct of the value that S_t used, or would have used, had the roll been foreseen. With S_t =
    flip(V_{t+1}) that is TD(lambda) (Sutton and Barto 2018, chapter 12); with the mean over the
    rolls the luck of the dice is gone from every step of it, as in a rollout with variance
    reduction. After a play that was not the best one S_t must not hold what that play lost; then
    the corrections of what followed hold here too (Harutyunyan et al. 2016, Q(lambda)): their mean
    is zero where the values are the truth, whatever was played.
    """
    targets = one_step.copy()
    keep = np.float32(decay)
    for game in range(len(offsets) - 1):
        for row in range(offsets[game + 1] - 2, offsets[game] - 1, -1):
            for column in range(5):
                change = keep * (targets[row + 1, column] - values[row + 1, column])
                if column == 0:
                    targets[row, 0] -= change
                elif column < 3:
                    targets[row, column + 2] += change
                else:
                    targets[row, column - 2] += change
    return targets
