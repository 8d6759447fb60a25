import multiprocessing
import os
import sqlite3
import time
from pathlib import Path

import numpy as np
import pytest

from engine.arena.results import Results
from engine.arena.runner import play
from engine.arena.schedule import Array, Chunk, Chunks, RoundRobin
from engine.arena.workers import Workers
from engine.errors import AcepointError

SCHEDULE = RoundRobin(("anna", "bert", "carl"), 40)


class Lottery:
    """A contest without a game: the scores are drawn from the names and the deal's number."""

    columns = ("tickets",)

    def __init__(self, seconds: float = 0.0) -> None:
        self._seconds = seconds

    def __call__(self, a: str, b: str, deals: Array) -> Array:
        time.sleep(self._seconds * len(deals))
        names = [ord(letter) for letter in a + b]
        draws = [np.random.default_rng([*names, deal]).integers(-3, 4, (2, 2)) for deal in deals]
        return np.array(draws, np.int32)


class Refusing(Lottery):
    def __call__(self, a: str, b: str, _deals: Array) -> Array:
        raise AcepointError(f"{a} will not play {b}")


class Dying(Lottery):
    def __call__(self, *_arguments: object) -> Array:
        os._exit(3)


def final_scores(results: Results) -> dict[tuple[int, int], list[list[list[int]]]]:
    assert not any(deals.size for deals in results.missing().values())
    return {meeting: results.table(meeting)[1].tolist() for meeting in SCHEDULE.meetings}


@pytest.fixture(scope="module")
def expected() -> dict[tuple[int, int], list[list[list[int]]]]:
    players = SCHEDULE.players
    return {
        (a, b): Lottery()(players[a], players[b], np.arange(SCHEDULE.deals)).tolist()
        for a, b in SCHEDULE.meetings
    }


@pytest.mark.parametrize("workers", [1, 3])
def test_every_deal_is_played_whatever_the_number_of_workers(
    workers: int, expected: dict[tuple[int, int], list[list[list[int]]]]
) -> None:
    with Results(SCHEDULE, Lottery.columns, {}) as results:
        play(SCHEDULE, Lottery(), results, workers)
        assert final_scores(results) == expected


class InterruptedResults(Results):
    """Ctrl-C after the second chunk."""

    chunks = 0

    def add(self, chunk: Chunk, scores: Array) -> None:
        super().add(chunk, scores)
        self.chunks += 1
        if self.chunks == 2:
            raise KeyboardInterrupt


def test_an_interrupted_run_goes_on_to_the_same_result(
    tmp_path: Path, expected: dict[tuple[int, int], list[list[list[int]]]]
) -> None:
    path = tmp_path / "results.db"
    with InterruptedResults(SCHEDULE, Lottery.columns, {}, path) as results:
        with pytest.raises(KeyboardInterrupt):
            play(SCHEDULE, Lottery(), results, 1)
        saved = SCHEDULE.deals - len(results.missing()[0, 1])
    assert saved == (1 + Chunks.GROWTH) * Chunks.FIRST

    with Results(SCHEDULE, Lottery.columns, {}, path) as results:
        play(SCHEDULE, Lottery(), results, 2)
        assert final_scores(results) == expected
        play(SCHEDULE, Refusing(), results, 2)  # nothing is left to play
        assert final_scores(results) == expected


def slow_run(path: Path) -> None:
    with Results(SCHEDULE, Lottery.columns, {}, path) as results:
        play(SCHEDULE, Lottery(0.02), results, 1)


def rows(path: Path) -> int:
    try:
        database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        try:
            return int(database.execute("SELECT COUNT(*) FROM result").fetchone()[0])
        finally:
            database.close()
    except sqlite3.OperationalError:
        return 0


def test_a_killed_run_goes_on_to_the_same_result(
    tmp_path: Path, expected: dict[tuple[int, int], list[list[list[int]]]]
) -> None:
    path = tmp_path / "results.db"
    process = multiprocessing.get_context("spawn").Process(target=slow_run, args=(path,))
    process.start()
    deadline = time.monotonic() + 30
    while not rows(path) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.kill()
    process.join()
    assert 0 < rows(path) < SCHEDULE.deals * len(SCHEDULE.meetings)

    with Results(SCHEDULE, Lottery.columns, {}, path) as results:
        play(SCHEDULE, Lottery(), results, 2)
        assert final_scores(results) == expected


def test_an_error_in_a_worker_is_raised_here() -> None:
    with (
        Results(SCHEDULE, Lottery.columns, {}) as results,
        pytest.raises(AcepointError, match=r"^anna will not play bert$"),
    ):
        play(SCHEDULE, Refusing(), results, 2)


def test_the_death_of_a_worker_is_reported() -> None:
    with (
        Results(SCHEDULE, Lottery.columns, {}) as results,
        pytest.raises(AcepointError, match=r"worker process has died \(exit code 3\)"),
    ):
        play(SCHEDULE, Dying(), results, 2)


def test_no_worker_outlives_the_team() -> None:
    with Workers(Lottery(0.5), SCHEDULE.players, 2) as team:
        assert len(multiprocessing.active_children()) == 2
        next(team.play([Chunk((0, 1), np.arange(1)), Chunk((0, 1), np.arange(100))]))
    assert not multiprocessing.active_children()
