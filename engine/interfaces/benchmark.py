"""How fast Acepoint is, side by side with other engines: one core, the same positions, none twice.

Each row first checks that the answers are right, and only then is timed, in processor seconds, so
that other work on the machine does not count; the command from the shell alone is timed by the
clock. The peers run one after the other, each task in a fresh process, as some answer a position
they have seen from a cache.
"""

import json
import statistics
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from engine.backgammon.board import is_over
from engine.backgammon.dice import ROLLS, WEIGHTS
from engine.backgammon.ids import encode_position
from engine.backgammon.position import Position
from engine.backgammon.variants import BACKGAMMON
from engine.bot import Bot
from engine.cube.context import CubeContext
from engine.errors import AcepointError
from engine.evaluation.outcome import equity, flip
from engine.kernels.movegen import legal_results, pack, swap, unpack

__all__ = ["Row", "Sample", "measure", "sample_games"]

POSITIONS = 4000
GAMES = 100  # played at once while collecting positions
SEED = 20240229
PASSES = 25  # of ours over the sample, which remembers nothing; the median counts
CALLS = 500  # of the Python API
COMMANDS = 5  # runs of `acepoint move`
LOOKED_AT = {2: 100, 3: 10}  # plies: positions for the best play so far ahead
PLIES_OF_PEERS = 2  # that they are asked to look ahead
CHECKED = 3  # positions whose lookahead is compared with one a ply shallower
TOLERANCE = 1e-4  # equity by which two ways to evaluate a position may differ
EVALUATIONS = 20_000  # asked of a peer

Packed = npt.NDArray[np.int8]
Answers = list[Any]


class Row(NamedTuple):
    """One line of the table; None where an engine has no such figure or is not installed."""

    what: str
    acepoint: float
    gnubg: float | None
    sage: float | None
    unit: str


class Sample(NamedTuple):
    """N distinct positions with a roll each, and all their legal results."""

    packed: Packed
    """int8[N, 2, 32], row 0 on roll."""
    dice: npt.NDArray[np.int8]
    """int8[N, 2]"""
    results: Packed
    """int8[M, 2, 32] as the next player sees them."""
    offsets: npt.NDArray[np.int64]
    """int64[N + 1]: the results of position i are rows offsets[i] : offsets[i + 1]."""


def sample_games(bot: Bot, count: int, seed: int) -> Sample:
    """The first `count` distinct positions of games of the bot against itself."""
    generator = np.random.default_rng(seed)
    start = pack(BACKGAMMON.start[None])
    boards = start.repeat(GAMES, 0)
    seen: dict[bytes, tuple[Packed, npt.NDArray[np.int8]]] = {}
    while len(seen) < count:
        dice = generator.integers(1, 7, (GAMES, 2), np.int8)
        for board, roll in zip(boards, dice, strict=True):
            seen.setdefault(board.tobytes(), (board, roll))
        boards = bot.best_packed(boards, dice)
        boards[is_over(unpack(boards))] = start
    packed, rolls = (np.array(column[:count]) for column in zip(*seen.values(), strict=True))
    return Sample(packed, rolls, *legal_results(packed, rolls))


def measure(net: Path | None, with_peers: bool) -> list[Row]:
    """All rows, with this net file or, for None, the released net.

    Raises AcepointError when an answer is wrong, ours or a peer's.
    """
    bot = Bot(net)
    sample = sample_games(bot, POSITIONS, SEED)
    ask = _ask if with_peers else _ask_nobody
    return [
        _move_generation(sample, ask),
        _evaluation(bot, sample, ask),
        _best_play(bot, sample, ask),
        *(_best_play_ahead(net, plies, sample, ask) for plies in LOOKED_AT),
        _one_call(bot, sample),
        _command(net, sample),
    ]


Ask = Callable[[str, str, Packed, npt.NDArray[np.int8]], tuple[float, Answers] | None]
"""(package, task, positions, dice) -> positions a second and the answers; None: not there."""


def _ask_nobody(*_: object) -> None:
    return None


def _ask(
    package: str, task: str, packed: Packed, dice: npt.NDArray[np.int8]
) -> tuple[float, Answers] | None:
    """What a peer answers in a process of its own; see `engine.interfaces.peer_process`."""
    if not _is_installed(package):
        return None
    request = {
        "boards": unpack(packed).reshape(-1, 52).tolist(),
        "dice": np.sort(dice, axis=1)[:, ::-1].tolist(),
    }
    script = Path(__file__).with_name("peer_process.py")
    process = subprocess.run(
        # -P: modules beside the script must not hide those of the same name elsewhere.
        [sys.executable, "-P", script, package, task],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        check=False,
    )
    if process.returncode:
        reason = (process.stderr.splitlines() or [f"exit code {process.returncode}"])[-1]
        raise AcepointError(f"{package} failed at {task}: {reason}")
    answer = json.loads(process.stdout)
    return len(packed) / answer["seconds"], answer["answers"]


@cache
def _is_installed(package: str) -> bool:
    """Whether a peer can be asked; says once if it cannot."""
    if find_spec(package) is not None:
        return True
    print(f"{package} is not installed: pip install acepoint[peers]", file=sys.stderr)
    return False


def _move_generation(sample: Sample, ask: Ask) -> Row:
    gnubg, sage = [
        _checked(
            ask(package, "results", sample.packed, sample.dice), sample, package, _same_results
        )
        for package in ("gnubg_nn", "bgsage")
    ]
    seconds = _seconds(lambda: legal_results(sample.packed, sample.dice))
    return Row("move generation", len(sample.packed) / seconds, gnubg, sage, "positions/s")


def _evaluation(bot: Bot, sample: Sample, ask: Ask) -> Row:
    """Ours chooses the best of all results of a position, theirs are given the results."""
    _check_choices(bot, sample)
    distinct = np.random.default_rng(SEED).permutation(np.unique(sample.results, axis=0))
    distinct = distinct[:EVALUATIONS]
    unused = np.ones((len(distinct), 2), np.int8)
    speeds: list[float | None] = []
    for package in ("gnubg_nn", "bgsage"):
        answer = ask(package, "evaluate", distinct, unused)
        if answer is not None and not _are_probabilities(np.array(answer[1])):
            raise AcepointError(f"{package} answered something else than five probabilities")
        speeds.append(answer[0] if answer else None)
    gnubg, sage = speeds
    choices = np.diff(sample.offsets) > 1
    packed, dice = sample.packed[choices], sample.dice[choices]
    evaluations = int(np.diff(sample.offsets)[choices].sum())
    seconds = _seconds(lambda: bot.best_packed(packed, dice))
    what = "static evaluation, ours with move generation"
    return Row(what, evaluations / seconds, gnubg, sage, "evaluations/s")


def _best_play(bot: Bot, sample: Sample, ask: Ask) -> Row:
    gnubg, sage = [
        _checked(ask(package, "play", sample.packed, sample.dice), sample, package, _is_legal)
        for package in ("gnubg", "bgsage")
    ]
    seconds = _seconds(lambda: bot.best_packed(sample.packed, sample.dice))
    return Row(
        "best play, 0-ply, in batches", len(sample.packed) / seconds, gnubg, sage, "decisions/s"
    )


def _best_play_ahead(net: Path | None, plies: int, sample: Sample, ask: Ask) -> Row:
    """With the cube in the centre of a money game."""
    rows = np.random.default_rng(SEED).permutation(len(sample.packed))[: LOOKED_AT[plies]]
    packed, dice = sample.packed[rows], sample.dice[rows]
    drawn = Sample(packed, dice, *legal_results(packed, dice))
    bot = Bot(net, plies)
    _check_lookahead(bot, Bot(net, plies - 1), Bot(net), packed[:CHECKED])
    gnubg, sage = [
        _checked(ask(package, "look", packed, dice), drawn, package, _is_legal)
        if plies == PLIES_OF_PEERS
        else None
        for package in ("gnubg", "bgsage")
    ]
    began = time.process_time()
    bot.best_packed(packed, dice, CubeContext())
    seconds = time.process_time() - began
    what = f"best play with the cube, {plies}-ply"
    return Row(what, len(packed) / seconds, gnubg, sage, "decisions/s")


def _one_call(bot: Bot, sample: Sample) -> Row:
    boards = unpack(sample.packed[:CALLS])
    calls = [
        (Position(board, BACKGAMMON), (int(roll[0]), int(roll[1])))
        for board, roll in zip(boards, sample.dice, strict=False)
    ]
    bot.best(*calls[0])
    seconds = []
    for position, dice in calls:
        began = time.process_time()
        bot.best(position, dice)
        seconds.append(time.process_time() - began)
    return Row(
        "one best play by the Python API", 1e6 * statistics.median(seconds), None, None, "µs"
    )


def _command(net: Path | None, sample: Sample) -> Row:
    script = Path(sysconfig.get_path("scripts")) / "acepoint"
    options = ["--net", str(net)] if net else []
    seconds = []
    for board in unpack(sample.packed[1 : 1 + COMMANDS]):
        began = time.perf_counter()
        subprocess.run(
            [script, "move", encode_position(board), "31", *options],
            capture_output=True,
            check=True,
        )
        seconds.append(time.perf_counter() - began)
    return Row("acepoint move, from the shell", statistics.median(seconds), None, None, "s")


def _seconds(work: Callable[[], object]) -> float:
    """The median processor time of some passes, after one that may compile."""
    seconds = []
    work()
    for _ in range(PASSES):
        began = time.process_time()
        work()
        seconds.append(time.process_time() - began)
    return statistics.median(seconds)


def _check_choices(bot: Bot, sample: Sample) -> None:
    """Raises AcepointError when the fast path chooses anything but a result of the best equity."""
    first = sample.offsets[:-1]
    equities = -equity(bot.evaluate_packed(sample.results))
    chosen = bot.best_packed(sample.packed, sample.dice)
    same = (sample.results == np.repeat(chosen, np.diff(sample.offsets), 0)).all(axis=(1, 2))
    of_choice = np.maximum.reduceat(np.where(same, equities, -np.inf), first)
    short = np.maximum.reduceat(equities, first) - of_choice
    if short.max() > TOLERANCE:
        worst = sample.packed[int(short.argmax())]
        raise AcepointError(
            f"the choice in {encode_position(unpack(worst[None])[0])} is not the best"
        )


def _check_lookahead(bot: Bot, shallower: Bot, static: Bot, packed: Packed) -> None:
    """Raises AcepointError when an evaluation is not the mean over the rolls of shallower ones.

    Those are of the positions after the best play at 0-ply.
    """
    rolls = np.array(ROLLS, np.int8)
    weights = WEIGHTS / WEIGHTS.sum()
    for position, values in zip(packed, bot.evaluate_packed(packed), strict=True):
        results = static.best_packed(np.tile(position, (len(rolls), 1, 1)), rolls)
        expected = weights @ flip(shallower.evaluate_packed(results))
        if np.abs(values - expected).max() > TOLERANCE:
            name = encode_position(unpack(position[None])[0])
            raise AcepointError(f"the evaluation of {name} is not the mean over the rolls")


def _checked(
    answer: tuple[float, Answers] | None,
    sample: Sample,
    package: str,
    is_right: Callable[[Any, set[bytes], bytes], bool],
) -> float | None:
    """The speed of a peer whose every answer is right. Raises AcepointError when one is not."""
    if answer is None:
        return None
    speed, answers = answer
    legal = unpack(sample.results)
    passed = unpack(swap(sample.packed))
    for index, given in enumerate(answers):
        results = {
            board.tobytes() for board in legal[sample.offsets[index] : sample.offsets[index + 1]]
        }
        if not is_right(given, results, passed[index].tobytes()):
            position = encode_position(unpack(sample.packed)[index])
            high, low = sample.dice[index]
            raise AcepointError(
                f"{package} disagrees about the plays of {position} with {high}{low}"
            )
    return speed


def _same_results(given: list[list[int]], legal: set[bytes], passed: bytes) -> bool:
    return {_bytes(board) for board in given} == legal or (not given and legal == {passed})


def _is_legal(given: list[int] | None, legal: set[bytes], _: bytes) -> bool:
    return given is None or _bytes(given) in legal


def _bytes(board: list[int]) -> bytes:
    return np.array(board, np.int8).tobytes()


def _are_probabilities(values: npt.NDArray[np.float64]) -> bool:
    return values.shape[1:] == (5,) and bool(((values >= 0) & (values <= 1)).all())
