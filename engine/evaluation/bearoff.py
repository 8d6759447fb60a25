"""What the bearoff databases say: loading them, and looking positions up.

Whatever plays uses the databases that are there, and is not held up by those that are not: only
`acepoint bearoff` makes one, and `acepoint train`, whose targets are exact there.

In the one-sided database each side races without looking at the other, by the play with the least
mean number of rolls. Who trails does better to gamble: over all pairs with at most six checkers a
side the winning chance is 0.0009 from the exact one in the mean, and 0.014 at most. The engine does
not follow that play, but the one that leaves the best chance in the race that stands.
"""

import sys
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from engine.errors import FileFormatError
from engine.evaluation.bearoff_store import Database, Kind, present, read
from engine.kernels.bearoff import (
    ALL,
    FIRST,
    MAX_CHECKERS,
    Bearoff,
    number_of_board,
    outside,
    pair_of_board,
    values_of_boards,
)
from engine.kernels.movegen import words_of

__all__ = [
    "MEAN_PIPS",
    "Race",
    "databases",
    "is_exact",
    "load",
    "probabilities",
    "races",
    "tables",
]

Array = np.ndarray[Any, Any]

MEAN_PIPS = 49 / 6  # of a roll


@dataclass(frozen=True)
class Race:
    """How long a side takes to bear off."""

    pips: int
    rolls: Array
    """float64[.]: the chance that all checkers are off after exactly 0, 1, ... rolls, for a side
    that makes the plays with the least mean number of rolls."""
    first: Array
    """float64[.]: the same for the first checker off, for a side that races to save the gammon."""

    @property
    def mean(self) -> float:
        """Rolls needed in the mean."""
        return float(self.rolls @ np.arange(len(self.rolls)))

    @property
    def variance(self) -> float:
        """The variance of the number of rolls needed."""
        return float(self.rolls @ (np.arange(len(self.rolls)) - self.mean) ** 2)

    @property
    def epc(self) -> float:
        """The effective pip count: mean rolls times mean pips of a roll (Trice, "Backgammon Boot
        Camp").
        """
        return self.mean * MEAN_PIPS

    @property
    def wastage(self) -> float:
        """The pips that rolls will waste: the effective pip count less the pip count."""
        return self.epc - self.pips


def tables(
    one_sided: tuple[Database, Array] | None = None, two_sided: tuple[Database, Array] | None = None
) -> Bearoff:
    """The kernels' form of databases with their float64[.] numbers; None for one there is not."""
    one, tails = one_sided or (None, np.empty(0))
    two, pairs = two_sided or (None, np.empty(0))
    return Bearoff(
        _read_only(tails),
        one.width if one else 0,
        one.positions if one else 0,
        one.points if one else 0,
        _read_only(pairs),
        two.positions if two else 0,
        two.points if two else 0,
        _read_only(np.array([outside(each.points if each else 0) for each in (one, two)])),
    )


def databases(bearoff: Bearoff) -> list[Database]:
    """The databases that `tables` has made this of."""
    made_of: list[tuple[Kind, int, int]] = [
        ("one-sided", bearoff.points, bearoff.positions),
        ("two-sided", bearoff.pair_points, bearoff.pair_positions),
    ]
    return [
        database
        for kind, points, positions in made_of
        if positions
        for checkers in range(1, MAX_CHECKERS + 1)
        if (database := Database(kind, points, checkers)).positions == positions
    ]


def _read_only(numbers: Array) -> Array:
    """A view that cannot be written, as a mapped file is: the kernels are compiled for one type."""
    view = numbers.view()
    view.setflags(write=False)
    return view


@cache
def load() -> Bearoff:
    """The best sound databases of this user, mapped once; empty where there are none.

    A damaged one, or one of another version, is told of on standard error and not used.
    """
    return tables(_best("one-sided"), _best("two-sided"))


def _best(kind: Kind) -> tuple[Database, Array] | None:
    for database in present(kind):
        try:
            return database, read(database)
        except FileFormatError as error:
            print(f"acepoint: {error}: not used (see acepoint bearoff build)", file=sys.stderr)
    return None


def probabilities(bearoff: Bearoff, packed: Array) -> tuple[Array, Array]:
    """The five probabilities of those of N positions that are in a database.

    packed: int8[N, 2, 32], none finished. Returns float32[N, 5] for the player on roll, and
    bool[N]: which are known; the rows of the others are without meaning.
    """
    values = np.zeros((len(packed), 5), np.float32)
    known = np.zeros(len(packed), np.bool_)
    values_of_boards(bearoff, words_of(packed), values.ravel(), known)
    return values, known


def races(bearoff: Bearoff, packed: Array) -> tuple[Race, Race] | None:
    """The races of the player on roll and the opponent, of one int8[2, 32] packed board; None when
    one of them is not in the one-sided database.
    """
    words = words_of(packed[None])
    sides = []
    for side in (0, 1):
        number = number_of_board(words, side, bearoff.points)
        if not 0 <= number < bearoff.positions:
            return None
        tails = bearoff.tails.reshape(-1, 2, bearoff.width)[number]
        all_off, first_off = (
            np.trim_zeros(-np.diff(tails[row], prepend=1, append=0), "b") + 0.0
            for row in (ALL, FIRST)
        )
        sides.append(Race(int(packed[side] @ np.arange(32)), all_off, first_off))
    return sides[0], sides[1]


def is_exact(bearoff: Bearoff, packed: Array) -> bool:
    """Whether one int8[2, 32] packed board is in the two-sided database."""
    return bool(pair_of_board(bearoff, words_of(packed[None])) >= 0)
