"""Replies that are remembered, in caches of several sizes, against finding them afresh."""

import numpy as np
import pytest
from numba import njit

from engine.backgammon.variants import BACKGAMMON
from engine.cube.context import CubeContext, Owner
from engine.cube.equity import cubes_of
from engine.kernels import movegen
from engine.kernels.cubeful import ACTIONS
from engine.kernels.net import make_scratch
from engine.kernels.replies import FIVE, ROLLS, find_replies, make_replies

SITUATIONS = [CubeContext(), CubeContext((2, 4), 2, Owner.ME)]


@njit
def ask(net, replies, cubes, situations, words, found_words, found_five, found_weights):
    """The replies to words[k] with the cube situations[k], written to row k."""
    scratch, actions = make_scratch(net.sizes), np.empty(ACTIONS)
    for row in range(len(words)):
        place = find_replies(net, scratch, replies, cubes, situations[row], words, row, actions)
        start = place * ROLLS
        found_words[row] = replies.words[start : start + ROLLS]
        found_five[row] = replies.five[start : start + ROLLS]
        found_weights[row] = replies.weights[start : start + ROLLS]


@pytest.fixture(scope="module")
def network(random_network):
    return random_network(16, scale=2.0)


@pytest.fixture(scope="module")
def questions(played_boards):
    """Positions and situations, many of them more than once."""
    boards = movegen.pack(played_boards(BACKGAMMON, 700)[::100])
    words = boards.reshape(-1, 64).view(np.uint64)
    order = np.random.default_rng(5).integers(len(words) * len(SITUATIONS), size=60)
    return order % len(SITUATIONS), words[order // len(SITUATIONS)]


def answers(net, replies, situations, words):
    found = (
        np.empty((len(words), ROLLS, 8), np.uint64),
        np.empty((len(words), ROLLS, FIVE), np.float32),
        np.empty((len(words), ROLLS)),
    )
    ask(net, replies, cubes_of(SITUATIONS), situations, words, *found)
    return found


@pytest.mark.parametrize("places", [1, 2, 5, 64])
def test_what_is_remembered_changes_no_reply(places, network, questions):
    """With one place all positions collide; with 64 most are remembered."""
    situations, words = questions
    remembered = answers(network.kernel, make_replies(places), situations, words)
    for row in range(len(words)):
        afresh = answers(
            network.kernel, make_replies(1), situations[row : row + 1], words[row : row + 1]
        )
        for some, same in zip(remembered, afresh, strict=True):
            assert np.array_equal(some[row], same[0])


def test_a_reply_is_found_once_for_each_position_and_situation(network, questions):
    situations, words = questions
    distinct = set(zip(situations, map(bytes, words), strict=True))
    replies = make_replies(4096)
    answers(network.kernel, replies, situations, words)
    assert (replies.keys[:, 8] > 0).sum() == len(distinct)

    replies.weights[:] = -1
    assert (answers(network.kernel, replies, situations, words)[2] == -1).all()


def test_the_situation_matters(network, questions):
    _, words = questions
    first, second = (
        answers(network.kernel, make_replies(64), np.full(len(words), situation), words)
        for situation in range(len(SITUATIONS))
    )
    assert not np.array_equal(first[0], second[0])


def test_weights_are_those_of_the_rolls(network, questions):
    weights = answers(network.kernel, make_replies(64), *questions)[2]
    np.testing.assert_allclose(weights.sum(axis=1), 1)
