"""`acepoint tournament`: a round robin between players on shared dice."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import tyro

from engine.errors import AcepointError
from engine.interfaces.cli.options import (
    MOST_AUTOMATIC_DOUBLES,
    AsJson,
    Count,
    require_range,
)
from engine.interfaces.cli.output import print_json
from engine.interfaces.cli.standings import print_standings, standings

if TYPE_CHECKING:
    from engine.backgammon.match import Match

__all__ = ["Tournament"]

GAMES, MATCHES, LENGTH = 1000, 100, 7  # unless given
_MOST_UNITS = 10**7  # games or matches of a pair: the schedule is kept in memory


@dataclass(frozen=True)
class Tournament:
    """Round robin on shared dice: points per game or matches won, and ratings with errors.

    Every player meets every other in money games without the cube, in money games with it (--cube)
    or in matches (--matches, --length). Each deal is played twice, the players exchanged; the 95 %
    intervals are over the deals.

    Example: acepoint tournament acepoint gnubg:0 --matches 200 --length 7
    """

    players: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="PLAYER...")]
    """Two players or more: acepoint[:PLIES][:net=FILE], gnubg:PLIES, sage:LEVEL, pubeval or random.
    PLIES are the rolls a player looks ahead, counted as gnubg counts them; Sage's level 1 is its
    static evaluation. With the cube gnubg is GNU Backgammon itself, without it gnubg-nn; pubeval
    does not play with the cube."""

    games: Count = None
    """Money games of each pair of players, an even number; 1000 if no matches are asked for."""

    cube: bool = False
    """Play the money games with the doubling cube."""

    jacoby: bool = False
    """With --cube: gammons and backgammons count only once the cube has been turned."""

    beavers: bool = False
    """With --cube: a double may be beavered, and a beaver raccooned."""

    automatic_doubles: Annotated[int, tyro.conf.arg(metavar="N")] = 0
    """With --cube: how often a tied opening roll may double the stake."""

    matches: Count = None
    """Matches of each pair of players, an even number; 100 if only --length is given."""

    length: Count = None
    """Points to win a match, 1 to 64; 7 if only --matches is given."""

    seed: Annotated[int, tyro.conf.arg(metavar="S")] = 0
    """Root of all dice: the same seed gives the same games, whatever the number of workers."""

    workers: Annotated[Optional[int], tyro.conf.arg(metavar="W")] = None
    """Processes that play; by default one a core."""

    out: Annotated[Optional[Path], tyro.conf.arg(metavar="FILE.db")] = None
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
        from engine.players.contests import CubeTable, MoneyTable
        from engine.players.registry import try_cubeful_player, try_player

        beginning = self._beginning()
        schedule = RoundRobin(self.players, self._units // 2)
        tried = try_player if beginning is None else try_cubeful_player
        settings = {
            "seed": self.seed,
            "fingerprints": [tried(name) for name in self.players],
            "game": self._game,
        }
        contest = MoneyTable(self.seed) if beginning is None else CubeTable(self.seed, beginning)
        with Results(schedule, contest.columns, settings, self.out) as results:
            try:
                play(schedule, contest, results, self.workers or os.cpu_count() or 1)
            except KeyboardInterrupt:
                kept = f"the same command goes on from {self.out}" if self.out else "nothing kept"
                print(f"acepoint: stopped; {kept}", file=sys.stderr)
                raise
            report = standings(
                schedule, results, cube=beginning is not None, matches=self._plays_matches
            )
        if self.as_json:
            print_json(report)
        else:
            print_standings(report)
            if any(name.startswith("acepoint") for name in self.players):
                print(f" Bearoff databases of acepoint: {_bearoff_databases()}.")

    @property
    def _plays_matches(self) -> bool:
        return self.matches is not None or self.length is not None

    @property
    def _units(self) -> int:
        """How many games or matches each pair plays."""
        wanted, default = (self.matches, MATCHES) if self._plays_matches else (self.games, GAMES)
        return default if wanted is None else wanted

    @property
    def _game(self) -> str:
        """What is played, for people: kept with the results."""
        if self._plays_matches:
            return f"match to {self.length or LENGTH}"
        rules = {
            "cube": self.cube,
            "Jacoby": self.jacoby,
            "beavers": self.beavers,
            f"{self.automatic_doubles} automatic doubles": self.automatic_doubles,
        }
        return ", ".join(["money", *(name for name, agreed in rules.items() if agreed)])

    def _beginning(self) -> "Match | None":
        """What every game or match begins with; None for money games without the cube."""
        from engine.backgammon.match import GameState, Match

        if self._plays_matches:
            return Match(
                length=LENGTH if self.length is None else self.length, state=GameState.NONE
            )
        if not self.cube:
            return None
        return Match(
            jacoby=self.jacoby,
            beavers=self.beavers,
            automatic_doubles=self.automatic_doubles,
            state=GameState.NONE,
        )

    def _check(self) -> None:
        if len(self.players) < 2:
            given = " ".join(self.players) or "none"
            raise AcepointError(f"players {given}: expected two or more")
        self._check_game()
        require_range("--seed", self.seed, 0, 2**64 - 1)
        require_range("--workers", self.workers, 1)

    def _check_game(self) -> None:
        from engine.backgammon.match import MAX_LENGTH

        money = self.cube or self.jacoby or self.beavers or self.automatic_doubles or self.games
        if self._plays_matches and money:
            raise AcepointError("--matches and --length: expected no option of money games")
        if not self.cube and self._game != "money" and not self._plays_matches:
            raise AcepointError(f"{self._game}: expected --cube with these rules")
        if not 2 <= self._units <= _MOST_UNITS or self._units % 2:
            option = "--matches" if self._plays_matches else "--games"
            raise AcepointError(
                f"{option} {self._units}: expected an even number from 2 to {_MOST_UNITS}, as "
                "every deal is played twice with the players exchanged"
            )
        require_range("--length", self.length, 1, MAX_LENGTH)
        require_range("--automatic-doubles", self.automatic_doubles, 0, MOST_AUTOMATIC_DOUBLES)


def _bearoff_databases() -> str:
    """Those that are used, in words: players with others play other games."""
    from engine.evaluation.bearoff import databases, load

    return ", ".join(map(str, databases(load()))) or "none (see acepoint bearoff build)"
