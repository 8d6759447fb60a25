"""`acepoint play`: a session in the terminal."""

import contextlib
from dataclasses import dataclass

from engine.errors import NotationError
from engine.interfaces.cli.move import print_candidates
from engine.interfaces.cli.options import Count, Net, Plies, VariantName

__all__ = ["Play"]


@dataclass(frozen=True)
class Play:
    """Play money games against Acepoint in the terminal.

    Plays are typed in any common notation; help, hint, board, resign and quit are understood.
    Plies are counted as gnubg counts them.

    Example: acepoint play --variant nackgammon
    """

    plies: Plies = 0
    net: Net = None
    variant: VariantName = "backgammon"
    seed: Count = None
    """Root of the dice: the same seed throws the same dice. By default they are new each time."""
    alternate: bool = False
    """The two sides start by turns, whoever throws the higher die."""

    def run(self) -> None:
        """Play until the person leaves."""
        from engine.backgammon.variants import variant

        game = variant(self.variant)
        if self.seed is not None and self.seed < 0:
            raise NotationError(f"--seed {self.seed}: expected a number from 0")
        import numpy as np

        from engine.backgammon.dice import Roller
        from engine.backgammon.position import Position
        from engine.bot import Bot
        from engine.interfaces.terminal import Session

        bot = Bot(self.net, self.plies)
        bot.evaluate([Position.start(game)])  # a net for another variant is refused now
        # Line editing and history at the prompt, where Python has them.
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401
        roller = Roller(np.random.SeedSequence(self.seed))
        Session(bot, game, roller, self.alternate, print_candidates).run()
