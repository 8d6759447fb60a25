"""Contests for `engine.arena`: deals of games or matches between players given by name."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Generic, TypeVar

import numpy as np

from engine.backgammon.match import Match
from engine.kernels.dealing import game_seeds
from engine.players.base import Array, CubefulPlayer, Player, Seated
from engine.players.cubeful import play_matches
from engine.players.registry import make_cubeful_player, make_player
from engine.players.table import play_games
from engine.players.tally import TALLY_COLUMNS, Tally

__all__ = ["CubeTable", "MoneyTable"]

Sitting = TypeVar("Sitting", bound=Seated)


class Table(ABC, Generic[Sitting]):
    """Plays deals between players given by name: a contest for `engine.arena`.

    A deal is two games or matches with the same dice, the players exchanged between them. A table
    can be sent to another process before its first deal; it makes the players when they first sit
    down, and keeps them.

    Args:
        seed: The root of all dice; the dice of a deal depend on it and on the deal's number.
        make: What makes a player from its name.
    """

    columns = TALLY_COLUMNS

    def __init__(self, seed: int, make: Callable[[str], Sitting]) -> None:
        self._seed = seed
        self._make = make
        self._players: dict[str, Sitting] = {}

    def __call__(self, a: str, b: str, deals: Array) -> Array:
        """What the two games of each of deals int64[D] bring `a`: int32[D, 2, 1 + K].

        The last axis is that of `Tally.flat`. In the first game he has the first die of the
        opening roll, in the second `b` has it.
        """
        seeds = game_seeds(self._seed, deals)
        as_first = self._play(self._player(a), self._player(b), seeds)
        as_second = self._play(self._player(b), self._player(a), seeds).exchanged()
        return np.stack((as_first.flat(), as_second.flat()), axis=1)

    def close(self) -> None:
        """Let the players go."""
        while self._players:
            self._players.popitem()[1].close()

    @abstractmethod
    def _play(self, first: Sitting, second: Sitting, seeds: Array) -> Tally:
        """A game or match for each of seeds uint64[N]."""

    def _player(self, name: str) -> Sitting:
        if name not in self._players:
            self._players[name] = self._make(name)
        return self._players[name]


class MoneyTable(Table[Player]):
    """Money games without the cube."""

    def __init__(self, seed: int, make: Callable[[str], Player] = make_player) -> None:
        super().__init__(seed, make)

    def _play(self, first: Player, second: Player, seeds: Array) -> Tally:
        points = play_games(first, second, seeds).points
        tally = Tally.blank(len(seeds))
        for score in np.unique(points[points != 0]).tolist():
            winner = int(score < 0)
            tally.game_over(np.flatnonzero(points == score), winner, abs(score), abs(score), 1)
        tally.games[:], tally.cubes[:] = 1, 1
        tally.score[:] = points
        return tally


class CubeTable(Table[CubefulPlayer]):
    """Money games with the cube, or matches.

    Args:
        beginning: The match before its first game, or a money session and its rules.
    """

    def __init__(
        self,
        seed: int,
        beginning: Match,
        make: Callable[[str], CubefulPlayer] = make_cubeful_player,
    ) -> None:
        super().__init__(seed, make)
        self._beginning = beginning

    def _play(self, first: CubefulPlayer, second: CubefulPlayer, seeds: Array) -> Tally:
        return play_matches(first, second, seeds, self._beginning)
