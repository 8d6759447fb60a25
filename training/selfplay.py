"""Many self-played games on all cores -> trajectories."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from engine.evaluation.network import Network
from engine.kernels.movegen import words_of
from engine.kernels.playouts import play_games
from training.config import SelfPlay

__all__ = ["Trajectories", "play"]

Array = np.ndarray[Any, Any]


class Trajectories(NamedTuple):
    """The positions of some games, a turn a row, game after game."""

    boards: Array
    """uint64[M, 8]: packed boards, for the player on roll."""
    values: Array
    """float32[M, 5]: what the net that played thought of them; exact where a game has ended."""
    offsets: Array
    """int64[G + 1]: game g is rows offsets[g] to offsets[g + 1]."""
    best_follows: Array
    """bool[M]: whether the next row is the net's own choice, not one drawn at random; without
    meaning where a game ends."""
    evaluations: int
    """How often the net was asked."""


def play(
    network: Network,
    start: Array,
    games: int,
    settings: SelfPlay,
    rng: np.random.Generator,
    pool: ThreadPoolExecutor,
    workers: int,
) -> Trajectories:
    """Play this many games from the start board, int8[1, 2, 32] packed, on all workers.

    The kernels release the interpreter's lock, so threads are enough. All that is random is drawn
    before the games are shared out: the number of workers changes nothing.
    """
    seeds = rng.integers(0, 2**64, games, dtype=np.uint64)
    varied = rng.random(games) < settings.random_share
    random_plays = np.where(varied, rng.integers(0, settings.random_plays + 1, games), 0)
    starts = np.repeat(words_of(start), games, axis=0)
    slices = np.array_split(np.arange(games), workers)
    parts = list(
        pool.map(
            lambda s: play_games(
                network.quick, starts[s], seeds[s], random_plays[s], settings.explored_share
            ),
            slices,
        )
    )
    lengths = np.concatenate([np.diff(part[2]) for part in parts])
    offsets = np.concatenate([[0], lengths]).cumsum()
    own = np.concatenate([part[3] for part in parts])
    return Trajectories(
        np.concatenate([part[0] for part in parts]),
        np.concatenate([part[1] for part in parts]),
        offsets,
        np.append(own[1:], True),
        sum(part[4] for part in parts),
    )
