"""The training loop, from random weights to a net file.

Positions for the next iteration are found, on every core, while the learner fits the net to those
of the last one: neither waits for the other, and what is found depends only on the net that played
and on the number of the iteration, so a run can be stopped and taken up again bit by bit.
"""

import signal
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from engine.backgammon.variants import variant
from engine.errors import AcepointError, FileFormatError
from engine.evaluation.bearoff import tables
from engine.evaluation.bearoff_build import default_tables
from engine.evaluation.network import Network
from engine.kernels.movegen import boards_of, pack
from training.checkpoint import below, load_checkpoint, save_checkpoint
from training.config import Settings
from training.journal import Counters, Found, Journal
from training.learner import Buffer, Learner
from training.network import device_named
from training.pruning import Rolls
from training.selfplay import play
from training.targets import exact_targets, td_targets
from training.yardstick import Yardstick

__all__ = ["CHECKPOINT", "Budget", "Trainer"]

Array = np.ndarray[Any, Any]

CHECKPOINT = "checkpoint.safetensors"
NET = "net.safetensors"
ROLLS_NEEDED = 100_000  # before it is any good
POSITIONS_PER_GAME = 55  # about: how many games an iteration of exact backups needs


@dataclass(frozen=True)
class Budget:
    """How long a run lasts: by the clock, or, so that it can be repeated exactly, by games."""

    minutes: float | None = None
    games: int | None = None

    def progress(self, seconds: float, games: int) -> float:
        """From 0 at the start to 1 at the end."""
        if self.games is not None:
            return min(games / self.games, 1.0)
        assert self.minutes is not None
        return min(seconds / (60 * self.minutes), 1.0)


@dataclass
class Trainer:
    """A new run, or by `of_folder` one taken up again; `run` does the work.

    device: where the net is fitted, as for `training.network.device_named`.
    """

    settings: Settings
    budget: Budget
    folder: Path
    workers: int
    yardstick: Yardstick
    counters: Counters = field(default_factory=Counters)
    device: str = "cpu"

    def __post_init__(self) -> None:
        """Random weights or those of the settings' net, and an empty buffer."""
        self.learner = Learner(self.settings, device_named(self.device))
        self.settings = replace(self.settings, shape=self.learner.net.shape)
        self.buffer = Buffer(self.settings.learning.buffer)
        if self.learner.pruning.was_given:
            self.counters.rolls = max(self.counters.rolls, ROLLS_NEEDED)
        self._start = pack(variant(self.settings.variant).start[None])
        self._bearoff = tables()
        self._player = self._export()
        self._player_progress = 0.0

    @classmethod
    def of_folder(
        cls,
        folder: Path,
        budget: Budget | None,
        workers: int,
        yardstick: Yardstick,
        device: str = "cpu",
    ) -> "Trainer":
        """The run whose checkpoint is in the folder; another budget stretches its schedule.

        Raises FileFormatError for a checkpoint that cannot be taken up.
        """
        device_named(device)  # one that there is not is no fault of the checkpoint
        path = folder / CHECKPOINT
        tensors, state = load_checkpoint(path)
        try:
            settings = Settings.from_json(state["settings"])
            trainer = cls(  # whose weights are in the checkpoint
                replace(settings, init=None, narrow=0, widen=()),
                budget or Budget(**state["budget"]),
                folder,
                workers,
                yardstick,
                Counters(**state["counters"]),
                device,
            )
            trainer.settings = settings
            trainer.learner.restore(tensors)
            trainer.buffer.restore(tensors, trainer.counters.backups)
            trainer._player = Network.of_tensors(
                trainer._player.encoder,
                settings.variant,
                below(tensors, "player."),
                trainer._player.origin,
            )
            trainer._player_progress = state["player_progress"]
        except (KeyError, TypeError, ValueError, RuntimeError) as error:
            reason = " ".join(str(error).split())  # torch's take several lines
            raise FileFormatError(f"checkpoint {str(path)!r}: {reason}") from None
        return trainer

    @property
    def progress(self) -> float:
        """Share of the budget that is used."""
        return self.budget.progress(self.counters.seconds, self.counters.games)

    def run(self, journal: Journal, save_minutes: float, measure_at: Sequence[float]) -> Path:
        """Train until the budget is used; the net file.

        Saves a checkpoint every save_minutes. Ctrl-C ends the iteration, saves, and raises
        KeyboardInterrupt; a second one does not wait. The yardstick is used when these shares of
        the budget, in rising order, have gone, and at the end.
        """
        if self.settings.stages.bearoff:
            self._bearoff = default_tables()
        saved = time.monotonic()
        to_measure = [share for share in measure_at if share > self.progress]
        with (
            ThreadPoolExecutor(1) as ahead,
            ThreadPoolExecutor(self.workers) as pool,
            _InterruptLater() as interrupt,
        ):
            self._compile(pool)
            coming = ahead.submit(
                self._find, pool, self._player, self._player_progress, self.counters.iteration
            )
            while self.progress < 1 and not interrupt.asked:
                began = time.monotonic()
                found = coming.result()
                player, progress = self._export(), self.progress
                self.counters.iteration += 1
                coming = ahead.submit(self._find, pool, player, progress, self.counters.iteration)
                loss = self._learn(found)
                pruning_loss = self._learn_pruning(found.rolls, progress)
                self._player, self._player_progress = player, progress
                self.counters.seconds += time.monotonic() - began
                journal.iteration(self.counters, self.progress, found, loss, pruning_loss)
                if to_measure and to_measure[0] <= self.progress < 1:
                    to_measure = [share for share in to_measure if share > self.progress]
                    journal.strength(self.counters, self.yardstick.measure(self._export()))
                    journal.weights(self.counters, self.learner.net)
                if time.monotonic() - saved > 60 * save_minutes:
                    self.save()
                    saved = time.monotonic()
            self.save()
            if interrupt.asked:
                raise KeyboardInterrupt
        journal.strength(self.counters, self.yardstick.measure(self._export()))
        return self.folder / NET

    def save(self) -> None:
        """Write the checkpoint, and the net as it is now.

        Raises NetError, and leaves what was saved before, when a weight is not finite.
        """
        net = self._export()
        tensors = self.learner.tensors() | self.buffer.tensors()
        tensors |= {f"player.{name}": each for name, each in self._player.tensors().items()}
        state = {
            "settings": self.settings.to_json(),
            "budget": asdict(self.budget),
            "counters": asdict(self.counters),
            "player_progress": self._player_progress,
        }
        save_checkpoint(self.folder / CHECKPOINT, tensors, state)
        net.save(self.folder / NET)

    def _compile(self, pool: ThreadPoolExecutor) -> None:
        """Have the kernels of both stages compiled before the clock of the run goes."""
        player = self._player.with_bearoff(self._bearoff)
        rng = np.random.default_rng(self.settings.seed)
        game = play(player, self._start, 1, self.settings.self_play, rng, pool, 1)
        exact_targets(player, game, 0.0, pool, 1)

    def _find(
        self, pool: ThreadPoolExecutor, player: Network, progress: float, iteration: int
    ) -> Found:
        """Positions and their targets for one iteration, by the player's own judgement."""
        began = time.monotonic()
        player = player.with_bearoff(self._bearoff)
        settings, stages = self.settings.self_play, self.settings.stages
        rng = np.random.default_rng([self.settings.seed, iteration])
        exact = stages.exact_progress(progress) is not None
        decay = stages.decay(progress)
        games = max(1, settings.backups // POSITIONS_PER_GAME) if exact else settings.games
        trajectories = play(player, self._start, games, settings, rng, pool, self.workers)
        evaluations = trajectories.evaluations
        if exact:
            boards, targets, more = exact_targets(player, trajectories, decay, pool, self.workers)
            evaluations += more
        else:
            boards, targets = td_targets(trajectories, decay)
            if not len(boards):
                raise AcepointError(
                    f"explored-share {settings.explored_share}, random-share "
                    f"{settings.random_share}: no play was the net's own to learn from"
                )
        order = rng.permutation(len(boards))
        some = boards_of(rng.choice(boards, settings.rolls))
        rolls = Rolls.of_positions(player, some, rng)
        seconds = time.monotonic() - began
        return Found(
            trajectories, boards, targets, order, rolls, evaluations, exact, decay,
            self.settings.rate_at(progress), seconds,
        )  # fmt: skip

    def _learn(self, found: Found) -> float:
        """Fit the net: once to TD targets, from the buffer to exact backups; the mean loss."""
        self.counters.games += len(found.trajectories.offsets) - 1
        boards, targets, order = found.boards, found.targets, found.order
        if found.exact:
            self.counters.backups += len(found.boards)
            self.buffer.add(found.boards, found.targets)
            boards, targets = self.buffer.boards, self.buffer.targets
            rng = np.random.default_rng([self.settings.seed, self.counters.iteration, 1])
            count = len(found.boards) * self.settings.learning.replay
            order = rng.integers(0, len(self.buffer), count)
        else:
            self.counters.positions += len(found.boards)
        return self.learner.learn(boards, targets, order, found.rate, found.exact)

    def _learn_pruning(self, rolls: Rolls, progress: float) -> float:
        """Teach the pruning net; the mean loss."""
        self.counters.rolls += len(rolls.offsets) - 1
        rng = np.random.default_rng([self.settings.seed, self.counters.iteration, 2])
        return self.learner.pruning.learn(rolls, rng, progress)

    def _export(self) -> Network:
        counters = self.counters
        # Where the first net lay says nothing to others, and perhaps too much of this machine.
        init = Path(self.settings.init).name if self.settings.init else None
        origin = (
            f"self-play from {init or 'random weights'}: {counters.games} games, "
            f"{counters.positions} positions by TD(lambda), {counters.backups} by exact backups; "
            f"{replace(self.settings, init=init).to_json()}"
        )
        taught = counters.rolls >= ROLLS_NEEDED
        pruning = self.learner.pruning.net.export() if taught else None
        return self.learner.net.export(self.settings.variant, origin, pruning)


class _InterruptLater:
    """Notes a first Ctrl-C, so that what is under way can be ended and saved."""

    def __init__(self) -> None:
        self.asked = False

    def __enter__(self) -> "_InterruptLater":
        self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, self._before)

    def _note(self, *_: object) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
        print("\nstopping: saving a checkpoint first ...", file=sys.stderr)
