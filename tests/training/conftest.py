"""A training run so small that a test can afford several."""

from collections.abc import Callable
from pathlib import Path

import pytest

from training.config import Learning, SelfPlay, Settings, Shape, Stages
from training.journal import Journal
from training.trainer import Budget, Trainer
from training.yardstick import Yardstick

GAMES = 120

Begin = Callable[..., Trainer]


@pytest.fixture(scope="session")
def tiny() -> Settings:
    """TD(lambda) for 4 iterations, then exact backups for 10, through a full buffer."""
    return Settings(
        seed=7,
        shape=Shape(hidden=(16, 8)),
        self_play=SelfPlay(games=16, backups=256, rolls=64),
        stages=Stages(td_share=0.3, bearoff=False),
        learning=Learning(td_batch=64, batch=64, replay=1, buffer=1500),
    )


@pytest.fixture(scope="session")
def begin(tiny: Settings, tmp_path_factory: pytest.TempPathFactory) -> Begin:
    """begin(settings=tiny, workers=1, games=GAMES): a new run in a folder of its own."""

    def make(settings: Settings = tiny, workers: int = 1, games: int = GAMES) -> Trainer:
        folder = tmp_path_factory.mktemp("run")
        return Trainer(settings, Budget(games=games), folder, workers, Yardstick(0, None))

    return make


@pytest.fixture(scope="session")
def finish() -> Callable[[Trainer], Path]:
    """finish(trainer, save_minutes=60): runs it to the end of its budget; the net file."""

    def run(trainer: Trainer, save_minutes: float = 60.0) -> Path:
        with Journal(trainer.folder, trainer.settings.to_json(), quiet=True) as journal:
            return trainer.run(journal, save_minutes, measure_at=(0.4, 0.8))

    return run
