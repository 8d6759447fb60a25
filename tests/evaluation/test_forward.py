"""The compiled forward pass against a slow one over dense features."""

import numpy as np
import pytest
import torch

from engine.backgammon.board import Phase, is_over, outcome_points, phases
from engine.backgammon.dice import ROLLS, WEIGHTS
from engine.backgammon.position import read_id
from engine.evaluation import outcome
from engine.evaluation.encoders import ENCODERS
from engine.evaluation.fixed_point import fixed_point
from engine.evaluation.network import Network
from engine.kernels import movegen
from engine.kernels.forward import evaluate_boards
from engine.kernels.short_rows import PRODUCT_BITS
from engine.kernels.tactics import WHOLE, tactics_of
from training.network import ValueNet

FIXED_POINT = 2e-3  # of a probability, that rounding in the first layer may come to
SHAPES = [(8,), (40,), (72,), (256,), (16, 8), (72, 40), (104, 136), (256, 32, 32), (8, 200, 96)]


def possible(logits, packed):
    """The five probabilities float64[N, 5] of logits, each part at most its whole."""
    boards = movegen.unpack(packed)
    win, gammon, backgammon, lost_gammon, lost_backgammon = 1 / (1 + np.exp(-logits.T))
    gammon = np.where(boards[:, 1, 0] > 0, 0, np.minimum(gammon, win))
    lost_gammon = np.where(boards[:, 0, 0] > 0, 0, np.minimum(lost_gammon, 1 - win))
    race = phases(boards) == Phase.RACE
    behind, their_behind = (boards[:, side, 19:].any(axis=1) for side in (0, 1))
    backgammon = np.where(race & ~their_behind, 0, np.minimum(backgammon, gammon))
    lost_backgammon = np.where(race & ~behind, 0, np.minimum(lost_backgammon, lost_gammon))
    values = np.stack([win, gammon, backgammon, lost_gammon, lost_backgammon], axis=1)
    over = is_over(boards)
    values[over] = outcome.of_points(outcome_points(boards))[over]
    return values


def slow_plan(board):
    """The game plan of a board int8[2, 26] as `engine.kernels.plans` describes it."""
    rearmost = [max(np.flatnonzero(row[1:]), default=-1) + 1 for row in board]
    if 0 in rearmost or sum(rearmost) <= 25:
        return 0
    mine, theirs = (min(max(row[19:].sum(), 1), 3) - 1 for row in board)
    return 1 + 3 * mine + theirs


def real_sums(network, packed):
    """The sums of the first layer as the definition of a net file has them, float64[N, H]."""
    weight, bias = network.layers[0]
    return network.encoder.encode(packed).astype(np.float64) @ weight.T + bias


def fixed_point_sums(network, packed):
    """The same in the whole numbers of the kernels, as Python's own integers add them up."""
    weight, bias = network.layers[0]
    first = fixed_point(network.encoder.table(weight), bias, network.encoder.tactics(weight))
    boards = packed.reshape(-1, 64)
    sums = first.table.astype(object)[np.arange(64), boards].sum(axis=1) + first.biases
    if len(first.tactics):
        units = np.rint(tactics_of(boards) * WHOLE).astype(object)
        for value, row in zip(units.T, first.tactics.astype(object), strict=True):
            sums += value[:, None] * row // 2**PRODUCT_BITS
    assert np.abs(sums).max() < 2**15
    return sums.astype(np.float64) / first.scale


def slow_evaluation(network, packed, sums=fixed_point_sums):
    """The five probabilities of first sums, in float64."""
    values = sums(network, packed)
    plans = [slow_plan(board) for board in movegen.unpack(packed)]
    for weight, bias in network.layers[1:]:
        values = np.maximum(values, 0)
        if weight.ndim == 3:
            values = np.einsum("ni,noi->no", values, weight[plans]) + bias[plans]
        else:
            values = values @ weight.T + bias
    return possible(values, packed)


@pytest.fixture(params=ENCODERS.values(), ids=ENCODERS)
def feature_set(request):
    return request.param


@pytest.fixture(scope="session")
def unfinished(packed_positions):
    """40 positions of every variant in which somebody is to play."""
    packed = packed_positions[::10]
    return packed[~is_over(movegen.unpack(packed))]


@pytest.fixture(
    params=[(False, 8), (False, 16, 8), (False, 72, 40), (True, 8), (True, 24, 16)], ids=str
)
def network(request, feature_set, random_network):
    by_plan, *hidden = request.param
    return random_network(*hidden, scale=2.0, encoder=feature_set, by_plan=by_plan)


@pytest.mark.parametrize("by_plan", [False, True])
@pytest.mark.parametrize("hidden", SHAPES, ids=str)
def test_the_forward_pass_is_that_of_the_dense_net(
    hidden, by_plan, feature_set, random_network, packed_positions
):
    network = random_network(*hidden, scale=2.0, encoder=feature_set, by_plan=by_plan)
    values = network.evaluate(packed_positions)
    np.testing.assert_allclose(values, slow_evaluation(network, packed_positions), atol=1e-5)
    real = slow_evaluation(network, packed_positions, real_sums)
    np.testing.assert_allclose(values, real, atol=FIXED_POINT)


def test_the_forward_pass_is_that_of_torch(network, packed_positions):
    with torch.no_grad():
        logits = ValueNet.of_network(network)(packed_positions).numpy()
    np.testing.assert_allclose(
        network.evaluate(packed_positions), possible(logits, packed_positions), atol=FIXED_POINT
    )


def walled(array):
    """A copy of the array with nothing but NaN or large numbers around it in memory."""
    wall = np.nan if array.dtype == np.float32 else 29_000
    around = np.full(len(array) + 4096, wall, array.dtype)
    around[2048:-2048] = array
    return around[2048:-2048]


def test_nothing_outside_the_weights_is_ever_read(network, unfinished):
    net = network.kernel
    parts = ("table", "biases", "tactics", "weights")
    among_walls = net._replace(**{part: walled(getattr(net, part)) for part in parts})
    values = np.empty((len(unfinished), 5), np.float32)

    evaluate_boards(among_walls, unfinished.reshape(-1, 64).view(np.uint64), values)

    np.testing.assert_array_equal(values, network.evaluate(unfinished))


@pytest.mark.parametrize("scale", [1, 10, 1000, 1e6])
def test_probabilities_are_possible_however_sure_the_net_is(
    scale, random_network, packed_positions
):
    network = random_network(40, 24, scale=scale)
    win, gammon, backgammon, lost_gammon, lost_backgammon = network.evaluate(packed_positions).T
    assert (win >= 0).all() and (win <= 1).all()
    assert (backgammon >= 0).all() and (backgammon <= gammon).all() and (gammon <= win).all()
    assert (lost_backgammon >= 0).all() and (lost_backgammon <= lost_gammon).all()
    assert (lost_gammon <= 1 - win).all()


@pytest.mark.parametrize(
    ("points", "mine", "theirs"),
    [
        (1, {0: 15}, {0: 1, 25: 14}),
        (2, {0: 15}, {18: 1, 1: 14}),
        (3, {0: 15}, {19: 1, 1: 14}),
        (-1, {0: 1, 24: 2, 1: 12}, {0: 15}),
        (-2, {18: 2, 6: 13}, {0: 15}),
        (-3, {25: 1, 6: 14}, {0: 15}),
        (2, {0: 3}, {18: 3}),
        (-3, {25: 1, 1: 2}, {0: 3}),
    ],
)
def test_finished_games_are_exact(points, mine, theirs, random_network):
    packed = np.zeros((1, 2, 32), np.int8)
    for row, columns in zip(packed[0], (mine, theirs), strict=True):
        row[list(columns)] = list(columns.values())

    five = random_network(16, 8).evaluate(packed)

    np.testing.assert_array_equal(five[0], outcome.of_points(np.array(points)))
    assert outcome.equity(five[0]) == points


# Fault B155: a gammon chance for the opponent of a side that has just borne a checker off.
def test_a_side_that_has_borne_off_loses_no_gammon(random_network):
    position, _ = read_id("YEYF4TnO7w4AAA")
    results, _ = movegen.legal_results(
        movegen.pack(position.board[None]), np.array([[5, 4]], np.int8)
    )
    assert len(results) == 2

    for_mover = outcome.flip(random_network(32, scale=3.0).evaluate(results))

    assert not for_mover[:, 3:].any()
    assert for_mover[:, 1].all()  # the opponent has borne off none


def test_evaluating_nothing(random_network):
    assert random_network(8).evaluate(np.zeros((0, 2, 32), np.int8)).shape == (0, 5)


def test_a_position_is_worth_the_same_in_any_batch(network, packed_positions):
    together = network.evaluate(packed_positions)
    alone = np.concatenate([network.evaluate(packed[None]) for packed in packed_positions[:50]])
    np.testing.assert_array_equal(together[:50], alone)


@pytest.mark.parametrize("hidden", [(8,), (40,), (96, 8), (256, 32, 32)], ids=str)
def test_the_choice_is_a_legal_result_that_the_next_player_likes_least(
    hidden, feature_set, random_network, unfinished
):
    network = random_network(*hidden, scale=2.0, encoder=feature_set)
    dice = np.array(ROLLS, np.int8)[np.arange(len(unfinished)) % 21]
    dice[::2] = dice[::2, ::-1]  # in any order
    before = unfinished.copy()

    chosen, values = network.choose(unfinished, dice)

    results, offsets = movegen.legal_results(unfinished, dice)
    equities = outcome.equity(slow_evaluation(network, results))
    for index, board in enumerate(chosen):
        legal = slice(offsets[index], offsets[index + 1])
        assert (results[legal] == board).all(axis=(1, 2)).sum() == 1
        assert outcome.equity(values[index]) == pytest.approx(equities[legal].min(), abs=1e-5)
    np.testing.assert_array_equal(values, network.evaluate(chosen))
    np.testing.assert_array_equal(unfinished, before)


def test_of_two_equal_results_the_first_of_the_generator_is_chosen(unfinished, random_network):
    feature_set = random_network(8).encoder
    rare = np.array([0, 0, -50, 0, -50])  # backgammons, which are not always possible
    layers = [(np.zeros((8, feature_set.features)), np.zeros(8)), (np.zeros((5, 8)), rare)]
    same = [(weight.astype(np.float32), bias.astype(np.float32)) for weight, bias in layers]
    indifferent = Network.of_layers(feature_set, "backgammon", same, "nothing learned")
    not_home = unfinished[unfinished[:, 0, 10:].any(axis=1)]  # so that 21 bears none off
    dice = np.tile(np.array([[2, 1]], np.int8), (len(not_home), 1))

    chosen, _ = indifferent.choose(not_home, dice)

    results, offsets = movegen.legal_results(not_home, dice)
    np.testing.assert_array_equal(chosen, results[offsets[:-1]])


def test_backing_up_is_the_mean_over_the_rolls_of_the_best_result(network, unfinished):
    backed_up, _ = network.back_up(unfinished)

    expected = np.zeros((len(unfinished), 5))
    for dice, weight in zip(ROLLS, WEIGHTS, strict=True):
        rolled = np.tile(np.array([dice], np.int8), (len(unfinished), 1))
        _, values = network.choose(unfinished, rolled)
        expected += weight / 36 * outcome.flip(values)
    np.testing.assert_allclose(backed_up, expected, atol=1e-5)


def test_backing_up_the_last_checker_of_a_gammon_is_exact(network):
    packed = np.zeros((1, 2, 32), np.int8)
    packed[0, 0, [0, 1]] = 14, 1
    packed[0, 1, [7, 1]] = 1, 14

    five, _ = network.back_up(packed)

    np.testing.assert_allclose(five[0], [1, 1, 0, 0, 0], atol=1e-6)


def test_a_loss_that_is_certain_is_still_a_value(unfinished, random_network):
    """Every play loses a backgammon for sure: nothing is worse, and the values must say so."""
    sure = random_network(8)
    layers = [sure.layers[0], (np.zeros((5, 8), np.float32), np.full(5, 50, np.float32))]
    layers[1][1][3:] = -50
    network = Network.of_layers(sure.encoder, "backgammon", layers, "sure")
    all_on = unfinished[(unfinished[:, :, 0] == 0).all(axis=1)]
    assert len(all_on) > 5
    dice = np.tile(np.array([[2, 1]], np.int8), (len(all_on), 1))

    chosen, values = network.choose(all_on, dice)

    np.testing.assert_array_equal(values, network.evaluate(chosen))
    still_all_on = (chosen[:, 1, 0] == 0) & (phases(movegen.unpack(chosen)) == Phase.CONTACT)
    assert still_all_on.sum() > 5
    assert (values[still_all_on] == [1, 1, 1, 0, 0]).all()
    there, back = (network.back_up(boards)[0] for boards in (all_on, all_on[::-1]))
    np.testing.assert_allclose(there, back[::-1])


def test_in_a_race_only_who_is_still_behind_can_lose_a_backgammon(random_network):
    network = random_network(8)
    layers = [network.layers[0], (np.zeros((5, 8), np.float32), np.zeros(5, np.float32))]
    even = Network.of_layers(network.encoder, "backgammon", layers, "every chance one half")
    boards = np.zeros((4, 2, 26), np.int8)
    boards[:3, 0, [0, 1]] = 13, 2
    boards[0, 1, [5, 6, 7]] = 1, 1, 13  # past, and out of the other's home board
    boards[1, 1, [7, 20]] = 14, 1  # past, but still in it
    boards[2, 0, [1, 24]] = 1, 1  # the winner may be hit
    boards[2, 1, [5, 6, 7]] = 1, 1, 13
    boards[3] = boards[1, ::-1]

    values = even.evaluate(movegen.pack(boards))

    np.testing.assert_array_equal(values[:, 2], [0, 0.5, 0.5, 0])
    np.testing.assert_array_equal(values[:, 4], [0, 0, 0, 0.5])
    np.testing.assert_array_equal(values[:, 1], [0.5, 0.5, 0.5, 0])
