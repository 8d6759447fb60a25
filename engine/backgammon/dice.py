"""The 21 rolls and their weights, rollers with a seed, and dice as text."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from engine.errors import NotationError

__all__ = ["ROLLS", "WEIGHTS", "Dice", "Opening", "Roller", "parse_dice", "rolls_array"]

Dice = tuple[int, int]

ROLLS: tuple[Dice, ...] = tuple((high, low) for high in range(1, 7) for low in range(1, high + 1))
"""The 21 distinct rolls, high die first: 11, 21, 22, 31, ... 66."""

WEIGHTS: npt.NDArray[np.int64] = np.array([1 if high == low else 2 for high, low in ROLLS])
"""int64[21]: how many of the 36 throws of two dice give each of ROLLS."""

_DICE_TEXT = re.compile(r"([1-6])[-, ]?([1-6])", re.ASCII)


def parse_dice(text: str) -> Dice:
    """The two dice of `31`, `3-1`, `3,1` or `3 1`, in the order written.

    Raises NotationError for anything else.
    """
    match = _DICE_TEXT.fullmatch(text.strip())
    if match is None:
        raise NotationError(f"dice {text!r}: expected two numbers from 1 to 6, like 31 or 3-1")
    return int(match[1]), int(match[2])


def rolls_array(rolls: Sequence[Dice]) -> npt.NDArray[np.int8]:
    """int8[N, 2] of N rolls. Raises NotationError for one that is not two numbers from 1 to 6."""
    if not isinstance(rolls, Sequence | np.ndarray):
        raise NotationError(f"rolls {rolls!r}: expected a list of them")
    for dice in rolls:
        try:
            first, second = dice if isinstance(dice, Sequence | np.ndarray) else ()
            valid = first in range(1, 7) and second in range(1, 7)
        except (TypeError, ValueError):  # not two of them
            valid = False
        if not valid:
            raise NotationError(f"dice {dice!r}: expected two numbers from 1 to 6")
    return np.array(rolls, np.int8).reshape(-1, 2)


class Opening(NamedTuple):
    """The roll that starts a game."""

    first: int  # the player, 0 or 1, who plays it
    dice: Dice  # high die first, never a double
    ties: int  # how often both had thrown the same number before


class Roller:
    """Dice from one seed: the same seed gives the same rolls on every machine."""

    def __init__(self, seed: int | np.random.SeedSequence) -> None:
        self._generator = np.random.Generator(np.random.PCG64(seed))

    def roll(self) -> Dice:
        """Both dice of one player."""
        first, second = self._generator.integers(1, 7, size=2).tolist()
        return first, second

    def opening(self, first: int | None = None) -> Opening:
        """Each player rolls one die, equal ones again; the higher plays both numbers.

        first: the player (0 or 1) who plays them whoever has the higher die, by the house rule that
        the two players start by turns.
        """
        ties = 0
        while True:
            dice = self.roll()
            if dice[0] != dice[1]:
                break
            ties += 1
        higher = int(dice[1] > dice[0])
        return Opening(higher if first is None else first, (max(dice), min(dice)), ties)
