"""What commands print: rich tables for people, one JSON object for programs."""

import json
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

    from engine.cube.decisions import CubeDecision

__all__ = ["CHANCES", "below_each_other", "decision_fields", "print_json", "print_table", "tables"]

PIPE_WIDTH = 200  # characters that a table may take when no terminal limits it
Column = tuple[str, ...]
PADDING = 3  # characters between two columns

CHANCES = ("win", "win g", "win bg", "lose g", "lose bg")
"""Over the five probabilities."""


def decision_fields(decision: "CubeDecision") -> dict[str, Any]:
    """What JSON says of every cube decision."""
    return {
        "no_double": decision.no_double,
        "double_take": decision.double_take,
        "double_pass": decision.double_pass,
        "action": decision.action,
        "take": decision.takes,
    }


def print_json(fields: Mapping[str, Any]) -> None:
    """The one object of a command run with `--json`."""
    print(json.dumps(fields))


def tables(
    headings: Iterable[str], rows: Iterable[Iterable[object]], width: int
) -> "Iterator[Table]":
    """A table, or several to stand below each other, so that none is wider than so many characters.

    Each has the first column; if that and one more are too wide, the table of the two is.
    """
    first, *others = zip(headings, *([str(cell) for cell in row] for row in rows), strict=True)
    columns, used = [first], _width(first)
    for column in others:
        if len(columns) > 1 and used + _width(column) > width:
            yield _table(columns)
            columns, used = [first], _width(first)
        columns.append(column)
        used += _width(column)
    yield _table(columns)


def below_each_other(made: "Iterable[Table]") -> "list[Table | str]":
    """Tables with an empty line between two of them."""
    return [each for one in made for each in ("", one)][1:]


def _width(column: Column) -> int:
    return max(map(len, column)) + PADDING


def _table(columns: list[Column]) -> "Table":
    """A table of columns, their headings first: one to the left, the others to the right."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    made = Table(box=SIMPLE_HEAD, show_edge=False)
    for number, (heading, *_) in enumerate(columns):
        made.add_column(heading, justify="right" if number else "left", no_wrap=True)
    for row in zip(*(cells for _, *cells in columns), strict=True):
        made.add_row(*row)
    return made


def print_table(headings: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """Print a table: if it is too wide for the terminal, or for a pipe, as several."""
    from rich.console import Console

    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else PIPE_WIDTH
    console = Console(highlight=False, markup=False, width=max(width, PIPE_WIDTH))
    with console.capture() as text:
        console.print(*below_each_other(tables(headings, rows, width)))
    print(text.get(), end="")  # rich would end the process if the reader had gone
