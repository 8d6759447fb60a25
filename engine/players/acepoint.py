"""Acepoint itself as a player."""

from pathlib import Path

import numpy as np

from engine.backgammon.match import Action, Match, Offer, legal_actions
from engine.backgammon.variants import BACKGAMMON
from engine.bot import Bot
from engine.cube.context import CubeContext
from engine.evaluation.bearoff import databases, load
from engine.players.base import Array

__all__ = ["AcepointPlayer", "chosen_actions"]


class AcepointPlayer:
    """A bot's best play and cube action.

    Args:
        name: The player's name.
        net: A net file; None is the released default.
        plies: Rolls to look ahead.

    Raises NetError for a net that cannot be used, or plays with another number of checkers.
    """

    def __init__(self, name: str, net: Path | None, plies: int) -> None:
        self.name = name
        self._bot = Bot(net, plies)
        self._bot.require(BACKGAMMON)
        self.fingerprint = " ".join([self._bot.net_hash, *map(str, databases(load()))])

    def best_packed(self, packed: Array, dice: Array, match: Match | None = None) -> Array:
        """See `engine.players.base`."""
        context = None if match is None else CubeContext.of(match)
        return self._bot.best_packed(packed, dice, context)

    def act_packed(self, packed: Array, match: Match) -> Array:
        """See `engine.players.base.CubefulPlayer`."""
        return chosen_actions(self._bot, packed, match)

    def evaluate_packed(self, packed: Array) -> Array:
        """See `engine.players.base.Judge`."""
        return self._bot.evaluate_packed(packed)

    def close(self) -> None:
        """Nothing to give back."""


def chosen_actions(bot: Bot, packed: Array, match: Match) -> Array:
    """What a bot does where something may be done to the cube, whichever side it is asked for.

    packed: int8[N, 2, 32], row 0 the player `on_roll`, who is the doubler if a double is open.
    Returns int64[N] of `Action`.
    """
    cube = bot.cube_packed(packed, CubeContext.of(match))
    legal = legal_actions(match)
    take = np.full(len(packed), Action.TAKE)
    match match.offer:
        case Offer.NONE:
            return np.where(cube.doubles, Action.DOUBLE, Action.ROLL)
        case Offer.DOUBLE:
            if Action.BEAVER in legal:
                take[cube.beavers] = Action.BEAVER
            return np.where(cube.takes, take, Action.PASS)
        case Offer.BEAVER:
            # The first doubler again: the stake doubles once more, and the beaverer owns the cube.
            if Action.RACCOON in legal:
                take[cube.double_take > 0] = Action.RACCOON
            return np.where(cube.double_take >= -cube.double_pass, take, Action.PASS)
        case _:
            return np.where(cube.double_take <= cube.double_pass, take, Action.PASS)
