"""What the net should have said: pure functions from positions to probabilities."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from engine.evaluation.network import Network
from engine.kernels.choice import backup_rolls
from engine.kernels.playouts import lambda_returns
from training.selfplay import Trajectories

__all__ = ["exact_backups", "td_targets", "unfinished"]

Array = np.ndarray[Any, Any]

PROBABILITIES = 5


def unfinished(trajectories: Trajectories) -> Array:
    """bool[M]: the rows with a player still to roll; the last of a game is known exactly."""
    rows = np.ones(len(trajectories.boards), bool)
    rows[trajectories.offsets[1:] - 1] = False
    return rows


def td_targets(trajectories: Trajectories, decay: float) -> tuple[Array, Array]:
    """TD(lambda): boards uint64[K, 8] still to be played and their lambda-returns float32[K, 5]."""
    targets = lambda_returns(trajectories.values, trajectories.offsets, decay)
    rows = unfinished(trajectories)
    return trajectories.boards[rows], targets[rows]


def exact_backups(
    network: Network, boards: Array, pool: ThreadPoolExecutor, workers: int
) -> tuple[Array, int]:
    """The mean over the 21 rolls of the best reply's value, float32[N, 5]; boards uint64[N, 8].

    Also how often the net was asked.
    """
    values = np.empty((len(boards), PROBABILITIES), np.float32)
    slices = np.array_split(np.arange(len(boards)), workers)
    bounds = [slice(part[0], part[-1] + 1) for part in slices if len(part)]
    asked = pool.map(lambda s: backup_rolls(network.quick, boards[s], values[s]), bounds)
    return values, sum(asked)
