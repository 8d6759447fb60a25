"""Dice that depend on their keys alone."""

import numpy as np
from numba import njit

from engine.kernels.dealing import (
    game_seeds,
    next_game_seeds,
    opening_rolls,
    opening_ties,
    position_words,
    rolls,
    rolls_of_turns,
)
from engine.kernels.random import random_word

GAMES = 36_000

# Chi-square that chance exceeds once in a thousand times, by degrees of freedom.
RARE = {5: 20.5, 29: 58.3, 35: 66.6}


@njit
def word_of(seed, counter):
    return random_word(seed, counter)


def chi_square(counts: np.ndarray) -> float:
    expected = counts.sum() / counts.size
    return float(((counts - expected) ** 2).sum() / expected)


def counts_of(dice: np.ndarray) -> np.ndarray:
    """How often each ordered roll came, int64[36]."""
    first, second = dice.astype(int).T
    return np.bincount(6 * (first - 1) + second - 1, minlength=36)


def test_the_words_are_those_that_splitmix64_is_known_for():
    seed = np.uint64(0)
    words = [int(word_of(seed, np.uint64(counter))) & (2**64 - 1) for counter in range(3)]
    assert words == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]


def test_the_36_rolls_are_equally_likely_from_game_to_game():
    dice = rolls(game_seeds(7, np.arange(GAMES)), 3)
    assert dice.min() == 1 and dice.max() == 6
    assert chi_square(counts_of(dice)) < RARE[35]


def test_the_36_rolls_are_equally_likely_from_turn_to_turn():
    seed = game_seeds(7, np.array([5]))
    dice = np.concatenate([rolls(seed, turn) for turn in range(GAMES)])
    assert chi_square(counts_of(dice)) < RARE[35]


def test_a_roll_says_nothing_of_the_next():
    seeds = game_seeds(8, np.arange(GAMES))
    total = rolls(seeds, 0).sum(axis=1) + rolls(seeds, 1).sum(axis=1)
    assert chi_square(np.bincount(total % 6, minlength=6)) < RARE[5]


def test_an_opening_roll_is_no_double_and_the_other_30_are_equally_likely():
    counts = counts_of(opening_rolls(game_seeds(7, np.arange(GAMES))))
    doubles = counts.reshape(6, 6).diagonal()
    assert not doubles.any()
    assert chi_square(counts[counts > 0]) < RARE[29]
    assert (counts > 0).sum() == 30


def test_one_opening_roll_in_six_comes_after_a_tie_and_one_in_six_of_those_after_two():
    ties = np.bincount(opening_ties(game_seeds(7, np.arange(GAMES))), minlength=4)[:4]
    expected = GAMES * 5 / 6 ** np.arange(1, 5)
    assert (np.abs(ties - expected) < 4 * expected**0.5).all()


def test_games_at_different_turns_have_the_dice_of_their_turns():
    seeds = game_seeds(3, np.arange(50))
    turns = np.arange(50) % 7
    expected = [rolls(seeds[k : k + 1], turns[k])[0] for k in range(50)]
    np.testing.assert_array_equal(rolls_of_turns(seeds, turns), expected)


def test_the_games_of_a_match_have_dice_of_their_own():
    seeds = game_seeds(9, np.arange(GAMES))
    following = next_game_seeds(seeds)
    assert (
        len(np.unique(np.concatenate([seeds, following, next_game_seeds(following)]))) == 3 * GAMES
    )
    total = rolls(seeds, 1).sum(axis=1) + rolls(following, 1).sum(axis=1)
    assert chi_square(np.bincount(total % 6, minlength=6)) < RARE[5]


def test_the_same_keys_give_the_same_dice_in_any_company():
    games = np.array([17, 4, 99, 4])
    together = game_seeds(1, games)

    alone = np.concatenate([game_seeds(1, games[k : k + 1]) for k in range(4)])

    np.testing.assert_array_equal(together, alone)
    assert together[1] == together[3]
    np.testing.assert_array_equal(rolls(together, 8)[2:3], rolls(together[2:3], 8))
    np.testing.assert_array_equal(opening_rolls(together)[0:1], opening_rolls(together[0:1]))


def test_seeds_do_not_meet():
    seeds = np.concatenate([game_seeds(root, np.arange(GAMES)) for root in range(3)])
    assert len(np.unique(seeds)) == 3 * GAMES


def test_words_by_which_a_position_is_played_depend_on_all_of_it(packed_positions):
    boards = np.unique(packed_positions, axis=0)
    words = boards.reshape(len(boards), 64).view(np.uint64)
    threes = np.tile(np.array([[3, 1]], np.int8), (len(words), 1))

    by_position = position_words(words, threes, 0)

    assert len(np.unique(by_position)) == len(words)
    np.testing.assert_array_equal(position_words(words, threes[:, ::-1].copy(), 0), by_position)
    assert (position_words(words, threes, 1) != by_position).all()
    assert (position_words(words, threes + np.int8(1), 0) != by_position).all()
