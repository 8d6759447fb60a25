"""Solving bearoff databases on all cores, and keeping them."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from tqdm import tqdm

from engine.errors import FileFormatError
from engine.evaluation.bearoff import tables
from engine.evaluation.bearoff_store import (
    ONE_SIDED,
    TWO_SIDED,
    Database,
    check_room,
    read,
    write,
)
from engine.kernels.bearoff import Bearoff
from engine.kernels.bearoff_build import (
    list_plays,
    place_positions,
    solve_one_sided,
    solve_pairs,
)

__all__ = ["build", "default_tables", "solve"]

Array = np.ndarray[Any, Any]
Solve = Callable[[int, int], None]
"""Solves the positions from the first to before the second of those that do not depend on each
other."""

SLICE = 64  # positions, or pairs, that a thread takes at least: some tenths of a millisecond


def build(database: Database, progress: bool = True) -> None:
    """Make a database, or make it anew, and keep it.

    progress: whether to show a bar on standard error. Raises FileFormatError, and leaves nothing
    behind, when the disk or the memory is too small.
    """
    check_room(database)
    write(database, solve(database, progress))


def default_tables() -> Bearoff:
    """The databases of the default sizes, built first where they are missing or damaged."""
    return tables(*((database, _read_or_build(database)) for database in (ONE_SIDED, TWO_SIDED)))


def _read_or_build(database: Database) -> Array:
    try:
        return read(database)
    except FileFormatError:
        build(database)
        return read(database)


def solve(database: Database, progress: bool = False) -> Array:
    """The float64[.] numbers of a database, laid out as `engine.kernels.bearoff.Bearoff` says.

    They are the same whatever the number of cores.
    """
    try:
        numbers = np.empty(database.numbers)
    except MemoryError:
        raise FileFormatError(
            f"{database} bearoff database: no room for {database.bytes / 1e6:,.0f} MB in memory"
        ) from None
    if database.kind == "one-sided":
        steps, total = _one_sided_steps(database, numbers), database.positions
    else:
        steps, total = _two_sided_steps(database, numbers), database.positions**2
    cores = os.cpu_count() or 1
    unit = "position" if database.kind == "one-sided" else "pair"
    with (
        ThreadPoolExecutor(cores) as threads,
        tqdm(
            total=total, desc=str(database), unit=unit, unit_scale=True, disable=not progress
        ) as bar,
    ):
        for solve_range, count in steps:
            parts = min(cores, max(1, count // SLICE))
            bounds = [count * part // parts for part in range(parts + 1)]
            list(threads.map(solve_range, bounds[:-1], bounds[1:]))
            bar.update(count)
    return numbers


def _one_sided_steps(database: Database, tails: Array) -> Iterator[tuple[Solve, int]]:
    """What to solve one after the other: the positions of each pip count, and how many they are."""
    counts = place_positions(database.positions, database.points)
    means = np.zeros((database.positions, 2))
    pips = counts @ np.arange(database.points + 1)
    order = np.argsort(pips, kind="stable")
    for numbers in np.split(order, np.flatnonzero(np.diff(pips[order])) + 1):

        def solve_range(start: int, stop: int, numbers: Array = numbers) -> None:
            solve_one_sided(
                numbers[start:stop], counts, database.points, database.width, tails, means
            )

        yield solve_range, len(numbers)


def _two_sided_steps(database: Database, pairs: Array) -> Iterator[tuple[Solve, int]]:
    """What to solve one after the other, and how many pairs that is.

    A play leads from the pair (mine, theirs) to (theirs, less than mine). So when all pairs of
    positions below `last` are solved, those of `last` against each of them can be, then those of
    each of them, and itself, against `last`.
    """
    count = database.positions
    offsets, results = list_plays(count, database.points)
    for last in range(count):

        def row(start: int, stop: int, last: int = last) -> None:
            solve_pairs(offsets, results, pairs, count, last, last + 1, start, stop)

        def column(start: int, stop: int, last: int = last) -> None:
            solve_pairs(offsets, results, pairs, count, start, stop, last, last + 1)

        yield row, last
        yield column, last + 1
