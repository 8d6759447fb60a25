"""Who meets whom, and which of it is still to be played, cut into chunks of some seconds each."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple, Protocol

import numpy as np

__all__ = ["Array", "Chunk", "Chunks", "Contest", "Meeting", "RoundRobin"]

Array = np.ndarray[Any, Any]

Meeting = tuple[int, int]
"""Two players by their numbers in the round robin, the lower first."""


class Contest(Protocol):
    """What is played. It can be sent to another process, and its scores depend on nothing else."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of what is counted beside the score."""
        ...

    def __call__(self, a: str, b: str, deals: Array) -> Array:
        """What player `a` has from the two games of each of deals int64[D]: int32[D, 2, 1 + K].

        The last axis is the score, won less lost, and then `columns`. The two games of a deal share
        their chances, with the sides exchanged.
        """
        ...


@dataclass(frozen=True)
class RoundRobin:
    """Every player meets every other in the same deals, 0 to `deals` - 1."""

    players: tuple[str, ...]
    deals: int

    @property
    def meetings(self) -> list[Meeting]:
        """All pairs of players, in the order in which they meet."""
        return list(combinations(range(len(self.players)), 2))


class Chunk(NamedTuple):
    """Some deals of one meeting, played in one go."""

    meeting: Meeting
    deals: Array


class Chunks:
    """Cuts the deals still to be played into chunks, each meeting's by the pace it showed so far.

    The first chunks of a meeting are small, so that slow players, too, soon have something to save.

    Args:
        missing: The deals, int64[D], still to be played of each meeting.
    """

    SECONDS = 3.0
    FIRST = 2
    GROWTH = 4
    MOST = 2048

    def __init__(self, missing: Mapping[Meeting, Array]) -> None:
        self._missing = {meeting: deals for meeting, deals in missing.items() if len(deals)}
        self._sizes = dict.fromkeys(missing, self.FIRST)

    def __iter__(self) -> Iterator[Chunk]:
        """Each chunk once; the size of the next is decided when it is asked for."""
        for meeting, deals in self._missing.items():
            start = 0
            while start < len(deals):
                size = self._sizes[meeting]
                yield Chunk(meeting, deals[start : start + size])
                start += size

    def took(self, chunk: Chunk, seconds: float) -> None:
        """Note how long a chunk took."""
        paced = int(len(chunk.deals) * self.SECONDS / max(seconds, 1e-6))
        self._sizes[chunk.meeting] = max(1, min(paced, self.GROWTH * len(chunk.deals), self.MOST))
