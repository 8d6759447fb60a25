import numpy as np
import pytest

from engine.backgammon.variants import BACKGAMMON
from engine.errors import NetError
from engine.evaluation.encoders import ENCODERS, encoder
from engine.kernels import movegen
from engine.kernels.tactics import tactics_of

BAR = 25


@pytest.mark.parametrize("feature_set", ENCODERS.values(), ids=ENCODERS)
def test_folding_a_first_layer_gives_what_the_product_gives(feature_set, packed_positions):
    weight = np.random.default_rng(1).normal(size=(24, feature_set.features)).astype(np.float32)

    table = feature_set.table(weight)
    folded = table[np.arange(64), packed_positions.reshape(-1, 64)].sum(axis=1)
    if feature_set.has_tactics:
        boards = packed_positions.reshape(-1, 64)
        folded += tactics_of(boards) @ feature_set.tactics(weight)

    product = feature_set.encode(packed_positions) @ weight.T
    np.testing.assert_allclose(folded, product, atol=1e-4)


@pytest.mark.parametrize("feature_set", ENCODERS.values(), ids=ENCODERS)
def test_every_board_has_features_of_its_own(feature_set, packed_positions):
    boards = np.unique(packed_positions, axis=0)
    features = np.unique(feature_set.encode(boards), axis=0)
    assert len(features) == len(boards)


@pytest.mark.parametrize("feature_set", ENCODERS.values(), ids=ENCODERS)
def test_the_unused_bytes_of_a_packed_board_add_nothing(feature_set):
    table = feature_set.table(np.ones((8, feature_set.features), np.float32))
    assert not table.reshape(2, 32, 16, 8)[:, 26:].any()


def test_the_thermometer_by_hand():
    thermometer = encoder("thermometer", 1)
    start = thermometer.encode(movegen.pack(BACKGAMMON.start[None])).reshape(2, 26, 6)

    np.testing.assert_array_equal(start[0], start[1])
    np.testing.assert_array_equal(start[0, 24], [1, 1, 0, 0, 0, 0])  # two checkers
    np.testing.assert_array_equal(start[0, 8], [1, 1, 1, 0, 0, 0])
    np.testing.assert_array_equal(start[0, 6], [1, 1, 1, 1, 1, 0])
    np.testing.assert_array_equal(start[0, [0, 5, BAR]], np.zeros((3, 6)))

    board = BACKGAMMON.start.copy()
    board[0, 13] -= 5
    board[0, 6] += 3  # eight there
    board[0, 0] += 2  # two off
    mine, _ = thermometer.encode(movegen.pack(board[None])).reshape(2, 26, 6)
    np.testing.assert_array_equal(mine[6], [1, 1, 1, 1, 1, 0.75])
    np.testing.assert_allclose(mine[0], [2 / 15, 1, 0, 0, 0, 0])


def test_an_unknown_encoder_is_refused_by_name():
    with pytest.raises(NetError, match="unknown encoder 'wavelets': expected one of thermometer"):
        encoder("wavelets", 1)


def test_another_version_is_refused_by_number():
    with pytest.raises(NetError, match=r"'thermometer' is of version 2: .* reads version 1"):
        encoder("thermometer", 2)
