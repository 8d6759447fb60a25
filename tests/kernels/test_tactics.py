"""The tactical features against a slow twin that counts on its fingers."""

import itertools

import numpy as np
import pytest

from engine.backgammon.board import Phase, phases
from engine.backgammon.position import Position
from engine.kernels import movegen
from engine.kernels.tactics import TACTICS, tactics_of

BAR = 25
DICE = list(itertools.product(range(1, 7), repeat=2))
NAMES = (
    "hits", "far hits", "rear 1", "rear 2", "rear 3", "mobility", "rearmost", "rearmost point",
    "nearest anchor", "to pass", "prime", "from the bar", "least from far back",
)  # fmt: skip


def can_play_in_full(source, dice, blocked):
    """Whether one checker can make both steps, in some order, of this roll."""
    first, second = dice
    stops_open = source - first not in blocked or source - second not in blocked
    return stops_open and source - first - second not in blocked


def mobility(source, blocked):
    return np.mean([can_play_in_full(source, dice, blocked) for dice in DICE])


def reached(points, on_bar, blocked, order):
    """Where checkers can land when the dice are played in this order by any checkers."""
    sources, landed_ever = set(points), set()
    for step, die in enumerate(order):
        leaving = {BAR} if step < on_bar else sources
        landed = {source - die for source in leaving if source > die} - blocked
        if not landed:
            break
        landed_ever |= landed
        sources |= landed
    return landed_ever


def share_that_hits(points, on_bar, blocked, targets):
    count = 0
    for first, second in DICE:
        orders = [[first] * 4] if first == second else [[first, second], [second, first]]
        count += any(reached(points, on_bar, blocked, order) & targets for order in orders)
    return count / 36


def longest_run(points):
    runs = [n for n in range(24) for start in points if {*range(start, start + n)} <= points]
    return max(runs, default=0)


def slow_side(own, other):
    """The features of the side with int8[26] columns `own`, by name."""
    checkers = [point for point in range(1, 26) for _ in range(own[point])]
    occupied = sorted(set(checkers), reverse=True)
    made = {point for point in range(1, 25) if own[point] > 1}
    blocked = {25 - point for point in range(1, 25) if other[point] > 1}
    blots = {25 - point for point in range(1, 25) if other[point] == 1}
    last_of_other = min(25 - point for point in range(1, 26) if other[point])
    on_points = set(occupied) - {BAR}
    shares = [mobility(point, blocked) for point in occupied[:3]]
    rear = shares + [0.0] * (3 - len(shares))
    far_blots = {point for point in blots if point > 12}
    return {
        "hits": share_that_hits(on_points, own[BAR], blocked, blots),
        "far hits": share_that_hits(on_points, own[BAR], blocked, far_blots),
        "rear 1": rear[0],
        "rear 2": rear[1],
        "rear 3": rear[2],
        "mobility": np.mean([mobility(point, blocked) for point in checkers]),
        "rearmost": occupied[0] / 25,
        "rearmost point": max(made, default=0) / 24,
        "nearest anchor": min((point for point in made if point > 12), default=0) / 24,
        "to pass": sum(max(point - last_of_other, 0) for point in checkers) / 100,
        "prime": longest_run(made) / 6,
        "from the bar": mobility(BAR, blocked),
        "least from far back": min(mobility(point, blocked) for point in (BAR, 24, 22, 20)),
    }


def of_side(position, name, side=0):
    """One feature of the player on roll, or of the opponent."""
    (features,) = tactics_of(movegen.flat(movegen.pack(position.board[None])))
    return features[side * len(NAMES) + NAMES.index(name)]


def test_the_features_of_played_positions(packed_positions):
    boards = movegen.unpack(packed_positions)[::4]
    features = tactics_of(movegen.flat(packed_positions[::4]))

    assert features.shape == (len(boards), TACTICS) and features.dtype == np.float32
    contact = phases(boards) == Phase.CONTACT
    assert contact.sum() > 100 and not features[~contact].any()
    for board, row in zip(boards[contact], features[contact], strict=True):
        slow = [*slow_side(*board).values(), *slow_side(*board[::-1]).values(), 1.0]
        np.testing.assert_allclose(row[: len(slow)], slow, atol=2e-5)
        assert not row[len(slow) :].any()


def test_the_names_are_those_of_the_twin():
    assert tuple(slow_side(*Position.start().board)) == NAMES


def test_switching_sides_switches_the_features(packed_positions):
    features = tactics_of(movegen.flat(packed_positions))
    swapped = tactics_of(movegen.flat(movegen.swap(packed_positions)))
    half = len(NAMES)
    np.testing.assert_array_equal(swapped[:, :half], features[:, half : 2 * half])
    np.testing.assert_array_equal(swapped[:, half : 2 * half], features[:, :half])


def placed(mine, theirs):
    board = np.zeros((2, 26), int)
    for row, columns in zip(board, (mine, theirs), strict=True):
        row[list(columns)] = list(columns.values())
        row[0] = 15 - row.sum()
    return Position(board)


ROLLS_THAT_HIT = {  # a blot so many points away, nothing between: the table of every textbook
    1: 11, 2: 12, 3: 14, 4: 15, 5: 15, 6: 17, 7: 6, 8: 6, 9: 5, 10: 3, 11: 2, 12: 3,
    15: 1, 16: 1, 18: 1, 20: 1, 13: 0, 19: 0,
}  # fmt: skip


@pytest.mark.parametrize("distance", ROLLS_THAT_HIT)
def test_the_rolls_that_hit_a_blot_by_the_book(distance):
    position = placed({24: 1}, {1 + distance: 1})
    share = pytest.approx(ROLLS_THAT_HIT[distance] / 36)
    assert of_side(position, "hits") == share
    assert of_side(position, "far hits") == (share if 24 - distance > 12 else 0)


def test_nobody_enters_a_closed_board():
    closed = placed({25: 1, 6: 2}, dict.fromkeys(range(1, 7), 2) | {24: 1})
    assert of_side(closed, "from the bar") == 0
    assert of_side(closed, "hits") == 0  # though a blot stands on the ace point
    assert of_side(closed, "prime", side=1) == 1


def test_the_start_by_hand():
    start = Position.start()
    assert of_side(start, "hits") == 0
    assert of_side(start, "rearmost") == np.float32(24 / 25)
    assert of_side(start, "nearest anchor") == np.float32(13 / 24)
    assert of_side(start, "prime") == np.float32(1 / 6)
    assert of_side(start, "to pass") == np.float32((2 * 23 + 5 * 12 + 3 * 7 + 5 * 5) / 100)


def test_a_race_has_no_tactics():
    race = placed({12: 5, 1: 10}, {12: 5, 1: 10})
    assert race.phase is Phase.RACE
    assert not tactics_of(movegen.flat(movegen.pack(race.board[None]))).any()
