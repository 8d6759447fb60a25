"""Match equity tables: the chance to win a match from a score between two games.

Before and after the Crawford game are two tables that are never mixed: `pre` has the scores up to
and including the Crawford game, `post` those after it, when the leader needs one point and the
trailer may double in every game.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from engine.errors import FileFormatError, NotationError

__all__ = ["DEFAULT_TABLE", "TABLES", "MatchEquityTable", "load_table"]

Array = np.ndarray[Any, Any]

TABLES = (
    "kazaross-xg2",
    "rockwell-kazaross",
    "g11",
    "jacobs",
    "mec26",
    "ortega",
    "snowie",
    "woolsey",
)
DEFAULT_TABLE = TABLES[0]


@dataclass(frozen=True, eq=False)
class MatchEquityTable:
    """Match-winning chances by points that the two sides still need.

    pre: float64[S + 1, S + 1]: by the points a player needs and those his opponent needs, up to
    and including the Crawford game; a side that needs 0 has won. post: float64[S + 1]: of the
    trailer by the points he needs, after the Crawford game, when the leader needs one.
    """

    name: str
    pre: Array
    post: Array

    def mwc(self, away: int, opponent_away: int, post_crawford: bool) -> float:
        """The match-winning chance of a player who needs `away` points, before a game."""
        if away <= 0:
            return 1.0
        if opponent_away <= 0:
            return 0.0
        if not post_crawford:
            return float(self.pre[away, opponent_away])
        if opponent_away == 1:
            return float(self.post[away])
        return 1 - float(self.post[opponent_away])


@cache
def load_table(name: str = DEFAULT_TABLE) -> MatchEquityTable:
    """One of `TABLES` by its name, or a table from a file."""
    if name in TABLES:
        text = (resources.files("engine.cube") / "tables" / f"{name}.csv").read_text()
        return _parsed(name, text.splitlines())
    raise NotationError(f"match equity table {name!r}: expected one of {', '.join(TABLES)}")


def _parsed(name: str, lines: Iterable[str]) -> MatchEquityTable:
    rows = [line.split(",") for line in lines if line and not line.startswith("#")]
    size = len(rows[0]) - 1
    pre = np.zeros((size + 1, size + 1))
    pre[0] = 1
    for away, row in enumerate(rows[1 : size + 1], 1):
        pre[away, 1:] = [float(cell) for cell in row[1:]]
    post = np.array([1.0, *map(float, rows[size + 1][1:])])
    return MatchEquityTable(name, pre, post)
