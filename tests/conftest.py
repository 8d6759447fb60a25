"""What several tests share: a small net, and the real command."""

import subprocess
import sysconfig
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from engine.bot import Bot
from engine.evaluation.encoders import ENCODERS
from engine.evaluation.network import Network

Run = Callable[..., "subprocess.CompletedProcess[str]"]

HIDDEN = 32
PROBABILITIES = 5


@pytest.fixture(scope="session")
def small_net(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A net file with random weights: it plays badly, but always the same."""
    generator = np.random.default_rng(1)
    encoder = ENCODERS["thermometer"]
    sizes = [encoder.features, HIDDEN, PROBABILITIES]
    layers = [
        (
            generator.normal(0, inputs**-0.5, (outputs, inputs)).astype(np.float32),
            np.zeros(outputs, np.float32),
        )
        for inputs, outputs in pairwise(sizes)
    ]
    path = tmp_path_factory.mktemp("nets") / "small.safetensors"
    Network.of_layers(encoder, "backgammon", layers, "random weights").save(path)
    return path


@pytest.fixture(scope="session")
def acepoint(small_net: Path) -> Run:
    """Runs the installed command in a process: acepoint("move", ..., typed="")."""
    Bot(small_net)  # says that it compiles, if need be: no command does again

    def run(*arguments: object, typed: str = "") -> "subprocess.CompletedProcess[str]":
        script = Path(sysconfig.get_path("scripts")) / "acepoint"
        return subprocess.run(
            [script, *map(str, arguments)], input=typed, capture_output=True, text=True, check=False
        )

    return run
