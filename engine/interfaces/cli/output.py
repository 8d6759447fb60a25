"""What commands print: rich tables for people, one JSON object for programs."""

import json
import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["print_json", "print_table", "table"]

PIPE_WIDTH = 200  # columns that a table may take when no terminal limits it


def print_json(fields: Mapping[str, Any]) -> None:
    """The one object of a command run with `--json`."""
    print(json.dumps(fields))


def table(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> "Table":
    """A table: the first column to the left, the others to the right."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    made = Table(box=SIMPLE_HEAD, show_edge=False)
    for number, name in enumerate(columns):
        made.add_column(name, justify="right" if number else "left", no_wrap=True)
    for row in rows:
        made.add_row(*map(str, row))
    return made


def print_table(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """Print a `table`, as wide as the terminal lets it be."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else PIPE_WIDTH
    console = Console(highlight=False, markup=False, width=width)
    with console.capture() as text:
        console.print(table(columns, rows))
    print(text.get(), end="")  # rich would end the process if the reader had gone
