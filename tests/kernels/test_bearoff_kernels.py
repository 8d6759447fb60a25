"""The bearoff kernels against slow twins in fractions, and what every look-up must obey."""

from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from engine.backgammon.dice import ROLLS, WEIGHTS
from engine.backgammon.position import Position
from engine.backgammon.reference import legal_results
from engine.evaluation.bearoff import probabilities, tables
from engine.evaluation.bearoff_build import solve
from engine.evaluation.bearoff_store import Database
from engine.kernels.bearoff import NUMBERS, actions_of_boards, number_of_board
from engine.kernels.bearoff_build import list_plays, place_positions
from engine.kernels.movegen import pack

POINTS, CHECKERS = 6, 3  # of the twins
COUNT = 84
IN_ORDER = [(low, high) for high in range(1, 7) for low in range(1, high + 1)]
SHARES = {
    roll: Fraction(int(weight), int(WEIGHTS.sum()))
    for roll, weight in zip(ROLLS, WEIGHTS, strict=True)
}


def packed(mine, theirs, checkers=15):
    """An int8[1, 2, 32] board of the checkers on points 1, 2, ... of both sides."""
    boards = np.zeros((1, 2, 26), np.int8)
    for row, counts in zip(boards[0], (mine, theirs), strict=True):
        row[1 : 1 + len(counts)] = counts
        row[0] = checkers - sum(counts)
    return pack(boards)


def words(boards):
    return boards.reshape(-1, 64).view(np.uint64)


def number_of(counts):
    return number_of_board(words(packed(counts, [])), 0, POINTS)


@cache
def plays_of(counts):
    """What a side can be left with after each roll, by the literal rules."""
    position = Position(packed(counts, [1])[0, :, :26])
    return {
        roll: {tuple(result.board[1, 1:7].tolist()) for result in legal_results(position, roll)}
        for roll in ROLLS
    }


def test_positions_are_numbered_without_gaps_fewest_checkers_first():
    counts = place_positions(54264, 6)

    assert len(np.unique(counts, axis=0)) == 54264
    assert (np.diff(counts.sum(axis=1)) >= 0).all()
    assert counts[-1].sum() == 15
    some = range(0, 54264, 97)
    assert [number_of(counts[number, 1:]) for number in some] == list(some)


def test_the_plays_are_those_of_the_rules_and_lead_to_lower_numbers():
    offsets, results = list_plays(COUNT, POINTS)
    counts = place_positions(COUNT, POINTS)

    for number in range(1, COUNT):
        plays = plays_of(tuple(counts[number, 1:].tolist()))
        for place, (low, high) in enumerate(IN_ORDER):
            at = number * 21 + place
            found = results[offsets[at] : offsets[at + 1]]
            assert len(set(found)) == len(found)
            (wanted,) = (plays[roll] for roll in ROLLS if sorted(roll) == [low, high])
            assert set(found) == {number_of(each) for each in wanted}
            assert (found < number).all()


def test_every_roll_of_every_position_has_a_play(bearoff):
    """Fault B116: none found in a small home board."""
    offsets, _ = list_plays(bearoff.positions, POINTS)

    assert (np.diff(offsets[21:]) > 0).all()


def test_one_sided_chances_are_those_of_a_literal_recursion(bearoff):
    @cache
    def race(counts):
        """The mean rolls and the chance of each number of rolls, of a side that makes the best
        play, among equal ones that with the fewest checkers."""
        if not any(counts):
            return Fraction(0), (Fraction(1),)
        rolls = [Fraction(0)] * 12
        for roll, results in plays_of(counts).items():
            best = min(results, key=lambda result: (race(result)[0], sum(result)))
            for n, chance in enumerate(race(best)[1]):
                rolls[n + 1] += SHARES[roll] * chance
        while not rolls[-1]:
            rolls.pop()
        return sum(n * chance for n, chance in enumerate(rolls)), tuple(rolls)

    tails = bearoff.tails.reshape(-1, 2, bearoff.width)
    for counts in place_positions(COUNT, POINTS)[1:, 1:].tolist():
        mean, rolls = race(tuple(counts))
        found = tails[number_of(counts), 0]
        assert found.sum() == pytest.approx(float(mean), abs=1e-12)
        wanted = [float(1 - sum(rolls[: n + 1])) for n in range(len(rolls))]
        assert found[: len(rolls)] == pytest.approx(wanted, abs=1e-12)


def test_the_first_checker_leaves_as_in_a_literal_recursion(bearoff):
    @cache
    def mean(counts):
        """The least mean number of rolls until a checker is off."""
        return 1 + sum(
            SHARES[roll]
            * min(mean(result) if sum(result) == sum(counts) else 0 for result in results)
            for roll, results in plays_of(counts).items()
        )

    tails = bearoff.tails.reshape(-1, 2, bearoff.width)
    for counts in place_positions(COUNT, POINTS)[1:, 1:].tolist():
        found = tails[number_of(counts), 1].sum()
        assert found == pytest.approx(float(mean(tuple(counts))), abs=1e-12)


def test_two_sided_values_are_those_of_a_literal_recursion():
    count = 28  # two checkers a side

    @cache
    def chance(mine, theirs):
        if not any(theirs):
            return Fraction(0)
        return sum(
            SHARES[roll] * max(1 - chance(theirs, result) for result in results)
            for roll, results in plays_of(mine).items()
        )

    @cache
    def holding(mine, theirs, owner):
        """The equity of not doubling; owner: 0 the centre, 1 the player on roll, 2 the other."""
        if not any(theirs):
            return Fraction(-1)
        after = {0: 0, 1: 2, 2: 1}[owner]
        return sum(
            SHARES[roll] * max(-equity(theirs, result, after) for result in results)
            for roll, results in plays_of(mine).items()
        )

    @cache
    def equity(mine, theirs, owner):
        held = holding(mine, theirs, owner)
        if owner == 2:
            return held
        return max(held, min(2 * holding(mine, theirs, 2), 1))

    pairs = solve(Database("two-sided", POINTS, 2)).reshape(count, count, 4)
    positions = [tuple(counts) for counts in place_positions(count, POINTS)[:, 1:].tolist()]
    for mine in range(1, count):
        for theirs in range(1, count):
            sides = positions[mine], positions[theirs]
            wanted = [chance(*sides), *(holding(*sides, owner) for owner in range(3))]
            assert pairs[mine, theirs] == pytest.approx(np.array(wanted, float), abs=1e-12)


def test_chances_are_certain_or_fall_with_every_roll(bearoff):
    tails = bearoff.tails.reshape(-1, 2, bearoff.width)

    assert (tails[1:, :, 0] == 1).all()
    assert (np.diff(tails, axis=2) <= 0).all()
    assert (tails[:, :, -1] == 0).all()
    assert (tails[:, 1] <= tails[:, 0]).all()  # the first checker is off before the last


def test_one_sided_chances_of_both_sides_are_those_of_a_convolution(bearoff):
    one_sided = bearoff._replace(pair_positions=0)
    sides = [0, 0, 2, 2, 3, 3, 5], [3, 3, 3, 2, 2, 2]
    boards = packed(sides[0][1:], sides[1])  # fifteen checkers a side: gammons count
    chances = [
        -np.diff(bearoff.tails.reshape(-1, 2, bearoff.width)[number_of(c)], prepend=1, append=0)
        for c in (sides[0][1:], sides[1])
    ]
    (mine, _), (theirs, their_first) = chances
    n = np.arange(bearoff.width + 1)
    before = n[:, None] <= n  # my last roll is not after his

    values, known = probabilities(one_sided, boards)

    assert known[0]
    assert values[0, 0] == pytest.approx(mine @ before @ theirs, abs=1e-7)
    assert values[0, 1] == pytest.approx(mine @ before @ their_first, abs=1e-7)


def test_who_has_borne_off_nothing_can_lose_a_gammon(bearoff):
    """Fault B114: a winning chance alone."""
    last, full = [2], [0] * 5 + [15]

    (trailing, leading), known = probabilities(
        bearoff, np.concatenate([packed(full, last), packed(last, full)])
    )

    assert known.all()
    # 17 rolls bear one off: those with a six, 51, 42, 33 and 22.
    assert trailing == pytest.approx([0, 0, 0, 19 / 36, 0], abs=1e-7)
    assert leading.tolist() == [1, 1, 0, 0, 0]


def test_a_gammon_takes_the_last_checker_off_before_the_first(bearoff):
    (values,), _ = probabilities(bearoff, packed([0] * 5 + [2], [0] * 5 + [15]))

    at_once, after_a_miss = 4 / 36, 32 / 36 * 19 / 36  # two rolls are mostly enough
    assert at_once + 0.7 * after_a_miss < values[1] < at_once + after_a_miss
    assert values[0] == pytest.approx(1, abs=1e-6)
    assert (values[2:] == 0).all()


def test_hypergammon_counts_gammons_too(bearoff):
    (values,), (known,) = probabilities(bearoff, packed([1, 1, 1], [1, 1, 1], checkers=3))

    assert known
    assert values[1] == pytest.approx(5 / 36, abs=1e-7)  # a double other than 11
    assert values[3] == 0


@pytest.mark.parametrize(
    "sides",
    [
        ([1], [0] * 6 + [1]),
        ([0] * 6 + [1], [1]),
        ([0] * 14 + [1], [1]),
        ([1], [0] * 15 + [1]),
        ([1], [0] * 22 + [1]),
        ([0] * 24 + [1], [1]),
    ],
)
def test_a_checker_outside_the_home_board_is_in_no_database(bearoff, sides):
    _, known = probabilities(bearoff, packed(*sides))

    assert not known[0]


def test_without_databases_nothing_is_known():
    _, known = probabilities(tables(), packed([1], [1]))

    assert not known[0]


def test_pairs_with_more_checkers_are_left_to_the_one_sided_database(bearoff):
    two_sided = bearoff._replace(positions=0)
    seven, six = packed([7], [1]), packed([6], [1])

    assert [probabilities(two_sided, each)[1][0] for each in (seven, six)] == [False, True]
    assert probabilities(bearoff, seven)[1][0]


def test_each_owner_likes_the_cube_better_on_his_side(bearoff):
    chance, centre, mine, theirs = np.moveaxis(bearoff.pairs.reshape(924, 924, 4)[1:, 1:], -1, 0)
    rounding = 1e-12

    assert (mine >= theirs - rounding).all()
    assert (mine >= 2 * chance - 1 - rounding).all()
    assert (theirs <= 2 * chance - 1 + rounding).all()
    assert (mine >= centre - rounding).all()


def test_who_rolls_first_has_the_better_chance(bearoff):
    chance = bearoff.pairs.reshape(924, 924, 4)[1:, 1:, 0]

    assert (chance + chance.T >= 1 - 1e-12).all()


def test_the_cube_actions_of_each_owner(bearoff):
    boards = np.concatenate([packed([0] * 5 + [1], [0] * 5 + [1])] * 4)
    actions = np.full((4, 4), np.nan)
    index = np.arange(4)
    money = np.array([True, True, True, False])
    owner = np.array([0, 1, 2, 0])
    beavers = np.array([False, True, False, False])

    actions_of_boards(bearoff, words(boards), index, money, owner, beavers, actions)

    assert actions[:3].tolist() == [[0.5, 1, 1, 1], [0.625, 1, 1, 2], [0.5, 1, 1, 1]]
    assert np.isnan(actions[3]).all()


def test_numbers_of_positions_are_binomials():
    assert NUMBERS[6, 15] == 38760  # of the first position with 15 checkers: C(20, 6)
