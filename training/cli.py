"""`acepoint train`: a net from nothing, by self-play."""

import math
import os
import sys
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from engine.errors import AcepointError, FileFormatError
from engine.interfaces.cli.options import require_range
from training.config import Settings

if TYPE_CHECKING:
    from training.trainer import Budget, Trainer
    from training.yardstick import Yardstick

__all__ = ["Train"]

DEFAULT_MINUTES = 15.0
SAVE_MINUTES = 2.0
MEASURE_AT = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)

Number = Annotated[float | None, tyro.conf.arg(metavar="M", help_behavior_hint="")]


@dataclass(frozen=True)
class Train:
    """Train a net from nothing by self-play.

    First TD(lambda), then exact backups over all 21 rolls. The folder gets net.safetensors to play
    with, checkpoint.safetensors to go on from, and tensorboard files. Ctrl-C saves first; killed,
    a run loses a few minutes at the most. Strength is measured at 0-ply, counted as gnubg counts.

    Example: acepoint train --minutes 15 --out runs/first
    """

    out: Annotated[Path | None, tyro.conf.arg(metavar="DIR", help_behavior_hint="")] = None
    """Folder of a new run; by default runs/VARIANT-SEED."""
    minutes: Number = None
    """Length of the run; the schedule ends with it. 15 when neither this nor games is given."""
    games: Annotated[int | None, tyro.conf.arg(metavar="G", help_behavior_hint="")] = None
    """Length in games: on the cpu the same seed then gives the same net, bit by bit."""
    resume: Annotated[Path | None, tyro.conf.arg(metavar="DIR", help_behavior_hint="")] = None
    """Take up the run in this folder; another length stretches its schedule."""
    workers: Annotated[int | None, tyro.conf.arg(metavar="W", help_behavior_hint="")] = None
    """Threads that play; by default one a core. They change nothing but the time it takes."""
    device: Annotated[str, tyro.conf.arg(metavar="NAME", help_behavior_hint="")] = "auto"
    """Where the net is fitted, as torch names it; by default a GPU if there is one, else cpu."""
    deals: int = 500
    """Deals of the yardstick against each fixed opponent, thirteen times a run, at first often."""
    decisions: Annotated[Path | None, tyro.conf.arg(metavar="FILE", help_behavior_hint="")] = None
    """Reference decisions to measure the PR on, as for `acepoint score checker`."""
    settings: tyro.conf.OmitSubcommandPrefixes[Annotated[Settings, tyro.conf.arg(name="")]] = field(
        default_factory=Settings
    )

    def run(self) -> None:
        """Train, and say where the net is."""
        workers = (os.cpu_count() or 1) if self.workers is None else self.workers
        require_range("--workers", workers, 1)
        for name, value in (("minutes", self.minutes), ("games", self.games)):
            if value is not None and not 0 < value < math.inf:
                raise AcepointError(f"--{name} {value}: expected more than 0")
        require_range("--deals", self.deals, 0)
        if self.minutes is not None and self.games is not None:
            raise AcepointError("--minutes and --games: expected one of them")
        if self.resume is not None and (self.out is not None or self.settings != Settings()):
            raise AcepointError("--resume goes on as it began: expected no --out and no settings")

        if find_spec("torch") is None or find_spec("tensorboard") is None:
            raise AcepointError("training needs torch and tensorboard: pip install acepoint[train]")
        from training.journal import Journal
        from training.trainer import CHECKPOINT, Trainer
        from training.yardstick import Yardstick

        yardstick = Yardstick(self.deals, self.decisions)
        try:
            if self.resume is not None:
                trainer = Trainer.of_folder(
                    self.resume, self._budget(), workers, yardstick, self.device
                )
            else:
                trainer = self._begin(workers, yardstick)
            try:
                with Journal(trainer.folder, trainer.settings.to_json()) as journal:
                    net = trainer.run(journal, SAVE_MINUTES, MEASURE_AT)
            except KeyboardInterrupt:
                if (trainer.folder / CHECKPOINT).exists():
                    print(f"go on with: acepoint train --resume {trainer.folder}", file=sys.stderr)
                raise
        finally:
            yardstick.close()
        print(net)

    def _budget(self) -> "Budget | None":
        """The length asked for, or None."""
        from training.trainer import Budget

        if self.minutes is None and self.games is None:
            return None
        return Budget(self.minutes, self.games)

    def _begin(self, workers: int, yardstick: "Yardstick") -> "Trainer":
        """A new run in an empty folder."""
        from training.trainer import Budget, Trainer

        folder = self.out or Path("runs") / f"{self.settings.variant}-{self.settings.seed}"
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise FileFormatError(
                f"--out {str(folder)!r} is not an empty folder: name another, or --resume it"
            )
        budget = self._budget() or Budget(minutes=DEFAULT_MINUTES)
        trainer = Trainer(self.settings, budget, folder, workers, yardstick, device=self.device)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileFormatError(f"--out {str(folder)!r}: {error.strerror}") from None
        return trainer
