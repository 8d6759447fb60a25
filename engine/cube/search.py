"""Lookahead with the cube: values and plays n plies ahead; plies are counted as gnubg counts them.

It stands above the evaluation because every value in the tree is one with the cube; see
`engine.kernels.lookahead`.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from engine.cube.context import Contexts, CubeContext, Owner, cubes_of, distinct
from engine.cube.equity import CubeEquities, to_equities
from engine.cube.evaluator import Ranking
from engine.errors import AcepointError
from engine.evaluation import outcome
from engine.kernels.lookahead import NEVER, Courses, Filter, keep_best
from engine.kernels.lookahead_batches import choose_results_ahead, values_ahead
from engine.kernels.movegen import boards_of, words_of
from engine.kernels.net import Net

__all__ = [
    "DEFAULT_FILTER",
    "FILTERS",
    "MAX_PLIES",
    "Progress",
    "Search",
    "courses_of",
    "filter_named",
    "tell_nobody",
]

Array = np.ndarray[Any, Any]

MAX_PLIES = 4
MOST_AT_ONCE = 64  # positions before progress is told, or Ctrl-C heard

# For each ply: how many plays are looked at one ply deeper, within what equity of the best. On
# 2,000 match decisions narrow looks two plies ahead for 1.6 plays on average, normal for 2.1 and
# wide for 5.4; the PR of acepoint-2 with them is 1.55, 1.32 and 1.29, that at 0-ply 4.44.
FILTERS = {
    "narrow": ((6, 0.12), (2, 0.05), (2, 0.03), (2, 0.03)),
    "normal": ((10, 0.16), (3, 0.05), (3, 0.04), (2, 0.03)),
    "wide": ((16, 0.32), (8, 0.16), (6, 0.12), (4, 0.08)),
    "full": ((4096, np.inf),) * MAX_PLIES,
}
DEFAULT_FILTER = "normal"


class _Row(NamedTuple):
    """A situation of a course: where it leads to, by row of the course."""

    context: CubeContext
    other: int
    doubled: int
    beavered: int
    held: int


def filter_named(name: str, plies: int) -> Filter:
    """The move filter of that name for so many plies. Raises AcepointError."""
    if not isinstance(plies, int | np.integer) or not 0 <= plies <= MAX_PLIES:
        raise AcepointError(f"plies {plies!r}: expected 0 to {MAX_PLIES}")
    if name not in FILTERS:
        raise AcepointError(f"filter {name!r}: expected one of {', '.join(FILTERS)}")
    most, within = zip(*FILTERS[name], strict=True)
    return Filter(np.array(most[:plies], np.int64), np.array(within[:plies], np.float64))


def courses_of(contexts: Sequence[CubeContext], plies: int, turning: bool = True) -> Courses:
    """Where the cube can go within so many plies, in the kernels' form.

    turning: whether the player on roll may turn the cube at once, as the situation allows.
    """
    courses = [_course(context, plies, turning) for context in contexts]
    first = np.cumsum([0, *map(len, courses)])
    rows = [row for course in courses for row in course]
    starts = np.repeat(first[:-1], np.diff(first))
    other, doubled, beavered, held = np.array([row[1:] for row in rows], np.int64).reshape(-1, 4).T
    is_money = np.array([row.context.is_money for row in rows], np.bool_)
    return Courses(
        cubes_of([row.context for row in rows]),
        first,
        np.where(other == NEVER, NEVER, other + starts),
        np.where(doubled == NEVER, NEVER, doubled + starts),
        np.where(beavered == NEVER, NEVER, beavered + starts),
        held.copy(),
        np.where(is_money, 0.0, 1.0),
        np.where(is_money, 2.0, 1.0),
    )


@lru_cache(maxsize=1 << 14)
def _course(start: CubeContext, plies: int, turning: bool) -> tuple[_Row, ...]:
    """The rows of one course."""
    numbers = {(_plain(start), turning): 0}
    held: dict[int, int] = {}
    on_roll = list(numbers)
    for depth in range(plies):
        staying = dict.fromkeys(on_roll)
        for context, may_turn in on_roll:
            staying.update(dict.fromkeys((turned, True) for turned in _turned(context, may_turn)))
        for key in staying:
            row = numbers.setdefault(key, len(numbers))
            held[row] = held.get(row, 0) | 1 << depth
        on_roll = list(dict.fromkeys((_plain(context.flipped()), True) for context, _ in staying))
        for key in on_roll:
            numbers.setdefault(key, len(numbers))

    def row_of(contexts: Sequence[CubeContext]) -> list[int]:
        return [numbers.get((context, True), NEVER) for context in contexts]

    rows = []
    for (context, may_turn), row in numbers.items():
        doubled, beavered = (*row_of(_turned(context, may_turn)), NEVER, NEVER)[:2]
        (other,) = row_of([_plain(context.flipped())])
        rows.append(_Row(context, other, doubled, beavered, held.get(row, 0)))
    return tuple(rows)


def _turned(context: CubeContext, may_turn: bool) -> list[CubeContext]:
    """The situations before the roll of a player who has doubled, and who has been beavered."""
    if not may_turn or not context.may_double or context.is_dead:
        return []
    return [_plain(context.turned(times)) for times in (1, 2)[: 1 + context.beavers]]


def _plain(context: CubeContext) -> CubeContext:
    """The same, without what makes no difference to the values: equal situations become one."""
    if not context.is_money:
        return context
    return replace(context, cube=1, jacoby=context.jacoby and context.owner == Owner.CENTRE)


Progress = Callable[[int, int], object]
"""Told how many positions more are done, and how many there are."""


def tell_nobody(_done: int, _count: int) -> None:
    """No progress is shown."""


@dataclass(frozen=True)
class Search:
    """The `engine.cube.evaluator.Evaluator` that looks ahead with a net, 1 ply or more.

    net: the net in the kernels' form; filters: which plays are looked at deeper, for each ply;
    threads: how many work at once, which changes no result; progress: told what is done.

    Raises AcepointError for fewer than one thread.
    """

    net: Net
    filters: Filter
    threads: int = 1
    progress: Progress = tell_nobody

    def __post_init__(self) -> None:
        """Checks the threads."""
        if not isinstance(self.threads, int) or self.threads < 1:
            raise AcepointError(f"threads {self.threads!r}: expected 1 or more")

    @property
    def plies(self) -> int:
        """Rolls to look ahead."""
        return len(self.filters.most)

    def evaluate(self, packed: Array) -> Array:
        """See `Evaluator`."""
        return self._values(packed, CubeContext().without_cube(), self.plies)[1]

    def choose(self, packed: Array, dice: Array, contexts: Contexts | None) -> Array:
        """See `Evaluator`."""
        if contexts is None:
            contexts = CubeContext().without_cube()
        situations, index = distinct(contexts, len(packed))
        courses = courses_of([situation.flipped() for situation in situations], self.plies)
        words, chosen = words_of(packed), np.empty((len(packed), 8), np.uint64)
        rolled = np.ascontiguousarray(dice, np.int8)

        def work(part: slice) -> None:
            choose_results_ahead(
                self.net, courses, index[part], self.filters, words[part], rolled[part],
                chosen[part],
            )  # fmt: skip

        self._share(len(packed), work)
        return boards_of(chosen)

    def rank(self, results: Array, context: CubeContext) -> Ranking:
        """See `Evaluator`."""
        theirs = context.flipped()
        values, five = self._values(results, theirs, 0)
        plies = np.zeros(len(results), np.int64)
        order = np.arange(len(results))
        won, _, _, lost, *_ = cubes_of([theirs]).stakes[0, 0]
        kept = len(results)
        words = words_of(results)
        for ply, (most, within) in enumerate(zip(*self.filters, strict=True), start=1):
            kept = keep_best(values, five, words, order, kept, most, within * (won - lost) / 2)
            rows = order[:kept]
            values[rows], five[rows] = self._values(results[rows], theirs, ply)
            plies[rows] = ply
        keep_best(values, five, words, order, kept, 1, 0.0)
        (equities,) = to_equities(values[None], cubes_of([theirs]), np.zeros(1, np.int64))
        return Ranking(order, -equities, outcome.flip(five), plies)

    def cube(self, packed: Array, contexts: Contexts) -> tuple[CubeEquities, Array]:
        """See `Evaluator`."""
        situations, index = distinct(contexts, len(packed))
        mine = [situations[number] for number in index]
        beavered = np.flatnonzero([context.beavers for context in mine])
        boards = np.concatenate([packed, packed, packed[beavered]])
        asked = mine + [_plain(context.turned()) for context in mine]
        asked += [_plain(mine[row].turned(2)) for row in beavered]
        values, five = self._values(boards, asked, self.plies, turning=False)
        held, taken, beaver = np.split(values, [len(packed), 2 * len(packed)])
        is_money = np.array([context.is_money for context in mine], np.bool_)
        taken = np.where(is_money, 2 * taken, taken)
        cubes = cubes_of(situations)
        actions = np.column_stack((held, taken, cubes.stakes[index, 0, 0], taken))
        actions[beavered, 3] = 4 * beaver
        return CubeEquities(*to_equities(actions, cubes, index).T), five[: len(packed)]

    def _values(
        self, packed: Array, contexts: Contexts, plies: int, turning: bool = True
    ) -> tuple[Array, Array]:
        """float64[N] values of N positions for the player on roll, and float32[N, 5]."""
        situations, index = distinct(contexts, len(packed))
        courses = courses_of(situations, plies, turning)
        words = words_of(packed)
        values, five = np.empty(len(packed)), np.empty((len(packed), 5), np.float32)

        def work(part: slice) -> None:
            values_ahead(
                self.net, courses, index[part], plies, words[part], values[part], five[part]
            )

        self._share(len(packed), work)
        return values, five

    def _share(self, count: int, work: Callable[[slice], None]) -> None:
        """Let the threads do `count` positions, some at a time."""
        step = max(1, min(MOST_AT_ONCE, -(-count // (4 * self.threads))))
        parts = [slice(start, start + step) for start in range(0, count, step)]
        if self.threads == 1:
            for part in parts:
                work(part)
                self.progress(min(step, count - part.start), count)
            return
        with ThreadPoolExecutor(self.threads) as pool:
            try:
                for part, _ in zip(parts, pool.map(work, parts), strict=True):
                    self.progress(min(step, count - part.start), count)
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
