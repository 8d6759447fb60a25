"""Money games with the cube and matches between two players, many at once."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import numpy as np

from engine.backgammon.board import outcome_points
from engine.backgammon.dice import Opening
from engine.backgammon.match import (
    Action,
    GameState,
    Match,
    act,
    legal_actions,
    play,
    roll,
    start,
)
from engine.backgammon.variants import BACKGAMMON
from engine.kernels.dealing import next_game_seeds, opening_rolls, opening_ties, rolls_of_turns
from engine.kernels.movegen import pack
from engine.players.base import Array, CubefulPlayer
from engine.players.table import MAX_TURNS
from engine.players.tally import COUNTED, Tally

__all__ = ["play_matches"]

_DICE = (2, 1)  # what a match has seen thrown: the real dice differ from game to game
_TURNED, _PASSED = COUNTED.index("turned"), COUNTED.index("passed")


def play_matches(
    first: CubefulPlayer, second: CubefulPlayer, seeds: Array, beginning: Match
) -> Tally:
    """Play one match, or one game of a money session, for each seed, all in lock-step.

    seeds: uint64[N]; beginning: the match before its first game. The dice of each turn depend on
    the seed and on the numbers of the game and the turn alone: the same seed with the players
    exchanged has the same dice, and a match is the same whatever others are played beside it. A
    match with a game of `MAX_TURNS` turns is left undecided.
    """
    lock_step = _LockStep((first, second), seeds, beginning)
    while lock_step.live.size:
        lock_step.turn()
    return lock_step.tally


class _LockStep:
    """Matches at one moment, each with a board. Those in the same state are asked for together.

    The first and the second player are players 0 and 1 of the matches.
    """

    def __init__(
        self, players: tuple[CubefulPlayer, CubefulPlayer], seeds: Array, beginning: Match
    ) -> None:
        self.live = np.arange(len(seeds))
        self.tally = Tally.blank(len(seeds))
        self._players = players
        self._seeds = seeds.copy()
        self._boards = np.repeat(pack(BACKGAMMON.start[None]), len(seeds), axis=0)
        self._turns = np.zeros(len(seeds), np.int64)
        self._matches = [beginning]
        self._numbers = {beginning: 0}
        self._states = np.zeros(len(seeds), np.int64)  # numbers of matches
        self._to_start = self.live

    def turn(self) -> None:
        """One turn of every live match: cube, roll and play, or the opening roll and play."""
        dice = np.empty((len(self._seeds), 2), np.int8)
        starting = self._to_start
        self._start(starting, dice)
        going_on = np.setdiff1d(self.live, starting, assume_unique=True)
        self._turn_cubes(going_on)
        going_on = going_on[self._are(going_on, GameState.PLAYING)]
        dice[going_on] = rolls_of_turns(self._seeds[going_on], self._turns[going_on])
        self._play(np.union1d(starting, going_on), dice)
        self._end_games()

    def _start(self, units: Array, dice: Array) -> None:
        """Begin the next game of each, and write the opening rolls into dice int8[N, 2]."""
        seeds = self._seeds[units]
        dice[units] = opening_rolls(seeds)
        starters = (dice[units, 1] > dice[units, 0]).astype(np.int64)
        self._boards[units] = pack(BACKGAMMON.start[None])
        self._turns[units] = 0
        for opening, same in _by_value(units, 2 * opening_ties(seeds) + starters):
            ties, first = divmod(opening, 2)
            for match, group in self._groups(same):
                begun = start(match, Opening(first, _DICE, ties))
                self._move_on(group, replace(begun, dice=None))

    def _turn_cubes(self, units: Array) -> None:
        """All that is done to the cube before the roll."""
        while units.size:
            answering = [units[:0]]
            for match, group in self._groups(units):
                if not _cube_can_be_turned(match):
                    continue
                actions = self._players[match.turn].act_packed(self._boards[group], match)
                for action, doing in _by_value(group, actions):
                    if action == Action.ROLL:
                        continue
                    after = act(match, Action(action))
                    self._count_turn(doing, match, Action(action))
                    self._move_on(doing, after)
                    if after.offer:
                        answering.append(doing)
            units = np.concatenate(answering)

    def _count_turn(self, units: Array, match: Match, action: Action) -> None:
        offering = 1 - match.turn
        if action == Action.PASS:
            self.tally.counts[units, _PASSED, match.turn] += 1
            self.tally.game_over(units, offering, 1, match.cube, match.cube)
        elif action != Action.DOUBLE:
            self.tally.counts[units, _TURNED, offering] += 1

    def _play(self, units: Array, dice: Array) -> None:
        """The plays of all who have rolled dice int8[N, 2]."""
        for match, group in self._groups(units):
            player = self._players[match.on_roll]
            self._boards[group] = player.best_packed(self._boards[group], dice[group], match)
        self._turns[units] += 1
        for kind, ending in _by_value(units, -outcome_points(self._boards[units])):
            for match, group in self._groups(ending):
                after = _played(match, kind)
                if kind:
                    points = sum(after.score) - sum(match.score)
                    self.tally.game_over(group, match.on_roll, kind, points, match.cube)
                self._move_on(group, after)

    def _end_games(self) -> None:
        """Leave the matches that are over, and let the others' next games begin."""
        playing = self._are(self.live, GameState.PLAYING)
        finished = self.live[~playing]
        endless = self.live[playing & (self._turns[self.live] >= MAX_TURNS)]
        self.tally.games[endless] += 1
        self._seeds[finished] = next_game_seeds(self._seeds[finished])
        over = [endless]
        for match, group in self._groups(finished):
            if match.length == 0:
                self.tally.score[group] = self.tally.points[group]
            elif match.winner is not None:
                self.tally.score[group] = 1 - 2 * match.winner
            else:
                continue
            over.append(group)
        self.live = np.setdiff1d(self.live, np.concatenate(over))
        self._to_start = np.intersect1d(finished, self.live)

    def _groups(self, units: Array) -> Iterator[tuple[Match, Array]]:
        """The units in each state."""
        for number, group in _by_value(units, self._states[units]):
            yield self._matches[number], group

    def _move_on(self, units: Array, match: Match) -> None:
        if match not in self._numbers:
            self._numbers[match] = len(self._matches)
            self._matches.append(match)
        self._states[units] = self._numbers[match]

    def _are(self, units: Array, state: GameState) -> Array:
        """Whether the game of each unit is in that state, bool[...]."""
        numbers = self._states[units]
        states = np.array([match.state for match in self._matches])
        are: Array = states[numbers] == state
        return are


@cache
def _cube_can_be_turned(match: Match) -> bool:
    """Whether somebody has to say what happens to the cube, before the roll or after a double."""
    return not {Action.DOUBLE, Action.TAKE}.isdisjoint(legal_actions(match))


@cache
def _played(match: Match, kind: int) -> Match:
    """The match after a roll and a play that wins a game of that kind, or 0 if it goes on."""
    return play(roll(match, _DICE), kind)


def _by_value(units: Array, values: Array) -> Iterator[tuple[int, Array]]:
    """Each distinct value of int[N] values, and those of the units int64[N] that have it."""
    order = np.argsort(values, kind="stable")
    distinct, starts = np.unique(values[order], return_index=True)
    yield from zip(distinct.tolist(), np.split(units[order], starts[1:]), strict=False)
