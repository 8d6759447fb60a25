from collections import Counter

import pytest

from engine.backgammon.dice import ROLLS, WEIGHTS, Roller, parse_dice
from engine.errors import NotationError


def test_rolls_and_weights():
    assert len(ROLLS) == len(set(ROLLS)) == 21
    assert ROLLS[:4] == ((1, 1), (2, 1), (2, 2), (3, 1))
    assert WEIGHTS.sum() == 36
    assert sum(weight * (2 if a != b else 4) * (a + b) / 2 for (a, b), weight in zip(
        ROLLS, WEIGHTS, strict=True
    )) / 36 == pytest.approx(49 / 6)  # fmt: skip


@pytest.mark.parametrize("text", ["31", "3-1", "3 1", "3,1", " 31 "])
def test_dice_are_read(text):
    assert parse_dice(text) == (3, 1)


@pytest.mark.parametrize("text", ["", "3", "70", "07", "311", "3--1", "a1", "³1", "3/1"])
def test_what_is_no_roll_is_refused(text):
    with pytest.raises(NotationError, match="expected two numbers from 1 to 6"):
        parse_dice(text)


def test_a_seed_gives_the_same_dice_again():
    first, second = Roller(7), Roller(7)
    assert [first.roll() for _ in range(50)] == [second.roll() for _ in range(50)]
    assert [Roller(8).roll() for _ in range(5)] != [Roller(7).roll() for _ in range(5)]


def test_every_roll_comes_as_often_as_it_should():
    roller = Roller(1)
    counts = Counter(tuple(sorted(roller.roll(), reverse=True)) for _ in range(36_000))
    for roll, weight in zip(ROLLS, WEIGHTS, strict=True):
        assert counts[roll] == pytest.approx(1000 * weight, abs=6 * (1000 * weight) ** 0.5)


def test_the_opening_is_never_a_double_and_goes_to_either_side():
    roller = Roller(2)
    openings = [roller.opening() for _ in range(1000)]
    assert all(opening.dice[0] > opening.dice[1] for opening in openings)
    assert 400 < sum(opening.first for opening in openings) < 600
    assert 100 < sum(opening.ties for opening in openings) < 300  # one in five


def test_the_sides_may_start_by_turns():
    roller = Roller(3)
    assert [roller.opening(first=game % 2).first for game in range(10)] == [0, 1] * 5
