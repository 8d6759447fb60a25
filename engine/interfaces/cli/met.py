"""`acepoint met`: match equity tables."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal, Optional

import tyro

from engine.errors import NotationError
from engine.interfaces.cli.options import AsJson, Count, Table, require_range
from engine.interfaces.cli.output import print_json, print_table

if TYPE_CHECKING:
    from engine.cube.met import MatchEquityTable

__all__ = ["Met"]

SHOWN = 9  # points shown unless another number is asked for

Rate = Annotated[Optional[float], tyro.conf.arg(metavar="X", help_behavior_hint="")]


@dataclass(frozen=True)
class Met:
    """Show or compute a match equity table.

    Show: the match-winning chances, in per cent, of a player by the points that he (row) and his
    opponent (column) need, up to and including the Crawford game, which is the first row and
    column; then those of the trailer after the Crawford game.

    Compute: a table of your own by Acepoint's cube model, from the end of the match backwards, each
    score by the value of an average game (0-ply, as gnubg counts plies). It is printed as a file
    that --met takes.

    Example: acepoint met show --met jacobs
    """

    what: tyro.conf.Positional[Literal["show", "compute"]]
    """Show a table, or compute one."""
    met: Table = None
    points: Count = None
    """The most points that a side needs; by default 9 are shown and 25 computed."""
    gammon_rate: Rate = None
    """Compute: gammons and backgammons as a share of all wins; by default 0.26."""
    efficiency: Rate = None
    """Compute: of a cube that both sides can use, from 0 (dead) to 1 (live); by default 0.78."""
    as_json: AsJson = False

    def run(self) -> None:
        """Load or compute, and print."""
        from engine.backgammon.match import MAX_LENGTH

        require_range("--points", self.points, 1, MAX_LENGTH)
        if self.what == "compute":
            self._compute()
        else:
            self._show()

    def _show(self) -> None:
        from engine.cube.met import DEFAULT_TABLE, load_table

        if self.gammon_rate is not None or self.efficiency is not None:
            raise NotationError("--gammon-rate and --efficiency: expected with met compute only")
        table = load_table(self.met or DEFAULT_TABLE)
        points = self.points or SHOWN
        if self.as_json:
            _print_json(table, points)
            return
        needs = range(1, points + 1)
        print(f"\n {table.source.splitlines()[0]}\n" if table.source else "")
        rows = [[str(away), *_per_cent(table.pre[away, 1 : points + 1])] for away in needs]
        print_table(("", *map(str, needs)), rows)
        print("\n Trailer after the Crawford game:\n")
        print_table(("", *map(str, needs)), [["", *_per_cent(table.post[1 : points + 1])]])

    def _compute(self) -> None:
        from engine.cube.met import EFFICIENCY, GAMMON_RATE, compute_table

        if self.met is not None:
            raise NotationError(f"--met {self.met}: expected with met show only")
        gammon_rate = GAMMON_RATE if self.gammon_rate is None else self.gammon_rate
        efficiency = EFFICIENCY if self.efficiency is None else self.efficiency
        table = compute_table(gammon_rate, efficiency, self.points or 25)
        if self.as_json:
            _print_json(table, table.size)
        else:
            print(table.to_text(), end="")


def _print_json(table: "MatchEquityTable", points: int) -> None:
    print_json(
        {
            "met": table.name,
            "source": table.source,
            "pre": table.pre[1 : points + 1, 1 : points + 1].tolist(),
            "post": table.post[1 : points + 1].tolist(),
        }
    )


def _per_cent(chances: Iterable[float]) -> list[str]:
    return [f"{100 * chance:.1f}" for chance in chances]
