"""`acepoint bench`: the speed table."""

import contextlib
import os
import platform
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from engine.interfaces.cli.options import AsJson, Net
from engine.interfaces.cli.output import print_json, print_table

if TYPE_CHECKING:
    from engine.interfaces.peers import Row

__all__ = ["Bench"]


@dataclass(frozen=True)
class Bench:
    """Measure the speed on one core, on positions from real games.

    gnubg stands for the package gnubg-nn in move generation and static evaluation and for the
    package gnubg in the best play, for the program gnubg in rollouts; sage for bgsage. All are at
    0-ply unless the row says otherwise; plies are counted as gnubg counts them.

    Example: acepoint bench --peers
    """

    peers: bool = False
    """Measure the other engines that are installed, too."""
    net: Net = None
    as_json: AsJson = False

    def run(self) -> None:
        """Measure and print."""
        from engine.interfaces.benchmark import measure

        with _one_core():
            rows = measure(self.net, self.peers)
        if self.as_json:
            print_json({"machine": _machine(), "rows": [row._asdict() for row in rows]})
        else:
            print(_machine())
            print_table(
                ("one core", "acepoint", "gnubg", "sage", "unit", "times gnubg", "times sage"),
                (_cells(row) for row in rows),
            )


@contextlib.contextmanager
def _one_core() -> Iterator[None]:
    """Keep this process and those it starts on one core, where the system can."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(allowed)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def _machine() -> str:
    """The processor and the Python."""
    processor = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        models = [
            line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")
        ]
        processor = models[0].partition(":")[2].strip() if models else processor
    return f"{processor}, {os.cpu_count()} cores, Python {platform.python_version()}"


def _cells(row: "Row") -> list[str]:
    figures = [row.acepoint, row.gnubg, row.sage]
    times = ["-" if peer is None else f"{row.acepoint / peer:.1f}" for peer in figures[1:]]
    return [row.what, *map(_figure, figures), row.unit, *times]


def _figure(figure: float | None) -> str:
    if figure is None:
        return "-"
    return f"{figure:,.0f}" if figure >= 10 else f"{figure:.2f}"
