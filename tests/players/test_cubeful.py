"""Games with the cube and matches in lock-step, against one match at a time in a plain loop."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from engine.backgammon.board import outcome_points
from engine.backgammon.dice import Opening
from engine.backgammon.match import (
    Action,
    GameState,
    Match,
    act,
    legal_actions,
    play,
    points_at_stake,
    roll,
    start,
)
from engine.backgammon.variants import BACKGAMMON
from engine.kernels.dealing import (
    game_seeds,
    next_game_seeds,
    opening_rolls,
    opening_ties,
    rolls,
)
from engine.kernels.movegen import pack
from engine.players import cubeful
from engine.players.base import Array
from engine.players.cubeful import play_matches
from engine.players.random import RandomPlayer
from engine.players.tally import COUNTED, Tally

SEEDS = game_seeds(12, np.arange(60))
BEGINNINGS = {
    "money": Match(),
    "all rules": Match(jacoby=True, beavers=True, automatic_doubles=2),
    "low cube": Match(beavers=True, max_cube_exponent=3),
    "match to 1": Match(length=1),
    "match to 3": Match(length=3),
    "match to 7": Match(length=7),
}


def beginning(name: str) -> Match:
    return replace(BEGINNINGS[name], state=GameState.NONE)


def one_game(players, match: Match, seeds: Array, counts: Counter) -> Match:
    """The match after its next game, whose seed is uint64[1]."""
    (die, other), ties = opening_rolls(seeds)[0].tolist(), int(opening_ties(seeds)[0])
    match = start(match, Opening(int(other > die), (max(die, other), min(die, other)), ties))
    board, turn = pack(BACKGAMMON.start[None]), 0
    while True:
        while {Action.DOUBLE, Action.TAKE} & set(legal_actions(match)):
            action = Action(players[match.turn].act_packed(board, match)[0])
            if action == Action.ROLL:
                break
            before, match = match, act(match, action)
            if action in (Action.TAKE, Action.BEAVER, Action.RACCOON):
                counts["turned", 1 - before.turn] += 1
            if action == Action.PASS:
                counts["passed", before.turn] += 1
                counts["wins", 1 - before.turn] += 1
                counts["cubes"] += before.cube
                return match
        if match.dice is None:
            match = roll(match, tuple(rolls(seeds, turn)[0].tolist()))
        board = players[match.on_roll].best_packed(board, np.array([match.dice], np.int8), match)
        kind, turn = -int(outcome_points(board)[0]), turn + 1
        if kind:
            for name in ("wins", "gammons", "backgammons")[:kind]:
                counts[name, match.on_roll] += 1
            counts["cubes"] += match.cube
            assert points_at_stake(match, kind) in (match.cube, kind * match.cube)
            return play(match, kind)
        match = play(match)


def one_match(players, match: Match, seed: np.uint64) -> tuple[list[int], Counter]:
    """Score, games and points as the first player has them, and what is counted."""
    seeds, counts, games = np.array([seed]), Counter(), 0
    while True:
        match, games = one_game(players, match, seeds, counts), games + 1
        points = match.score[0] - match.score[1]
        if match.length == 0:
            return [points, games, points], counts
        if match.winner is not None:
            return [1 - 2 * match.winner, games, points], counts
        seeds = next_game_seeds(seeds)


@pytest.mark.parametrize("name", BEGINNINGS)
def test_lock_step_plays_what_a_plain_loop_plays(name) -> None:
    players = RandomPlayer(seed=1), RandomPlayer(seed=2)

    tally = play_matches(*players, SEEDS, beginning(name))

    for index, seed in enumerate(SEEDS):
        figures, counts = one_match(players, beginning(name), seed)
        assert [tally.score[index], tally.games[index], tally.points[index]] == figures
        assert tally.cubes[index] == counts["cubes"]
        expected = [[counts[what, player] for player in (0, 1)] for what in COUNTED]
        assert tally.counts[index].tolist() == expected


def test_the_games_above_had_everything_in_them() -> None:
    players = RandomPlayer(seed=1), RandomPlayer(seed=2)
    tally = play_matches(*players, SEEDS, beginning("all rules"))

    assert tally.counts.sum(axis=0).min(axis=1)[[0, 3, 4]].min() > 0
    assert set(np.abs(tally.points).tolist()) > {1, 2, 4, 8}


class Witness(RandomPlayer):
    """A random player that keeps every match that it is asked about."""

    def __init__(self, seed: int, seen: list[Match]) -> None:
        super().__init__(seed=seed)
        self._seen = seen

    def act_packed(self, packed: Array, match: Match) -> Array:
        self._seen.append(match)
        return super().act_packed(packed, match)


def test_nobody_is_asked_where_there_is_no_cube() -> None:
    asked: list[Match] = []
    play_matches(Witness(1, asked), Witness(2, asked), SEEDS, beginning("match to 1"))
    assert not asked

    play_matches(Witness(1, asked), Witness(2, asked), SEEDS, beginning("match to 3"))
    assert asked
    assert not any(match.crawford or match.dice for match in asked)
    assert any(1 in match.away for match in asked)  # after the Crawford game it is back


def test_exchanged_players_are_counted_the_other_way_round() -> None:
    first, second = RandomPlayer(seed=1), RandomPlayer(seed=2)
    played = play_matches(first, second, SEEDS, beginning("match to 3"))

    assert isinstance(played, Tally)
    assert np.array_equal(played.exchanged().score, -played.score)
    assert np.array_equal(played.exchanged().counts[:, :, 0], played.counts[:, :, 1])


class Waiting(RandomPlayer):
    """Changes nothing on the board, which no legal player does for long; never doubles."""

    def best_packed(self, packed: Array, _dice: Array, _: Match | None = None) -> Array:
        return packed[:, ::-1]

    def act_packed(self, packed: Array, _: Match) -> Array:
        return np.full(len(packed), Action.ROLL)


def test_a_match_without_an_end_is_left_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cubeful, "MAX_TURNS", 30)

    tally = play_matches(Waiting(), Waiting(), SEEDS[:3], beginning("match to 3"))

    assert tally.score.tolist() == [0, 0, 0]
    assert tally.games.tolist() == [1, 1, 1]
