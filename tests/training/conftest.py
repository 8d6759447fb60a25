"""A training run so small that a test can afford several."""

from collections.abc import Callable
from pathlib import Path

import pytest

from training.config import Learning, SelfPlay, Settings, Shape, Stages
from training.journal import Journal
from training.trainer import Budget, Trainer
from training.yardstick import Yardstick

GAMES = 300

Begin = Callable[..., Trainer]


@pytest.fixture(scope="session")
def tiny() -> Settings:
    """TD(lambda) for 3 iterations, then exact backups for about 30, through a full buffer."""
    return Settings(
        seed=7,
        shape=Shape(hidden=(16, 8)),
        self_play=SelfPlay(games=32, backups=256),
        stages=Stages(td_share=0.3),
        learning=Learning(batch=64, replay=1, buffer=1500),
    )


@pytest.fixture
def begin(tiny: Settings, tmp_path: Path) -> Begin:
    """begin(name="run", settings=tiny, workers=1): a new run in a folder of its own."""

    def make(name: str = "run", settings: Settings = tiny, workers: int = 1) -> Trainer:
        folder = tmp_path / name
        folder.mkdir()
        return Trainer(settings, Budget(games=GAMES), folder, workers, Yardstick(0, None))

    return make


@pytest.fixture(scope="session")
def finish() -> Callable[[Trainer], Path]:
    """Runs a trainer to the end of its budget; the net file."""

    def run(trainer: Trainer, save_minutes: float = 60.0) -> Path:
        with Journal(trainer.folder, trainer.settings.to_json(), quiet=True) as journal:
            return trainer.run(journal, save_minutes, measure_share=0.4)

    return run
