"""Match equity tables: the chance to win a match, between two games, from the points still needed.

Up to the Crawford game, and after it, when the leader needs one point and the trailer may double in
every game, are two tables that are never mixed: `pre` and `post`.

A table file is text. Lines that begin with `#` say where it comes from; then come a heading, the
chances of a player who needs 1, 2, ... points by what his opponent needs (his first row and column
are the Crawford game), and the trailer's chances after the Crawford game:

    # My table: measured in a million games
    away,1,2,3
    1,0.5,0.677,0.751
    2,0.323,0.5,0.599
    3,0.249,0.401,0.5
    post,0.5,0.488,0.323

Beyond its size a table goes on by the recursion of `fill_table`: each further score is worth what
Acepoint's own cube model makes of a game at it with the gammons of an average game.
"""

import math
import os
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from engine.backgammon.match import MAX_LENGTH
from engine.errors import AcepointError, FileFormatError, NotationError
from engine.kernels.cubeful import BOTH_SIDES
from engine.kernels.match_equity import fill_table

__all__ = [
    "BACKGAMMON_RATE",
    "DEFAULT_TABLE",
    "EFFICIENCY",
    "GAMMON_RATE",
    "TABLES",
    "MatchEquityTable",
    "compute_table",
    "load_table",
]

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

# With these the recursion from nothing is within 0.01 of Kazaross-XG2 everywhere, 0.001 on average.
GAMMON_RATE = 0.26
BACKGAMMON_RATE = 0.01
EFFICIENCY = BOTH_SIDES

ROUNDING = 0.0025  # printed tables have two or three decimals, and some miss symmetry by that


@dataclass(frozen=True, eq=False)
class MatchEquityTable:
    """Match-winning chances by the points that the two sides still need, up to MAX_LENGTH.

    name: as a user gives it. source: where it comes from, lines of text. size: the points up to
    which it was given; the rest is computed. pre: float64[65, 65], by the points a player needs and
    those his opponent needs, up to and including the Crawford game. post: float64[65], of the
    trailer after it, by the points he needs. Index 0 is not used.
    """

    name: str
    source: str
    size: int
    pre: Array
    post: Array

    def to_text(self) -> str:
        """The table as a file, without what lies beyond its size."""
        needs = range(1, self.size + 1)
        lines = [f"# {line}" for line in self.source.splitlines()]
        lines.append(",".join(["away", *map(str, needs)]))
        for away in needs:
            chances = self.pre[away, 1 : self.size + 1]
            lines.append(",".join([str(away), *(f"{chance:.6g}" for chance in chances)]))
        lines.append(",".join(["post", *(f"{self.post[away]:.6g}" for away in needs)]))
        return "\n".join(lines) + "\n"


def load_table(name: str | os.PathLike[str] = DEFAULT_TABLE) -> MatchEquityTable:
    """One of `TABLES` by its name, or a table from a file; a file is read once.

    Raises NotationError when it is neither, FileFormatError naming the line and what is wrong.
    """
    return _load(os.fspath(name))


@cache
def _load(name: str) -> MatchEquityTable:
    if name in TABLES:
        text = (resources.files("engine.cube") / "tables" / f"{name}.csv").read_text("utf-8")
        return _read(name, text)
    path = Path(name)
    if not path.exists():
        raise NotationError(
            f"match equity table {name!r}: expected a file or one of {', '.join(TABLES)}"
        )
    try:
        return _read(name, path.read_text("utf-8"))
    except OSError as error:
        raise FileFormatError(f"{name}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise FileFormatError(f"{name}: expected lines of text, found binary data") from None
    except AcepointError as error:
        raise FileFormatError(f"{name}: {error}") from None


def compute_table(
    gammon_rate: float = GAMMON_RATE, efficiency: float = EFFICIENCY, size: int = MAX_LENGTH
) -> MatchEquityTable:
    """A table from nothing, by the recursion of `fill_table`.

    gammon_rate: gammons and backgammons as a share of all wins; efficiency: of a cube that both
    sides can use, 0 (dead) to 1 (live). Raises NotationError for a value out of range.
    """
    for value, name in ((gammon_rate, "gammon rate"), (efficiency, "cube efficiency")):
        if not 0 <= value <= 1:
            raise NotationError(f"{name} {value}: expected a number from 0 to 1")
    if not 1 <= size <= MAX_LENGTH:
        raise NotationError(f"length {size}: expected a number from 1 to {MAX_LENGTH}")
    source = f"Computed by Acepoint: gammon rate {gammon_rate}, cube efficiency {efficiency}"
    nothing = np.zeros((1, 1)), np.zeros(1)
    return _extended("computed", source, size, *nothing, gammon_rate, efficiency)


def _extended(
    name: str, source: str, size: int, pre: Array, post: Array,
    gammon_rate: float = GAMMON_RATE, efficiency: float = EFFICIENCY,
) -> MatchEquityTable:  # fmt: skip
    """The table of what is given, pre[P + 1, P + 1] and post[Q + 1], and computed beyond it."""
    pre_given, post_given = len(pre) - 1, len(post) - 1
    whole = np.zeros((MAX_LENGTH + 1, MAX_LENGTH + 1))
    whole[: pre_given + 1, : pre_given + 1] = pre
    whole_post = np.zeros(MAX_LENGTH + 1)
    whole_post[: post_given + 1] = post
    rates = np.array([gammon_rate, min(BACKGAMMON_RATE, gammon_rate)])
    fill_table(whole, whole_post, pre_given, post_given, rates, efficiency / BOTH_SIDES)
    whole.setflags(write=False)
    whole_post.setflags(write=False)
    return MatchEquityTable(name, source, size, whole, whole_post)


def _read(name: str, text: str) -> MatchEquityTable:
    """The table of a file's text. Raises FileFormatError."""
    lines = list(enumerate(text.splitlines(), 1))
    source = "\n".join(line[1:].strip() for _, line in lines if line.startswith("#"))
    rows = [(n, line.split(",")) for n, line in lines if line.strip() and line[0] != "#"]
    size = len(rows) - 2
    if not 1 <= size <= MAX_LENGTH:
        raise FileFormatError(
            f"{len(rows)} rows: expected a heading, one for each of 1 to {MAX_LENGTH} points, post"
        )
    names = ["away", *map(str, range(1, size + 1)), "post"]
    for (number, cells), expected in zip(rows, names, strict=True):
        if cells[0].strip() != expected:
            raise FileFormatError(f"line {number} begins {cells[0]!r}: expected {expected!r}")
    pre = np.zeros((size + 1, size + 1))
    for away, (number, cells) in enumerate(rows[1:-1], 1):
        pre[away, 1:] = _chances(number, cells[1:], size, size)
    number, cells = rows[-1]
    post = np.array([0.0, *_chances(number, cells[1:], max(size - 1, 1), size)])
    _require_sound(pre[1:, 1:], post[1:])
    pre = (pre + 1 - pre.T) / 2
    return _extended(name, source, size, pre, post)


def _chances(number: int, cells: list[str], least: int, most: int) -> list[float]:
    if not least <= len(cells) <= most:
        raise FileFormatError(f"line {number} has {len(cells)} chances: expected {most}")
    chances = []
    for cell in cells:
        try:
            chance = float(cell)
        except ValueError:
            chance = math.nan
        if not 0 < chance < 1:
            raise FileFormatError(f"line {number}: {cell!r}: expected a chance between 0 and 1")
        chances.append(chance)
    return chances


def _require_sound(pre: Array, post: Array) -> None:
    """Raises FileFormatError for chances that no match could have; indices from 1 point on."""
    wrong = np.abs(pre + pre.T - 1) > ROUNDING
    if wrong.any():
        raise _fault(pre, wrong, "expected this and the opponent's chance to add up to 1")
    wrong = np.vstack((pre[1:] > pre[:-1], np.zeros_like(pre[:1], bool)))
    if wrong.any():
        raise _fault(pre, wrong, "expected no more for a player who needs one point more")
    if abs(post[0] - 0.5) > ROUNDING:
        raise FileFormatError(f"post: {post[0]:g} when both need 1 point: expected 0.5")
    for away in range(2, len(post) + 1):
        if post[away - 1] > post[away - 2]:
            raise FileFormatError(
                f"post: {post[away - 1]:g} at {away} points: expected no more than at {away - 1}"
            )
        if post[away - 1] < pre[away - 1, 0] - ROUNDING:
            raise FileFormatError(
                f"post: {post[away - 1]:g} at {away} points: expected no less than the "
                f"{pre[away - 1, 0]:g} of the Crawford game, in which the trailer has no cube"
            )


def _fault(pre: Array, wrong: Array, expected: str) -> FileFormatError:
    away, opponent_away = (int(index) + 1 for index in np.argwhere(wrong)[0])
    if expected.startswith("expected no more"):
        away += 1
    chance = pre[away - 1, opponent_away - 1]
    return FileFormatError(f"{chance:g} at {away} points against {opponent_away}: {expected}")
