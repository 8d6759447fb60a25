"""Acepoint itself as a player."""

from pathlib import Path

from engine.backgammon.position import Position
from engine.bot import Bot
from engine.players.base import Array

__all__ = ["AcepointPlayer"]


class AcepointPlayer:
    """A bot's best play in a money game without the cube.

    Args:
        name: The player's name.
        net: A net file; None is the released default.
        plies: Rolls to look ahead.

    Raises NetError for a net that cannot be used or does not play backgammon.
    """

    def __init__(self, name: str, net: Path | None, plies: int) -> None:
        self.name = name
        self._bot = Bot(net, plies)
        self._bot.evaluate([Position.start()])  # refuses a net of another variant
        self.fingerprint = self._bot.net_hash

    def best_packed(self, packed: Array, dice: Array) -> Array:
        """See `engine.players.base.Player`."""
        return self._bot.best_packed(packed, dice)

    def close(self) -> None:
        """Nothing to give back."""
