"""A player without any judgement: every legal result and cube action is equally likely."""

import numpy as np

from engine.backgammon.match import Action, Match, legal_actions
from engine.kernels.dealing import position_words
from engine.kernels.movegen import legal_results
from engine.players.base import Array

__all__ = ["RandomPlayer"]


class RandomPlayer:
    """Chooses by a hash of position, roll and seed: it has no state, and no memory.

    So the same position with the same roll is always answered by the same play, and neither the
    order of the games nor the number of workers changes anything.
    """

    def __init__(self, name: str = "random", seed: int = 0) -> None:
        self.name = name
        self.fingerprint = ""
        self._seed = seed

    def best_packed(self, packed: Array, dice: Array, _: Match | None = None) -> Array:
        """See `engine.players.base`."""
        results, offsets = legal_results(packed, dice)
        chosen: Array = results[offsets[:-1] + self._drawn(packed, dice, np.diff(offsets))]
        return chosen

    def act_packed(self, packed: Array, match: Match) -> Array:
        """See `engine.players.base.CubefulPlayer`; no game is resigned."""
        legal = np.array([each for each in legal_actions(match) if each != Action.RESIGN])
        no_dice = np.full((len(packed), 2), (match.offer, 0), np.int8)  # a choice of its own
        chosen: Array = legal[self._drawn(packed, no_dice, np.array([len(legal)]))]
        return chosen

    def _drawn(self, packed: Array, dice: Array, counts: Array) -> Array:
        """A number below each of the counts, int64[N]."""
        words = np.ascontiguousarray(packed).view(np.uint64).reshape(len(packed), -1)
        hashes = position_words(words, dice, self._seed) >> np.uint64(32)
        drawn: Array = ((hashes * counts.astype(np.uint64)) >> np.uint64(32)).astype(np.int64)
        return drawn

    def close(self) -> None:
        """Nothing to give back."""
