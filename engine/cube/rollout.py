"""Rollouts: what positions are worth when they are played out many times.

It stands here, above the cube's model, because the games are played with the cube.
"""

import math
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from enum import StrEnum
from itertools import takewhile
from typing import Any

import numpy as np

from engine.cube.context import CubeContext
from engine.cube.decisions import CubeDecision
from engine.cube.rollout_statistics import Summary, summarise
from engine.cube.search import DEFAULT_FILTER, courses_of, filter_named
from engine.cube.situations import Situation, is_of_no_use, situations_from
from engine.errors import AcepointError
from engine.evaluation.network import Network
from engine.kernels.movegen import THROWS, words_of
from engine.kernels.rollout import COLUMNS, LONGEST, roll_out
from engine.kernels.trials import STRATA, Method, Skill

__all__ = ["Ending", "Limits", "Rollout", "Settings", "Start", "cube_starts", "play_start"]

Array = np.ndarray[Any, Any]

LOOK = 144  # trials after which it is seen whether a rollout, or a candidate, has had enough
SLICE = 3  # trials that a thread plays at a time
WATCHED = 0.25  # seconds between two calls of a watcher


@dataclass(frozen=True, slots=True)
class Settings:
    """How the games of a rollout are played.

    plies: rolls to look ahead when plays are chosen; 0 is the static evaluation. cube_plies: the
    same for cube actions; None is as many as for plays. later_plies: the same for both, from the
    ply `later_from` of a game on; None changes nothing then. moves: the name of the filter that
    says which plays are looked at deeper.
    truncate: plies after which the 0-ply estimate ends a trial; None plays every game to its end.
    cubeful: both sides use the cube; if not it is out of play. reduce_variance: the luck of the
    dice, by the 0-ply estimates, is taken out of the results, and a trial splits in two where the
    cube is turned. bearoff: a trial ends with the exact value as soon as the two-sided database of
    the net has it. seed: root of all dice.

    Raises AcepointError for a setting out of range.
    """

    plies: int = 0
    cube_plies: int | None = None
    later_plies: int | None = None
    later_from: int = 4
    moves: str = DEFAULT_FILTER
    truncate: int | None = None
    cubeful: bool = True
    reduce_variance: bool = True
    bearoff: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        for plies in (self.plies, self.cube_plies, self.later_plies):
            filter_named(self.moves, plies or 0)
        if not 0 <= self.later_from <= LONGEST:
            raise AcepointError(f"later from {self.later_from}: expected 0 to {LONGEST} plies")
        if self.truncate is not None and not 1 <= self.truncate <= LONGEST:
            raise AcepointError(f"truncate {self.truncate}: expected 1 to {LONGEST} plies")
        if not 0 <= self.seed < 2**63:
            raise AcepointError(f"seed {self.seed}: expected a number from 0 to 2^63 - 1")

    @property
    def most_plies(self) -> int:
        """The most that anything is looked ahead."""
        return max(self.plies, self.cube_plies or 0, self.later_plies or 0)

    def method(self) -> Method:
        """The kernels' form."""
        cube_plies = self.plies if self.cube_plies is None else self.cube_plies
        first = Skill(filter_named(self.moves, self.plies), cube_plies)
        later = first
        if self.later_plies is not None:
            later = Skill(filter_named(self.moves, self.later_plies), self.later_plies)
        generator = np.random.Generator(np.random.PCG64(self.seed))
        orders = np.array([generator.permutation(THROWS) for _ in range(STRATA)])
        horizon = self.truncate or LONGEST
        return Method(
            first,
            later,
            self.later_from,
            horizon,
            self.reduce_variance,
            self.bearoff,
            self.seed,
            orders,
        )


@dataclass(frozen=True, slots=True)
class Limits:
    """When a rollout ends.

    trials: of each candidate. until_se: the standard error of the equity that all must have
    reached, None for no such end. clear: by how many standard errors of the paired difference a
    candidate must be worse than the best to be left out of further trials, 0 for never.

    Raises AcepointError for a limit out of range.
    """

    trials: int = 1296
    until_se: float | None = None
    clear: float = 4.0

    def __post_init__(self) -> None:
        if self.trials < 1:
            raise AcepointError(f"trials {self.trials}: expected a number from 1")
        if self.until_se is not None and not 0 < self.until_se < math.inf:
            raise AcepointError(f"standard error {self.until_se}: expected a number above 0")
        if not 0 <= self.clear < math.inf:
            raise AcepointError(f"clear {self.clear}: expected a number of errors, or 0 for never")


class Ending(StrEnum):
    """Why a rollout has ended."""

    TRIALS = "all trials played"
    ERROR = "standard error reached"
    CLEAR = "one is clearly best"


@dataclass(frozen=True, eq=False, slots=True)
class Start:
    """A candidate: where its games begin."""

    name: str
    packed: Array
    """int8[2, 32], row 0 on roll."""
    situation: Situation
    cube_first: bool
    """Whether the player on roll may double before his first roll."""


def play_start(name: str, packed: Array, context: CubeContext) -> Start:
    """The candidate of a play.

    packed: int8[2, 32], its result as the next player sees it; context: of the mover.
    """
    return Start(name, packed, (context.flipped(), False), True)


def cube_starts(packed: Array, context: CubeContext) -> list[Start]:
    """The candidates of a cube decision, for the doubler: what is not known beforehand.

    A pass is worth a point, and a beaver twice as much as a take. packed: int8[2, 32] before the
    roll; context: of the player on roll.
    """
    starts = [Start("No double", packed, (context, True), False)]
    if context.may_double and not is_of_no_use(context):
        starts.append(Start("Double, take", packed, (context.turned(), True), False))
    return starts


class Rollout:
    """Candidates and their trials so far; `run` plays more.

    Trial number t of every candidate has the same dice, which depend on the seed alone, so what is
    common to them drops out of their differences.

    Args:
        network: The net that both sides play by.
        root: Score, cube and rules as the side that decides has them when on roll; its equities
            are meant.
        starts: The candidates.
        settings: How the games are played.
        alternatives: Whether the candidates exclude each other, so that one clearly worse than the
            best needs no more trials.
    """

    def __init__(
        self, network: Network, root: CubeContext, starts: Sequence[Start], settings: Settings,
        alternatives: bool,
    ) -> None:  # fmt: skip
        self.root = root
        self.starts = tuple(starts)
        self.settings = settings
        self.net_hash = network.hash
        self.samples = [np.empty((0, COLUMNS)) for _ in starts]
        """float64[N, COLUMNS] of each candidate, as the kernel `roll_out` gives them."""
        self.alternatives = alternatives
        self._network = network
        self._situations, numbers = situations_from(root)
        plies = settings.most_plies
        contexts = [context for context, _ in numbers]
        self._courses = courses_of(contexts, plies) if plies else None
        self._numbers = [numbers[start.situation] for start in starts]
        self._boards = words_of(np.array([start.packed for start in starts]))
        self._method = settings.method()

    @property
    def databases(self) -> list[int]:
        """Points and positions of the bearoff databases that are used, 0 for none."""
        bearoff = self._network.quick.bearoff
        pairs = [bearoff.pair_points, bearoff.pair_positions]
        return [bearoff.points, bearoff.positions, *pairs]

    @property
    def trials(self) -> int:
        """Of the candidates that have most."""
        return max(len(each) for each in self.samples)

    def decision(self) -> CubeDecision:
        """The cube decision by the means, of a rollout of `cube_starts`.

        Where he may not double, as if a double changed nothing. There must be a trial.
        """
        no_double, *doubled = self.summaries()
        take = doubled[0].equity if doubled else no_double.equity
        beaver = 2 * take if self.root.beavers else take
        return CubeDecision(self.root, no_double.probabilities, no_double.equity, take, 1.0, beaver)

    def summaries(self) -> list[Summary]:
        """The figures of each candidate; there must be a trial."""
        return summarise(self.samples)

    def run(
        self,
        limits: Limits,
        workers: int | None = None,
        watcher: Callable[[], None] | None = None,
    ) -> Ending:
        """Play until a limit is reached; the trials are the same for any number of threads.

        workers: threads; None is one for each core. watcher: called now and then. An interrupt
        leaves the trials that are complete, and is raised.
        """
        active = [n for n, each in enumerate(self.samples) if len(each) == self.trials]
        with ThreadPoolExecutor(workers or os.cpu_count() or 1) as pool:
            while True:
                active, ending = self._look(active, limits)
                if ending:
                    return ending
                next_look = (self.trials // LOOK + 1) * LOOK
                self._extend(pool, active, min(next_look, limits.trials), watcher)

    def _look(self, active: list[int], limits: Limits) -> tuple[list[int], Ending | None]:
        """The candidates that need more trials, and whether none does.

        What it decides depends only on the trials of the last whole LOOK, so a rollout that was
        interrupted goes on as if it had not been.
        """
        if self.trials and self.trials % LOOK == 0:
            summaries = self.summaries()
            if limits.clear and self.alternatives and len(active) > 1:
                active = [
                    n
                    for n in active
                    if summaries[n].difference >= -limits.clear * summaries[n].difference_error
                ]
                if len(active) == 1:
                    return active, Ending.CLEAR
            if limits.until_se and max(summaries[n].error for n in active) <= limits.until_se:
                return active, Ending.ERROR
        return active, Ending.TRIALS if self.trials >= limits.trials else None

    def _extend(
        self,
        pool: ThreadPoolExecutor,
        active: list[int],
        stop: int,
        watcher: Callable[[], None] | None,
    ) -> None:
        """Trials of the active candidates up to number `stop`."""
        jobs = [
            pool.submit(self._play, n, first, min(first + SLICE, stop))
            for first in range(self.trials, stop, SLICE)
            for n in active
        ]
        kept = 0
        seen = time.monotonic()
        try:
            for number, job in enumerate(jobs, 1):
                job.result()
                if watcher and number % len(active) == 0 and time.monotonic() - seen > WATCHED:
                    self._keep(active, jobs[kept:number])
                    kept = number
                    watcher()
                    seen = time.monotonic()
        except BaseException:
            for job in jobs:
                job.cancel()
            wait(jobs)
            raise
        finally:
            done = list(takewhile(_is_played, jobs[kept:]))
            self._keep(active, done[: len(done) // len(active) * len(active)])

    def _keep(self, active: list[int], jobs: "list[Future[Array]]") -> None:
        """Add trials that were played for all the active candidates by turns."""
        for place, n in enumerate(active):
            played = [job.result() for job in jobs[place :: len(active)]]
            self.samples[n] = np.concatenate([self.samples[n], *played])

    def _play(self, number: int, first: int, stop: int) -> Array:
        samples = np.empty((stop - first, COLUMNS))
        roll_out(
            self._network.quick, self._boards, number, self._situations,
            self._numbers[number], self.starts[number].cube_first, self._method, self._courses,
            first, samples,
        )  # fmt: skip
        return samples


def _is_played(job: "Future[Array]") -> bool:
    return job.done() and not job.cancelled() and job.exception() is None
