"""Money games without the cube between two players, many at once."""

from typing import NamedTuple

import numpy as np

from engine.backgammon.board import outcome_points
from engine.backgammon.variants import BACKGAMMON
from engine.kernels.dealing import opening_rolls, rolls
from engine.kernels.movegen import pack
from engine.players.base import Array, Player

__all__ = ["MAX_TURNS", "Games", "play_games"]

MAX_TURNS = 10_000
"""A game is left undecided after so many turns: two untrained nets can keep one going for ever."""


class Games(NamedTuple):
    """How N games ended."""

    points: Array
    """int8[N], 1, 2 or 3 when the first player won a single game, a gammon or a backgammon;
    negative when the second did, 0 after `MAX_TURNS`."""

    turns: Array
    """int32[N], the turns of both players, those without a legal play included."""


def play_games(first: Player, second: Player, seeds: Array) -> Games:
    """Play one game for each seed, all in lock-step.

    seeds: uint64[N]. The opening roll and the dice of every later turn of a game depend on its
    seed and the number of the turn alone: the same seed with the players exchanged has the same
    dice, and a game is the same whatever others are played beside it.
    """
    players = (first, second)
    dice = opening_rolls(seeds)
    to_move = (dice[:, 1] > dice[:, 0]).astype(np.int64)
    boards = np.repeat(pack(BACKGAMMON.start[None]), len(seeds), axis=0)
    games = Games(np.zeros(len(seeds), np.int8), np.zeros(len(seeds), np.int32))
    live = np.arange(len(seeds))
    turn = 0
    while live.size and turn < MAX_TURNS:
        for side, player in enumerate(players):
            mine = live[to_move[live] == side]
            if mine.size:
                boards[mine] = player.best_packed(boards[mine], dice[mine])
        turn += 1
        lost = -outcome_points(boards[live])
        games.points[live] = np.where(to_move[live] == 0, lost, -lost)
        games.turns[live] = turn
        live = live[lost == 0]
        to_move[live] ^= 1
        dice[live] = rolls(seeds[live], turn)
    return games
