"""What is counted of the games or matches that two players have played."""

from typing import NamedTuple

import numpy as np

from engine.players.base import Array

__all__ = ["COUNTED", "TALLY_COLUMNS", "Tally"]

COUNTED = ("wins", "gammons", "backgammons", "turned", "passed")
"""What each player is credited with. Wins include gammons, gammons include backgammons, as
everywhere; a cube is turned by who offers it and has it accepted, and passed by who loses by it."""

TALLY_COLUMNS = (
    "games",
    "points",
    "cubes",
    *(f"{what}_{player}" for what in COUNTED for player in "ab"),
)
"""The columns of `Tally.flat` after the score."""


class Tally(NamedTuple):
    """N units of play, each a money game or a match, as the first player sees them."""

    score: Array
    """int32[N]: points of a money game, 1 or -1 of a match won or lost; 0 when undecided."""

    games: Array
    """int32[N]: games played, one left undecided too."""

    points: Array
    """int32[N]: points won less points lost."""

    cubes: Array
    """int32[N]: the sum over the games of the cube's last value."""

    counts: Array
    """int32[N, 5, 2]: of each of `COUNTED`, for the first and the second player."""

    @classmethod
    def blank(cls, units: int) -> "Tally":
        """Nothing counted yet, to be filled in place."""
        score, games, points, cubes = np.zeros((4, units), np.int32)
        return cls(score, games, points, cubes, np.zeros((units, len(COUNTED), 2), np.int32))

    def game_over(self, units: Array, winner: int, kind: int, points: int, cube: int) -> None:
        """Count one more game of each of these units, numbered int64[...].

        winner: 0 or 1; kind: 1 for a single game or a pass, 2 for a gammon, 3 for a backgammon.
        """
        self.games[units] += 1
        self.points[units] += points if winner == 0 else -points
        self.cubes[units] += cube
        self.counts[units, :kind, winner] += 1

    def exchanged(self) -> "Tally":
        """Switches sides: the same as the second player sees it."""
        return Tally(-self.score, self.games, -self.points, self.cubes, self.counts[:, :, ::-1])

    def flat(self) -> Array:
        """int32[N, 1 + K]: the score, and then `TALLY_COLUMNS`."""
        single = (self.score, self.games, self.points, self.cubes)
        return np.hstack((np.stack(single, axis=1), self.counts.reshape(len(self.score), -1)))
