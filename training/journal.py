"""What a run tells: a progress bar, and tensorboard curves.

| curve | what it is | what to expect |
|---|---|---|
| loss | cross-entropy above the entropy of the targets, weighted by equity | falls; by TD(lambda) to the noise of the dice (about 0.04), by exact backups to 0.001 and below |
| pruning loss | cross-entropy of the pruning net's ranking of a roll's results | falls to about 1.6, most of it the entropy of the ranking itself |
| rate | step size, of Adam by TD(lambda), then of Muon | falls linearly, twice; Muon's after a short rise |
| lambda | share of the final outcome in a target | falls linearly, twice |
| games, positions and backups per second | throughput of the whole loop | steady |
| evaluations per second | of the net, in finding positions and targets | steady |
| gammons, backgammons | shares of finished games won by at least so much | about 0.27 and 0.01 once the net plays well |
| turns | mean length of a game | about 55 |
| strength/... | points per game and PR, see `training.yardstick` | rise; PR falls |
| interval/... | half the width of the 95 % interval of such points | about 0.08 with 500 deals |
| spent/... | minutes, games and backups that this strength took | grow |
"""  # noqa: E501

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from torch import nn
from tqdm import tqdm

from engine.arena.statistics import Estimate
from training.events import EventFile
from training.pruning import Rolls
from training.selfplay import Trajectories

__all__ = ["Counters", "Found", "Journal"]

Array = np.ndarray[Any, Any]

BAR = "{desc} {percentage:3.0f}% |{bar}| {elapsed} {postfix}"


@dataclass
class Counters:
    """What a run has done so far."""

    iteration: int = 0
    games: int = 0
    positions: int = 0
    """Learned from by TD(lambda)."""
    backups: int = 0
    """Exact ones, put into the buffer."""
    rolls: int = 0
    """Ranked, to teach the pruning net."""
    seconds: float = 0.0


class Found(NamedTuple):
    """Positions and targets of one iteration."""

    trajectories: Trajectories
    boards: Array
    """uint64[N, 8]"""
    targets: Array
    """float32[N, 5]"""
    order: Array
    """int64[N]: a random order of the rows."""
    rolls: Rolls
    """For the pruning net."""
    evaluations: int
    """How often the net was asked to find them."""
    exact: bool
    """Whether the targets are exact backups."""
    decay: float
    """Lambda."""
    rate: float
    """Step size to learn from them with."""
    seconds: float


class Journal:
    """Writes tensorboard files into a folder and a progress bar on standard error."""

    def __init__(self, folder: Path, settings: str, quiet: bool = False) -> None:
        self._events = EventFile(folder)
        self._events.text("settings", settings)
        self._bar = tqdm(total=1.0, bar_format=BAR, desc="training", disable=quiet)
        self._last = Counters()
        self._strength = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()
        self._events.close()

    def iteration(
        self,
        counters: Counters,
        progress: float,
        found: Found,
        loss: float,
        pruning_loss: float,
    ) -> None:
        """Note one iteration."""
        seconds = max(counters.seconds - self._last.seconds, 1e-9)
        scalars = {
            "loss": loss,
            "pruning loss": pruning_loss,
            "rate": found.rate,
            "lambda": found.decay,
            "games per second": (counters.games - self._last.games) / seconds,
            "positions per second": (counters.positions - self._last.positions) / seconds,
            "backups per second": (counters.backups - self._last.backups) / seconds,
            "evaluations per second": found.evaluations / found.seconds,
        }
        scalars |= _outcomes(found.trajectories)
        for name, value in scalars.items():
            self._events.scalar(name, value, counters.iteration)
        self._last = Counters(**vars(counters))
        self._bar.n = progress
        stage = "backups" if found.exact else "TD"
        done = f"{counters.games:,} games, {counters.backups:,} backups"
        self._bar.set_postfix_str(f"{stage}, {done}, loss {loss:.4f}{self._strength}")

    def strength(self, counters: Counters, figures: Mapping[str, Estimate]) -> None:
        """Note what the yardstick says, and what it took to get there."""
        minutes = counters.seconds / 60
        scalars = {
            "spent/minutes": minutes,
            "spent/games": counters.games,
            "spent/backups": counters.backups,
        }
        for name, (mean, ci95) in figures.items():
            scalars[f"strength/{name}"] = mean
            if ci95 is not None:
                scalars[f"interval/{name}"] = ci95
        for name, value in scalars.items():
            self._events.scalar(name, value, counters.iteration)
        self._strength = "".join(f", {mean:+.3f} {name}" for name, (mean, _) in figures.items())
        self._bar.write(
            f"{minutes:.1f} minutes, {counters.games:,} games, {counters.backups:,} backups"
            + self._strength,
            file=sys.stderr,
        )

    def weights(self, counters: Counters, net: nn.Module) -> None:
        """Draw histograms of the weights."""
        for name, weight in net.named_parameters():
            self._events.histogram(name, weight.detach().cpu().numpy(), counters.iteration)


def _outcomes(trajectories: Trajectories) -> dict[str, float]:
    """Mean length of the games, and shares of the finished ones won by a gammon or more.

    At the end of a game the player on roll has lost it, so his row says what he lost.
    """
    last = trajectories.offsets[1:] - 1
    ends = trajectories.values[last]
    finished = ends[:, 0] == 0
    return {
        "turns": float(np.diff(trajectories.offsets).mean()),
        "gammons": float(ends[finished, 3].mean()) if finished.any() else 0.0,
        "backgammons": float(ends[finished, 4].mean()) if finished.any() else 0.0,
    }
