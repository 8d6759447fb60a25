"""`acepoint bearoff`: exact databases of the end of the game."""

import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, Optional

import tyro

from engine.errors import NotationError, PositionError
from engine.interfaces.cli.options import AsJson, Count, Table, VariantName
from engine.interfaces.cli.output import decision_fields, print_json, print_table
from engine.interfaces.cli.situation import print_situation, read_situation

if TYPE_CHECKING:
    from engine.backgammon.position import Position
    from engine.cube.bearoff import BearoffAnalysis
    from engine.cube.context import CubeContext
    from engine.evaluation.bearoff import Race
    from engine.evaluation.bearoff_store import Database

__all__ = ["Bearoff"]

BAR = 26  # characters of the longest bar of a picture
SHOWN = 0.0005  # the least chance that is

BearoffText = Annotated[
    Optional[str],
    tyro.conf.Positional,
    tyro.conf.arg(
        help="Show: a gnubg ID (position, or position:match), an XGID or a FIBS board string.",
        metavar="POSITION",
        help_behavior_hint="",
    ),
]
KindName = Annotated[
    Literal["both", "one-sided", "two-sided"], tyro.conf.arg(help="Build: the database.")
]


@dataclass(frozen=True)
class Bearoff:
    """Build exact bearoff databases, or show what they say of a position.

    Build: once, some seconds, 55 MB in the cache folder; from then on every command uses them. The
    one-sided database has the number of rolls that a side needs to bear off, the two-sided one the
    exact chances and money equities with the cube. A sound one is not built again.

    Show: how many rolls both sides need, as a picture; the effective pip count, which is the mean
    number of rolls times 49/6, and what of it is wastage; winning chances, equities, cube action.
    They are exact in the two-sided database. Otherwise the sides race without looking at each
    other, and the cube is judged by the model, as it always is in a match (0-ply, as gnubg counts
    plies).

    Example: acepoint bearoff show KwIAQFIAAAAAAA
    """

    what: tyro.conf.Positional[Literal["build", "show"]]
    """Build the databases, or show a position."""
    position: BearoffText = None
    kind: KindName = "both"
    points: Count = None
    """Build: the points, from the ace point, on which the checkers are; by default 6."""
    checkers: Count = None
    """Build: the most checkers of a side; by default 15 one-sided and 6 two-sided."""
    met: Table = None
    variant: VariantName = "backgammon"
    as_json: AsJson = False

    def run(self) -> None:
        """Build or show, and print."""
        if self.what == "build":
            if self.position is not None:
                raise NotationError(f"{self.position!r}: expected with bearoff show only")
            self._build()
            return
        given = {"kind": self.kind != "both", "points": self.points, "checkers": self.checkers}
        for name, value in given.items():
            if value is not None and value is not False:
                raise NotationError(f"--{name}: expected with bearoff build only")
        if self.position is None:
            raise NotationError("bearoff show: expected a position")
        self._show(self.position)

    def _build(self) -> None:
        from engine.evaluation.bearoff_store import DEFAULTS, Database, is_sound

        rows = []
        for default in DEFAULTS.values():
            if self.kind in ("both", default.kind):
                points = default.points if self.points is None else self.points
                checkers = default.checkers if self.checkers is None else self.checkers
                database = Database(default.kind, points, checkers)
                began = time.perf_counter()
                built = not is_sound(database)
                if built:
                    _build(database)
                rows.append((database, built, time.perf_counter() - began))
        if self.as_json:
            print_json({"databases": [_database_fields(*row) for row in rows]})
            return
        print_table(
            ("database", "positions", "MB", "seconds", "file"),
            [
                (
                    str(database),
                    f"{database.positions:,}",
                    f"{database.bytes / 1e6:.1f}",
                    f"{seconds:.1f}" if built else "was there",
                    database.path,
                )
                for database, built, seconds in rows
            ],
        )

    def _show(self, text: str) -> None:
        position, _, context = read_situation(text, None, self.variant, self.met)

        from engine.backgammon.board import HOME
        from engine.cube.bearoff import analyse
        from engine.evaluation.bearoff import load
        from engine.kernels.movegen import pack

        if not position.board[:, HOME + 1 :].any():
            _build_what_lacks()
        analysis = analyse(load(), pack(position.board[None]), context)
        if analysis is None:
            raise PositionError(
                f"position {text!r}: not in a bearoff database; expected all checkers of both "
                "sides in their home boards"
            )
        if self.as_json:
            print_json(_fields(position, analysis))
        else:
            _print(position, context, analysis)


def _build(database: "Database") -> None:
    """Build a database with a bar; Ctrl-C is told of before it ends the command."""
    from engine.evaluation.bearoff_build import build

    try:
        build(database)
    except KeyboardInterrupt:
        print(f"acepoint: stopped; no {database} database was written", file=sys.stderr)
        raise


def _build_what_lacks() -> None:
    """Build the default database of a kind where no sound one covers it."""
    from engine.evaluation.bearoff import databases, load
    from engine.evaluation.bearoff_store import DEFAULTS

    found = {each.kind: each for each in databases(load())}
    for kind, database in DEFAULTS.items():
        if kind not in found or not found[kind].covers(database):
            print(f"building the {database} bearoff database (once) ...", file=sys.stderr)
            _build(database)
            load.cache_clear()


def _database_fields(database: "Database", built: bool, seconds: float) -> dict[str, Any]:
    return {
        "kind": database.kind,
        "points": database.points,
        "checkers": database.checkers,
        "positions": database.positions,
        "bytes": database.bytes,
        "file": str(database.path),
        "built": built,
        "seconds": seconds,
    }


def _fields(position: "Position", analysis: "BearoffAnalysis") -> dict[str, Any]:
    from engine.evaluation.outcome import equity

    decision = analysis.decision
    return {
        "position": position.id,
        "exact": analysis.exact,
        "races": analysis.races and [_race_fields(race) for race in analysis.races],
        "probabilities": [float(p) for p in decision.probabilities],
        "equity": float(equity(decision.probabilities)),
        **decision_fields(decision),
        "money": {
            owner.name.lower(): {"no_double": each.no_double, "equity": each.equity}
            for owner, each in analysis.money.items()
        },
    }


def _race_fields(race: "Race") -> dict[str, Any]:
    return {
        "pips": race.pips,
        "mean_rolls": race.mean,
        "variance": race.variance,
        "epc": race.epc,
        "wastage": race.wastage,
        "rolls": race.rolls.tolist(),
        "first_checker": race.first.tolist(),
    }


def _print(position: "Position", context: "CubeContext", analysis: "BearoffAnalysis") -> None:
    from engine.evaluation.outcome import equity
    from engine.interfaces.situation_text import HOLDERS

    decision = analysis.decision
    print_situation(position, context)
    print()
    if analysis.races:
        _print_races(analysis.races)
    source = "exact" if analysis.exact else "each side racing by itself, the cube by the model"
    win, gammon, _, lost_gammon, _ = (100 * float(p) for p in decision.probabilities)
    print(
        f"\n Chances of X ({source}): win {win:.2f} %, "
        f"a gammon {gammon:.2f} %, lose a gammon {lost_gammon:.2f} %"
    )
    print(f" Equity without the cube {float(equity(decision.probabilities)):+.4f}\n")
    rows = [(HOLDERS[owner], each) for owner, each in analysis.money.items()]
    if not context.is_money:
        rows.append(("this score, in EMG", decision))
    elif context.turns_left is not None:
        rows.append(("this highest cube", decision))
    print_table(
        ("Money, the cube", "no double", "double, take", "double, pass", "equity", "action"),
        [
            (
                name,
                f"{each.no_double:+.4f}",
                f"{each.double_take:+.4f}" if each.context.may_double else "",
                f"{each.double_pass:+.4f}" if each.context.may_double else "",
                f"{each.equity:+.4f}",
                each.action,
            )
            for name, each in rows
        ],
    )
    if not context.is_money:
        print(f"\n Match-winning chance: {100 * context.mwc(decision.equity):.2f} %")
    print(f"\n Proper cube action: {decision.action}")


def _print_races(races: "tuple[Race, Race]") -> None:
    columns = ("", "pips", "mean rolls", "deviation", "EPC", "wastage")
    print_table(
        columns,
        [
            (
                side,
                race.pips,
                f"{race.mean:.4f}",
                f"{race.variance**0.5:.4f}",
                f"{race.epc:.3f}",
                f"{race.wastage:.3f}",
            )
            for side, race in zip("XO", races, strict=True)
        ],
    )
    print(f"\n rolls  {'X':<{BAR + 8}}O")
    chances = [dict(enumerate(race.rolls.tolist())) for race in races]
    shown = [n for each in chances for n, chance in each.items() if chance >= SHOWN]
    longest = max(max(each.values()) for each in chances)
    for rolls in range(min(shown), max(shown) + 1):
        bars = (_bar(each.get(rolls, 0), longest) for each in chances)
        print(f" {rolls:5}  {''.join(bars)}".rstrip())


def _bar(chance: float, longest: float) -> str:
    """A bar and the chance in per cent, BAR + 8 wide."""
    text = f"{'#' * round(BAR * chance / longest)} {100 * chance:.1f}" if chance >= SHOWN else ""
    return f"{text:<{BAR + 8}}"
