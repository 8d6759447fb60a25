"""`acepoint play`: a match or a session in the terminal."""

import contextlib
import os
from dataclasses import dataclass
from typing import Annotated, Literal

import tyro

from engine.errors import NotationError
from engine.interfaces.cli.move import print_candidates
from engine.interfaces.cli.options import (
    MOST_AUTOMATIC_DOUBLES,
    Count,
    Filter,
    Net,
    Plies,
    VariantName,
    require_range,
)

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
        from engine.backgammon.match import MAX_LENGTH, GameState, Match
        from engine.backgammon.variants import variant

        game = variant(self.variant)
        require_range("--seed", self.seed, 0)
        require_range("--length", self.length, 1, MAX_LENGTH)
        require_range("--automatic-doubles", self.automatic_doubles, 0, MOST_AUTOMATIC_DOUBLES)
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
        from engine.bot import Bot, released_net
        from engine.interfaces.terminal import Session

        net = self.net or released_net(self.variant)
        bot = Bot(net, self.plies, moves=self.moves, threads=os.cpu_count() or 1)
        bot.require(game)
        # Line editing and history at the prompt, where Python has them.
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401
        roller = Roller(np.random.SeedSequence(self.seed))
        Session(bot, game, match, roller, self.alternate, print_candidates).run()
