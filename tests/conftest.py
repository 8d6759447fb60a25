"""What several tests share: positions that games reach, small nets, and the real command."""

import subprocess
import sysconfig
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import engine.kernels
from engine.backgammon.board import BAR, COLUMNS, OFF, Boards, is_over
from engine.backgammon.dice import ROLLS, WEIGHTS
from engine.backgammon.variants import VARIANTS, Variant
from engine.evaluation.bearoff import tables
from engine.evaluation.bearoff_build import solve
from engine.evaluation.bearoff_store import ONE_SIDED, TWO_SIDED
from engine.evaluation.encoders import ENCODERS, Encoder
from engine.evaluation.network import Network
from engine.kernels import movegen
from engine.kernels.bearoff import Bearoff
from engine.kernels.plans import PLANS

Run = Callable[..., "subprocess.CompletedProcess[str]"]
PlayedBoards = Callable[[Variant, int], Boards]
RandomNetwork = Callable[..., Network]

PROBABILITIES = 5
COMPILING = "compiling the kernels (once, under a minute) ...\n"


@pytest.fixture(autouse=True, scope="session")
def compile_silently() -> None:
    """What is said once in a process is said now: no test waits for it, or fails by it."""
    engine.kernels._say_that_it_compiles()


@pytest.fixture(scope="session")
def played_boards() -> PlayedBoards:
    """played_boards(variant, N): int8[N, 2, 26] boards of games of random legal plays."""

    def play(variant: Variant, wanted: int) -> Boards:
        generator = np.random.default_rng(wanted)
        games = max(wanted // 100, 20)
        rolls = np.array(ROLLS, np.int8)
        start = movegen.pack(np.tile(variant.start, (games, 1, 1)))
        boards, seen, count = start, [], 0
        while count < wanted:
            dice = rolls[generator.choice(len(ROLLS), size=games, p=WEIGHTS / WEIGHTS.sum())]
            results, offsets = movegen.legal_results(boards, dice)
            boards = results[generator.integers(offsets[:-1], offsets[1:])]
            seen.append(movegen.unpack(boards))
            count += games
            boards = np.where(is_over(movegen.unpack(boards))[:, None, None], start, boards)
        return np.concatenate(seen)[:wanted]

    return play


def scattered_boards(count: int) -> Boards:
    """int8[count, 2, 26]: boards with tall stacks anywhere, on the bar and off, likely or not."""
    generator = np.random.default_rng(count)
    boards = np.zeros((count, 2, COLUMNS), np.int8)
    for board in boards:
        for row in board:
            columns = generator.integers(OFF, COLUMNS, generator.integers(1, 9))
            np.add.at(row, generator.choice(columns, 15), 1)
        mine, theirs = board
        taken = BAR - 1 - np.flatnonzero(mine[1:BAR])  # those points as the opponent counts them
        theirs[OFF] += theirs[taken].sum()
        theirs[taken] = 0
    return boards[boards[:, :, 1:].any(axis=(1, 2))]


@pytest.fixture(scope="session")
def packed_positions(played_boards: PlayedBoards) -> Boards:
    """int8[N, 2, 32] packed boards: 400 from games of each variant and 200 that no game reaches;
    finished ones among them."""
    every_seventh = [played_boards(variant, 2800)[::7] for variant in VARIANTS.values()]
    return movegen.pack(np.concatenate([*every_seventh, scattered_boards(200)]))


@pytest.fixture(scope="session")
def random_network() -> RandomNetwork:
    """random_network(*hidden, ...): a net that plays badly, but always the same; the larger the
    scale, the surer it is of itself; by_plan: with later layers of their own for each game plan."""

    def make(
        *hidden: int,
        scale: float = 1.0,
        variant: str = "backgammon",
        encoder: Encoder = ENCODERS["thermometer"],
        by_plan: bool = False,
    ) -> Network:
        generator = np.random.default_rng(hidden)
        layers = []
        for inputs, outputs in pairwise([encoder.features, *hidden, PROBABILITIES]):
            plans = (PLANS,) if by_plan and layers else ()
            weight = generator.normal(0, scale * inputs**-0.5, (*plans, outputs, inputs))
            bias = generator.normal(0, 0.1 * scale, (*plans, outputs))
            layers.append((weight.astype(np.float32), bias.astype(np.float32)))
        return Network.of_layers(encoder, variant, layers, "random weights")

    return make


@pytest.fixture(scope="session")
def bearoff() -> Bearoff:
    """The default databases, not on disk."""
    return tables((ONE_SIDED, solve(ONE_SIDED)), (TWO_SIDED, solve(TWO_SIDED)))


@pytest.fixture(scope="session")
def small_net(tmp_path_factory: pytest.TempPathFactory, random_network: RandomNetwork) -> Path:
    """The file of a small net with random weights."""
    path = tmp_path_factory.mktemp("nets") / "small.safetensors"
    random_network(32).save(path)
    return path


@pytest.fixture(scope="session")
def acepoint(small_net: Path) -> Run:
    """Runs the installed command in a process: acepoint("move", ..., typed="")."""

    def run(*arguments: object, typed: str = "") -> "subprocess.CompletedProcess[str]":
        script = Path(sysconfig.get_path("scripts")) / "acepoint"
        done = subprocess.run(
            [script, *map(str, arguments)], input=typed, capture_output=True, text=True, check=False
        )
        done.stderr = done.stderr.replace(COMPILING, "")
        return done

    return run
