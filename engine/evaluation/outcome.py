"""The five probabilities: their order, their names, and what they are worth without the cube.

A row is float32[5]: win, win a gammon or better, win a backgammon, lose a gammon or better, lose a
backgammon; for the player on roll unless a name says otherwise. Each of the last four is part of
the one before or of the chance to lose, so the cubeless money equity is
2 W - 1 + WG + WBG - LG - LBG points.
"""

from typing import Any

import numpy as np

__all__ = ["NAMES", "equity", "flip", "of_points"]

Array = np.ndarray[Any, Any]

NAMES = ("win", "win_gammon", "win_backgammon", "lose_gammon", "lose_backgammon")


def equity(probabilities: Array) -> Array:
    """Cubeless money equity in points, float64[...], of float32[..., 5] probabilities.

    Added in the order of `engine.kernels.choice`, so that what ties there ties here.
    """
    win, gammon, backgammon, lost_gammon, lost_backgammon = np.moveaxis(
        np.asarray(probabilities, np.float64), -1, 0
    )
    result: Array = 2 * win + gammon + backgammon - lost_gammon - lost_backgammon - 1
    return result


def flip(probabilities: Array) -> Array:
    """Switches sides: the same float32[..., 5] probabilities as the opponent sees them."""
    flipped = np.asarray(probabilities, np.float32)[..., [0, 3, 4, 1, 2]]
    flipped[..., 0] = 1 - flipped[..., 0]
    return flipped


def of_points(points: Array) -> Array:
    """The certain float32[..., 5] of finished games: points won (1, 2, 3) or lost (-1, -2, -3)."""
    columns = [points > 0, points > 1, points > 2, points < -1, points < -2]
    return np.stack(columns, axis=-1).astype(np.float32)
