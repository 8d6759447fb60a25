"""How fast Acepoint rolls out, beside the program GNU Backgammon and Sage's truncated rollouts.

The plays of an opening roll are rolled out in full. What they are found to be worth with the luck
taken out must agree with plain dice, and with what the program finds. Of truncated rollouts it is
told in how many decisions the best play is the same.
"""

import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from engine.backgammon.dice import Dice
from engine.backgammon.position import Position
from engine.backgammon.variants import BACKGAMMON
from engine.bot import Bot
from engine.cube.rollout import Limits, Rollout, Settings
from engine.errors import AcepointError
from engine.interfaces.peers import Ask, Row, Sample, checked, is_legal
from engine.kernels.movegen import unpack

__all__ = ["full_rollouts", "truncated_rollouts"]

OPENING: Dice = (3, 1)
PLAYS = 2  # the best of the opening roll, which are rolled out
REDUCED = 144  # trials of each with the luck taken out,
PLAIN = 1296  # and with plain dice
SPREAD = 5.0  # standard errors by which two rollouts of a play may differ

PROGRAM = "gnubg"
EXPORTED = "rollout.txt"
START = """
set threads 1
set rollout trials {trials}
set rollout varredn {reduced}
set rollout cubeful on
set rollout quasirandom on
set rollout rng mersenne
set rollout seed 1
set rollout truncation enable off
set rollout bearofftruncation exact on
set rollout bearofftruncation onesided off
set rollout chequerplay plies 0
set rollout cubedecision plies 0
set rollout limit enable off
set rollout jsd stop off
set player 0 human
set player 1 human
set automatic roll off
set automatic game off
set display off
set jacoby off
set beavers 0
new session
set board {position}
set turn 1
set dice {high} {low}
hint
"""
ROLL_OUT = "analyse rollout move {numbers}\nexport position text {exported}\n"
END = "quit\ny\n"
ROLLED_OUT = re.compile(r"\d+\. Rollout +(.+?) +Eq\.: +(\S+).*\n.*\n.* CF +(\S+)\]")


class Level(NamedTuple):
    """How a decision is rolled out at one of Sage's levels, and how many are."""

    decisions: int
    trials: int
    settings: Settings


LEVELS = {
    "truncated1": Level(10, 72, Settings(truncate=5)),
    "truncated2": Level(3, 360, Settings(truncate=7, plies=1, later_plies=0, later_from=1)),
    "truncated3": Level(1, 360, Settings(truncate=7, plies=2, later_plies=1, later_from=2)),
}
"""Plies, trials and truncation like Sage's own, which calls 1-ply what is 0-ply here; the slower
levels take some minutes for ten decisions, so they have fewer of the same."""


class Worth(NamedTuple):
    """What a rollout finds a play to be worth."""

    equity: float
    error: float
    """Its standard error."""


class Timed(NamedTuple):
    """A rollout of some plays."""

    speed: float
    """Trials a second, those of all plays counted."""
    plays: dict[str, Worth]


def full_rollouts(bot: Bot, with_program: bool) -> list[Row]:
    """Of the opening roll, in a money game with the cube, with and without variance reduction.

    Raises AcepointError when two rollouts of a play disagree.
    """
    rows = []
    sure: Timed | None = None
    for what, trials, reduced in (("luck taken out", REDUCED, True), ("plain dice", PLAIN, False)):
        ours = _opening(bot, trials, reduced)
        sure = sure or ours
        _check_agreement(sure.plays, ours.plays, what)
        theirs = _opening_by_program(trials, reduced) if with_program else None
        told = f"rollout, {what}, standard error {_error(ours)}"
        if theirs:
            _check_agreement(sure.plays, theirs.plays, f"{what} by {PROGRAM}")
            told += f" (gnubg {_error(theirs)})"
        rows.append(Row(told, ours.speed, theirs.speed if theirs else None, None, "trials/s"))
    return rows


def truncated_rollouts(bot: Bot, drawn: Sample, ask: Ask) -> list[Row]:
    """Of these decisions, in money games with the cube, at each of Sage's levels."""
    return [_truncated(bot, level, drawn, ask) for level in LEVELS]


def _opening(bot: Bot, trials: int, reduced: bool) -> Timed:
    settings = Settings(reduce_variance=reduced)
    start = Position.start()
    _play(bot.rollout(start, OPENING, None, settings, PLAYS), 1)  # it may compile
    rollout = bot.rollout(start, OPENING, None, settings, PLAYS)
    seconds = _play(rollout, trials)
    plays = {
        start.name: Worth(summary.equity, summary.error)
        for start, summary in zip(rollout.starts, rollout.summaries(), strict=True)
    }
    return Timed(trials * len(plays) / seconds, plays)


def _play(rollout: Rollout, trials: int) -> float:
    """The processor seconds of a rollout in which no play stops early."""
    began = time.process_time()
    rollout.run(Limits(trials, clear=0), workers=1)
    return time.process_time() - began


def _opening_by_program(trials: int, reduced: bool) -> Timed | None:
    """The same by the program `gnubg`, of the plays that it holds to be best; None: not there.

    Its start is timed by itself and not counted.
    """
    if shutil.which(PROGRAM) is None:
        print(f"the program {PROGRAM} is not installed, or not on the path", file=sys.stderr)
        return None
    start = START.format(
        trials=trials, reduced="on" if reduced else "off", position=Position.start().id,
        high=OPENING[0], low=OPENING[1],
    )  # fmt: skip
    numbers = " ".join(str(number) for number in range(1, PLAYS + 1))
    roll_out = ROLL_OUT.format(numbers=numbers, exported=EXPORTED)
    waited, _ = _run_program(start + END)
    seconds, exported = _run_program(start + roll_out + END)
    plays = _read_export(exported)
    return Timed(trials * len(plays) / (seconds - waited), plays)


def _run_program(commands: str) -> tuple[float, str]:
    """The processor seconds of the program and what it has exported, without a user's settings."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "commands.txt").write_text(commands)
        before = os.times()
        process = subprocess.run(
            [PROGRAM, "--tty", "--quiet", "--commands=commands.txt"],
            cwd=folder,
            env={**os.environ, "HOME": folder, "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        after = os.times()
        if process.returncode:
            raise AcepointError(f"{PROGRAM} failed with exit code {process.returncode}")
        exported = Path(folder) / EXPORTED
        text = exported.read_text() if exported.exists() else ""
    seconds = after.children_user + after.children_system
    return seconds - before.children_user - before.children_system, text


def _read_export(text: str) -> dict[str, Worth]:
    """The plays that the program has rolled out."""
    plays = {
        play: Worth(float(equity), float(error)) for play, equity, error in ROLLED_OUT.findall(text)
    }
    if len(plays) != PLAYS:
        raise AcepointError(f"{PROGRAM} has rolled out {len(plays)} plays: expected {PLAYS}")
    return plays


def _check_agreement(sure: dict[str, Worth], plays: dict[str, Worth], what: str) -> None:
    """Raises AcepointError when a play differs by too many standard errors, or none is common."""
    common = sure.keys() & plays.keys()
    if not common:
        raise AcepointError(f"rollout, {what}: {', '.join(plays)} instead of {', '.join(sure)}")
    for play in common:
        (expected, error), (found, other_error) = sure[play], plays[play]
        if abs(found - expected) > SPREAD * math.hypot(error, other_error):
            raise AcepointError(
                f"rollout, {what}: {play} is worth {found:+.3f} instead of {expected:+.3f}"
            )


def _error(timed: Timed) -> str:
    """The standard errors of the plays."""
    return " and ".join(f"{worth.error:.3f}" for worth in timed.plays.values())


def _truncated(bot: Bot, level: str, drawn: Sample, ask: Ask) -> Row:
    count = LEVELS[level].decisions
    packed, dice = drawn.packed[:count], drawn.dice[:count]
    answer = ask("bgsage", level, packed, dice)
    speed = checked(answer, drawn, "bgsage", is_legal)
    decisions = [
        (Position(board, BACKGAMMON), (high, low))
        for board, (high, low) in zip(unpack(packed), dice.tolist(), strict=True)
    ]
    _play(bot.rollout(*decisions[0], settings=LEVELS[level].settings), 1)  # it may compile
    began = time.process_time()
    chosen = [_best_truncated(bot, *decision, level) for decision in decisions]
    seconds = time.process_time() - began
    what = f"best play, rollout like {level}"
    if answer:
        same = sum(result == given for result, given in zip(chosen, answer[1], strict=True))
        what += f", {same} of {count} the same"
    return Row(what, count / seconds, None, speed, "decisions/s")


def _best_truncated(bot: Bot, position: Position, dice: Dice, level: str) -> list[int]:
    """The 52 counts after the play that a truncated rollout says is best."""
    _, trials, settings = LEVELS[level]
    rollout = bot.rollout(position, dice, settings=settings)
    rollout.run(Limits(trials), workers=1)
    worth = [(summary.trials, summary.equity) for summary in rollout.summaries()]
    best = worth.index(max(worth))
    counts: list[int] = unpack(rollout.starts[best].packed[None]).ravel().tolist()
    return counts
