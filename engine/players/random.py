"""A player without any judgement: every legal result is equally likely."""

import numpy as np

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

    def best_packed(self, packed: Array, dice: Array) -> Array:
        """See `engine.players.base.Player`."""
        results, offsets = legal_results(packed, dice)
        words = np.ascontiguousarray(packed).view(np.uint64).reshape(len(packed), -1)
        hashes = position_words(words, dice, self._seed) >> np.uint64(32)
        choices = (hashes * np.diff(offsets).astype(np.uint64)) >> np.uint64(32)
        chosen: Array = results[offsets[:-1] + choices.astype(np.int64)]
        return chosen

    def close(self) -> None:
        """Nothing to give back."""
