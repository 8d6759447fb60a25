"""How fast Acepoint is, side by side with other engines: one core, the same positions, none twice.

Each row first checks that the answers are right, and only then is timed, in processor seconds, so
that other work on the machine does not count; the command from the shell alone is timed by the
clock. The peers run one after the other.
"""

import json
import os
import statistics
import subprocess
import sysconfig
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

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
from engine.interfaces.peers import (
    Ask,
    Packed,
    Row,
    Sample,
    ask_nobody,
    ask_peer,
    checked,
    is_legal,
    same_results,
)
from engine.interfaces.rollout_benchmark import full_rollouts, truncated_rollouts
from engine.kernels.movegen import legal_results, pack, unpack

__all__ = ["measure", "sample_games"]

POSITIONS = 4000
GAMES = 100  # played at once while collecting positions
SEED = 20240229
PASSES = 25  # of ours over the sample, which remembers nothing; the median counts
CALLS = 500  # of the Python API
COMMANDS = 5  # runs of `acepoint move` and of `acepoint cube`
LOOKED_AT = {2: 100, 3: 10}  # plies: positions for the best play so far ahead
DECISIONS = 10  # for truncated rollouts, at most
PLIES_OF_PEERS = 2  # that they are asked to look ahead
CHECKED = 3  # positions whose lookahead is compared with one a ply shallower
TOLERANCE = 1e-4  # equity by which two ways to evaluate a position may differ
MISSED = 0.02  # of a probability: what best plays that the pruning net misses may come to
EVALUATIONS = 20_000  # asked of a peer


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
    ask = ask_peer if with_peers else ask_nobody
    decisions = _drawn(sample, DECISIONS, least_plays=2)
    return [
        _move_generation(sample, ask),
        _evaluation(bot, sample, ask),
        _best_play(bot, sample, ask),
        *(_best_play_ahead(net, plies, sample, ask) for plies in LOOKED_AT),
        *full_rollouts(bot, with_peers),
        *(truncated_rollouts(bot, decisions, ask) if with_peers else ()),
        _one_call(bot, sample),
        _command(bot, net, sample, "move", ["31"], _is_best),
        _command(bot, net, sample, "cube", [], _is_decision),
    ]


def _drawn(sample: Sample, count: int, least_plays: int = 1) -> Sample:
    """Some of the sample's positions, by chance, that have so many plays."""
    rows = np.flatnonzero(np.diff(sample.offsets) >= least_plays)
    rows = np.random.default_rng(SEED).permutation(rows)[:count]
    packed, dice = sample.packed[rows], sample.dice[rows]
    return Sample(packed, dice, *legal_results(packed, dice))


def _move_generation(sample: Sample, ask: Ask) -> Row:
    gnubg, sage = [
        checked(ask(package, "results", sample.packed, sample.dice), sample, package, same_results)
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
        checked(ask(package, "play", sample.packed, sample.dice), sample, package, is_legal)
        for package in ("gnubg", "bgsage")
    ]
    seconds = _seconds(lambda: bot.best_packed(sample.packed, sample.dice))
    return Row(
        "best play, 0-ply, in batches", len(sample.packed) / seconds, gnubg, sage, "decisions/s"
    )


def _best_play_ahead(net: Path | None, plies: int, sample: Sample, ask: Ask) -> Row:
    """With the cube in the centre of a money game."""
    drawn = _drawn(sample, LOOKED_AT[plies])
    packed, dice = drawn.packed, drawn.dice
    checked_bot = Bot(net, plies)
    _check_lookahead(checked_bot, Bot(net, plies - 1), Bot(net), packed[:CHECKED])
    checked_bot.best_packed(packed[:1], dice[:1], CubeContext())  # may compile
    gnubg, sage = [
        checked(ask(package, "look", packed, dice), drawn, package, is_legal)
        if plies == PLIES_OF_PEERS
        else None
        for package in ("gnubg", "bgsage")
    ]
    bot = Bot(net, plies)  # which remembers none of these positions
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


def _command(
    bot: Bot,
    net: Path | None,
    sample: Sample,
    name: str,
    dice: list[str],
    is_right: Callable[[Bot, Position, dict[str, Any]], bool],
) -> Row:
    """A command from the shell, which must tell of a first position what the bot does."""
    script = Path(sysconfig.get_path("scripts")) / "acepoint"
    options = [*dice, "--net", str(net)] if net else dice
    # As on a machine where nothing keeps Python from remembering what it has compiled.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}

    def run(board: npt.NDArray[np.int8], *more: str) -> bytes:
        command: list[str | Path] = [script, name, encode_position(board), *options, *more]
        return subprocess.run(command, capture_output=True, check=True, env=environment).stdout

    first, *others = unpack(sample.packed[1 : 2 + COMMANDS])
    if not is_right(bot, Position(first, BACKGAMMON), json.loads(run(first, "--json"))):
        raise AcepointError(f"acepoint {name} {encode_position(first)}: not what the bot answers")
    seconds = []
    for board in others:
        began = time.perf_counter()
        run(board)
        seconds.append(time.perf_counter() - began)
    return Row(f"acepoint {name}, from the shell", statistics.median(seconds), None, None, "s")


def _is_best(bot: Bot, position: Position, told: dict[str, Any]) -> bool:
    """Whether the play that `acepoint move` puts first with 3-1 is the bot's."""
    best = bot.rank(position, (3, 1))[0].play.result.id
    return bool(told["candidates"][0]["result"] == best)


def _is_decision(bot: Bot, position: Position, told: dict[str, Any]) -> bool:
    """Whether the cube decision that `acepoint cube` tells is the bot's."""
    decision = bot.cube(position)
    expected = decision.no_double, decision.double_take, decision.double_pass
    equities = [told["no_double"], told["double_take"], told["double_pass"]]
    return bool(np.abs(np.subtract(equities, expected)).max() <= TOLERANCE)


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
        if np.abs(values - expected).max() > MISSED:
            name = encode_position(unpack(position[None])[0])
            raise AcepointError(f"the evaluation of {name} is not the mean over the rolls")


def _are_probabilities(values: npt.NDArray[np.float64]) -> bool:
    return values.shape[1:] == (5,) and bool(((values >= 0) & (values <= 1)).all())
