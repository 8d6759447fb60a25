"""`acepoint play`: a match or a session in the terminal."""

import contextlib
import os
from dataclasses import dataclass
from typing import Annotated, Literal

import tyro

from engine.errors import NotationError
from engine.interfaces.cli.move import print_candidates
from engine.interfaces.cli.options import Count, Filter, Net, Plies, VariantName

__all__ = ["Play"]


@dataclass(frozen=True)
class Play:
    """Play a match or money games against Acepoint in the terminal, with the doubling cube.

    Plays are typed in any common notation; help, hint, board, roll, double, take, pass, resign and
    quit are understood. Plies are counted as gnubg counts them.

    Example: acepoint play --length 5
    """

    plies: Plies = 0
    moves: Filter = "normal"
    length: Count = None
    """Points to win a match, 1 to 64; by default money games are played."""
    jacoby: Literal["on", "off", "usual"] = "usual"
    """For money: gammons and backgammons count only once the cube has been turned. Usual is off,
    but on in hypergammon."""
    beavers: bool = False
    """For money: a double may be beavered, and a beaver raccooned."""
    automatic_doubles: Annotated[int, tyro.conf.arg(metavar="N")] = 0
    """For money: how often a tied opening roll may double the stake."""
    net: Net = None
    variant: VariantName = "backgammon"
    seed: Count = None
    """Root of the dice: the same seed throws the same dice. By default they are new each time."""
    alternate: bool = False
    """The two sides start by turns, whoever throws the higher die."""

    def run(self) -> None:
        """Play until the match is over or the person leaves."""
        from engine.backgammon.match import GameState, Match
        from engine.backgammon.variants import variant

        game = variant(self.variant)
        if self.seed is not None and self.seed < 0:
            raise NotationError(f"--seed {self.seed}: expected a number from 0")
        if self.length is not None and not 1 <= self.length <= 64:
            raise NotationError(f"--length {self.length}: expected 1 to 64")
        if not 0 <= self.automatic_doubles <= 10:
            raise NotationError(f"--automatic-doubles {self.automatic_doubles}: expected 0 to 10")
        if self.length is not None and (
            self.jacoby == "on" or self.beavers or self.automatic_doubles
        ):
            raise NotationError("--length: expected no option of money games")
        match = Match(
            length=self.length or 0,
            jacoby=game.jacoby if self.jacoby == "usual" else self.jacoby == "on",
            beavers=self.beavers,
            automatic_doubles=self.automatic_doubles,
            state=GameState.NONE,
        )
        import numpy as np

        from engine.backgammon.dice import Roller
        from engine.backgammon.position import Position
        from engine.bot import Bot
        from engine.interfaces.terminal import Session

        bot = Bot(self.net, self.plies, moves=self.moves, threads=os.cpu_count() or 1)
        bot.evaluate([Position.start(game)])  # a net for another variant is refused now
        # Line editing and history at the prompt, where Python has them.
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401
        roller = Roller(np.random.SeedSequence(self.seed))
        Session(bot, game, match, roller, self.alternate, print_candidates).run()
