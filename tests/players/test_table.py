from collections import Counter
from itertools import pairwise

import numpy as np

from engine.backgammon.match import Match
from engine.kernels.dealing import game_seeds
from engine.players.base import Array
from engine.players.random import RandomPlayer
from engine.players.table import MAX_TURNS, play_games

SEEDS = game_seeds(11, np.arange(200))


class Recorder(RandomPlayer):
    """A random player that writes down, for one game at a time, what it was asked and said."""

    def __init__(self, name: str, seed: int, notes: list[tuple[str, tuple[int, ...], Array]]):
        super().__init__(name, seed)
        self._notes = notes

    def best_packed(self, packed: Array, dice: Array, _: Match | None = None) -> Array:
        result = super().best_packed(packed, dice)
        assert len(packed) == 1
        self._notes.append((self.name, tuple(sorted(dice[0].tolist())), result[0]))
        return result


def recorded_game(first: str, second: str, seed: np.uint64):  # type: ignore[no-untyped-def]
    notes: list[tuple[str, tuple[int, ...], Array]] = []
    players = {name: Recorder(name, number, notes) for number, name in enumerate(("a", "b"))}
    games = play_games(players[first], players[second], np.array([seed]))
    return int(games.points[0]), int(games.turns[0]), notes


def literal_points(final: Array) -> int:
    """What the side in row 1 of a finished board has won."""
    assert sum(final[1, 1:26]) == 0
    if final[0, 0] > 0:
        return 1
    return 3 if sum(final[0, 19:26]) > 0 else 2


def test_points_are_what_the_last_board_says_and_signed_for_the_first_player() -> None:
    seen = Counter()  # type: ignore[var-annotated]
    for seed in SEEDS[:80]:
        points, turns, notes = recorded_game("a", "b", seed)
        winner, _, final = notes[-1]

        assert points == (literal_points(final) if winner == "a" else -literal_points(final))
        assert turns == len(notes)
        seen[points] += 1
    assert set(seen) == {-3, -2, -1, 1, 2, 3}


def test_the_players_take_turns_and_the_first_roll_is_no_double() -> None:
    starters = Counter()  # type: ignore[var-annotated]
    for seed in SEEDS[:60]:
        _, _, notes = recorded_game("a", "b", seed)
        names = [name for name, _, _ in notes]

        assert all(now != before for before, now in pairwise(names))
        assert len(set(notes[0][1])) == 2
        starters[names[0]] += 1
    assert min(starters.values()) > 15


def test_exchanged_players_get_the_same_dice() -> None:
    for seed in SEEDS[:20]:
        _, _, notes = recorded_game("a", "b", seed)
        _, _, exchanged = recorded_game("b", "a", seed)
        shared = min(len(notes), len(exchanged))

        assert [dice for _, dice, _ in notes[:shared]] == [
            dice for _, dice, _ in exchanged[:shared]
        ]
        assert notes[0][0] != exchanged[0][0]
        assert [dice for _, dice, _ in notes] != [
            dice for _, dice, _ in recorded_game("a", "b", seed + np.uint64(1))[2]
        ]


def test_a_game_is_the_same_whatever_is_played_beside_it() -> None:
    first, second = RandomPlayer(seed=1), RandomPlayer(seed=2)

    together = play_games(first, second, SEEDS)
    halves = [play_games(first, second, part) for part in (SEEDS[:37], SEEDS[37:])]

    assert np.array_equal(together.points, np.concatenate([half.points for half in halves]))
    assert np.array_equal(together.turns, np.concatenate([half.turns for half in halves]))


class Waiting(RandomPlayer):
    """Changes nothing on the board, which no legal player does for long."""

    def best_packed(self, packed: Array, _dice: Array, _: Match | None = None) -> Array:
        return packed[:, ::-1]


def test_a_game_without_an_end_is_left_undecided() -> None:
    games = play_games(Waiting(), Waiting(), SEEDS[:3])

    assert games.points.tolist() == [0, 0, 0]
    assert games.turns.tolist() == [MAX_TURNS] * 3
