"""How strong is it now: fixed opponents, fixed dice, fixed decisions."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np

from engine.arena.statistics import Estimate, estimate
from engine.backgammon.variants import BACKGAMMON
from engine.evaluation.network import Network
from engine.kernels.dealing import game_seeds
from engine.players.base import Array, Player
from engine.players.registry import make_player
from engine.players.table import play_games
from engine.records.decisions import CheckerDecisions, read_checker_decisions, score_checker

__all__ = ["AGAINST", "PR", "Yardstick"]

SEED = 20_000  # of the dice, the same at every measurement
AGAINST = "points per game against {}"
PR = "cubeless checker PR"


class _Learner:
    """A net as a player."""

    name = "learner"
    fingerprint = ""

    def __init__(self, network: Network) -> None:
        self._network = network

    def best_packed(self, packed: Array, dice: Array) -> Array:
        """See `engine.players.base.Player`."""
        return self._network.choose(packed, dice)[0]

    def close(self) -> None:
        """Nothing to give back."""


class Yardstick:
    """Points per game against fixed opponents on shared dice, and cubeless PR on fixed decisions.

    The opponents are `random`, and `pubeval` where gnubg-nn is installed.

    Args:
        deals: Deals against each opponent; each is played twice with the sides exchanged.
        decisions: A file of reference decisions, or None.
    """

    def __init__(self, deals: int, decisions: Path | None) -> None:
        names = ["random"] + (["pubeval"] if find_spec("gnubg_nn") else [])
        self._seeds = game_seeds(SEED, np.arange(deals))
        self._opponents: list[Player] = [make_player(name) for name in names] if deals else []
        self._decisions: CheckerDecisions | None = (
            read_checker_decisions(decisions) if decisions else None
        )

    def measure(self, network: Network) -> dict[str, Estimate]:
        """Name -> figure; none for a net that does not play backgammon.

        The intervals of points are over the deals; PR has none: its decisions are the same.
        """
        if network.variant != BACKGAMMON.name:
            return {}
        learner = _Learner(network)
        figures: dict[str, Estimate] = {}
        for opponent in self._opponents:
            as_first = play_games(learner, opponent, self._seeds).points
            as_second = play_games(opponent, learner, self._seeds).points
            figures[AGAINST.format(opponent.name)] = estimate((as_first - as_second) / 2)
        if self._decisions is not None:
            figures[PR] = Estimate(score_checker(self._decisions, learner.best_packed).pr, None)
        return figures

    def close(self) -> None:
        """Let the opponents go."""
        for opponent in self._opponents:
            opponent.close()
