"""`acepoint tournament`: a round robin between players, games on shared dice."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from engine.errors import AcepointError
from engine.interfaces.cli.options import AsJson
from engine.interfaces.cli.output import print_json, print_table

if TYPE_CHECKING:
    from engine.arena.results import Results
    from engine.arena.schedule import RoundRobin

__all__ = ["Tournament"]

COUNTS = ("wins", "gammons", "backgammons")


@dataclass(frozen=True)
class Tournament:
    """Round robin on shared dice: points per game, and ratings with errors.

    Every player meets every other in money games without the cube. Each deal is played twice, the
    players exchanged; the 95 % intervals are over the deals.
    """

    players: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="PLAYER...")]
    """Two players or more: acepoint[:PLIES][:net=FILE], gnubg:PLIES, pubeval or random. PLIES are
    the rolls a player looks ahead."""

    games: Annotated[int, tyro.conf.arg(metavar="N")] = 1000
    """Games of each pair of players, an even number."""

    seed: Annotated[int, tyro.conf.arg(metavar="S")] = 0
    """Root of all dice: the same seed gives the same games, whatever the number of workers."""

    workers: Annotated[int | None, tyro.conf.arg(metavar="W")] = None
    """Processes that play; by default one a core."""

    out: Annotated[Path | None, tyro.conf.arg(metavar="FILE.db")] = None
    """SQLite file for the results. A tournament that was stopped goes on when the same command is
    given again."""

    as_json: AsJson = False

    def run(self) -> None:
        """Play what is not in the file yet, and print the tables or the JSON of the contract.

        Raises AcepointError for bad arguments, files and players.
        """
        self._check()
        from engine.arena.results import Results
        from engine.arena.runner import play
        from engine.arena.schedule import RoundRobin
        from engine.kernels import announce_compilation
        from engine.players.registry import try_player
        from engine.players.table import MoneyTable

        schedule = RoundRobin(self.players, self.games // 2)
        announce_compilation()
        fingerprints = [try_player(name) for name in self.players]
        settings = {"seed": self.seed, "fingerprints": fingerprints}
        with Results(schedule, settings, self.out) as results:
            try:
                play(schedule, MoneyTable(self.seed), results, self.workers or os.cpu_count() or 1)
            except KeyboardInterrupt:
                kept = f"the same command goes on from {self.out}" if self.out else "nothing kept"
                print(f"acepoint: stopped; {kept}", file=sys.stderr)
                raise
            report = _report(schedule, results)
        if self.as_json:
            print_json(report)
        else:
            _print_tables(report)

    def _check(self) -> None:
        if len(self.players) < 2:
            given = " ".join(self.players) or "none"
            raise AcepointError(f"players {given}: expected two or more")
        if self.games < 2 or self.games % 2:
            raise AcepointError(
                f"--games {self.games}: expected an even number, as every deal is played twice "
                "with the players exchanged"
            )
        if not 0 <= self.seed < 2**64:
            raise AcepointError(f"--seed {self.seed}: expected a number from 0 to 2^64 - 1")
        if self.workers is not None and self.workers < 1:
            raise AcepointError(f"--workers {self.workers}: expected 1 or more")


def _report(schedule: "RoundRobin", results: "Results") -> dict[str, Any]:
    """The JSON of the contract, for a tournament that is complete.

    `points_per_game` and `ci95`, half the width of its interval, are for player a; `wins`,
    `gammons` and `backgammons` are those of [a, b]: as everywhere, a gammon is counted among the
    wins too, and a backgammon among the gammons.
    """
    from engine.arena.statistics import estimate, ratings

    scores = {meeting: results.scores(meeting)[1] for meeting in schedule.meetings}
    pairs = []
    for (a, b), points in scores.items():
        mean, ci95 = estimate(points.mean(axis=1))
        counts = {
            name: [int((side >= least).sum()) for side in (points, -points)]
            for least, name in enumerate(COUNTS, start=1)
        }
        pairs.append(
            {
                "a": schedule.players[a],
                "b": schedule.players[b],
                "games": points.size,
                "points_per_game": mean,
                "ci95": ci95,
                **counts,
            }
        )
    rated = [
        {"player": schedule.players[rating.player], "rating": rating.rating, "ci95": rating.ci95}
        for rating in ratings(len(schedule.players), scores)
    ]
    return {"pairs": pairs, "ratings": rated}


def _print_tables(report: dict[str, Any]) -> None:
    print_table(
        ("a against b", "games", "points per game of a", *COUNTS),
        (
            (
                f"{pair['a']} - {pair['b']}",
                pair["games"],
                _with_interval(pair["points_per_game"], pair["ci95"]),
                *("{} - {}".format(*pair[name]) for name in COUNTS),
            )
            for pair in report["pairs"]
        ),
    )
    print_table(
        ("player", "rating: points per game against the field"),
        (
            (rated["player"], _with_interval(rated["rating"], rated["ci95"]))
            for rated in report["ratings"]
        ),
    )


def _with_interval(mean: float, ci95: float | None) -> str:
    return f"{mean:+.3f}" if ci95 is None else f"{mean:+.3f} ± {ci95:.3f}"
