"""What the net should have said: pure functions from positions to probabilities."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from engine.evaluation import outcome
from engine.evaluation.network import Network
from engine.kernels.movegen import boards_of
from engine.kernels.playouts import lambda_returns
from training.selfplay import Trajectories

__all__ = ["exact_backups", "exact_targets", "td_targets", "unfinished"]

Array = np.ndarray[Any, Any]


def unfinished(trajectories: Trajectories) -> Array:
    """bool[M]: the rows with a player still to roll; the last of a game is known exactly."""
    rows = np.ones(len(trajectories.boards), bool)
    rows[trajectories.offsets[1:] - 1] = False
    return rows


def td_targets(trajectories: Trajectories, decay: float) -> tuple[Array, Array]:
    """TD(lambda): boards uint64[K, 8] still to be played and their lambda-returns float32[K, 5].

    Those after which another play than the best was made are left out, and what it lost as well.
    """
    rows = unfinished(trajectories) & trajectories.best_follows
    one_step = trajectories.values.copy()
    one_step[rows] = outcome.flip(trajectories.values[np.flatnonzero(rows) + 1])
    returns = lambda_returns(trajectories.values, one_step, trajectories.offsets, decay)
    return trajectories.boards[rows], returns[rows]


def exact_targets(
    network: Network,
    trajectories: Trajectories,
    decay: float,
    pool: ThreadPoolExecutor,
    workers: int,
) -> tuple[Array, Array, int]:
    """Exact backups, corrected by those of later positions as far as lambda says.

    Boards uint64[K, 8] still to be played, their targets float32[K, 5], and how often the net was
    asked. The net must be the one that played. Some targets lie a little outside 0 and 1; cutting
    them there would teach that what is rare, a backgammon say, is more likely than it is.
    """
    rows = unfinished(trajectories)
    one_step = trajectories.values.copy()
    one_step[rows], asked = exact_backups(network, trajectories.boards[rows], pool, workers)
    returns = lambda_returns(trajectories.values, one_step, trajectories.offsets, decay)
    return trajectories.boards[rows], returns[rows], asked


def exact_backups(
    network: Network, boards: Array, pool: ThreadPoolExecutor, workers: int
) -> tuple[Array, int]:
    """The mean over the 21 rolls of the best reply's value, float32[N, 5]; boards uint64[N, 8].

    Also how often the net was asked.
    """
    shares = np.array_split(boards_of(boards), workers)
    parts = list(pool.map(network.back_up, shares))
    return np.concatenate([values for values, _ in parts]), sum(asked for _, asked in parts)
