"""Legal results in batches; what is legal is tested with the rules, in tests/backgammon."""

import numpy as np

from engine.backgammon.variants import BACKGAMMON, NACKGAMMON
from engine.kernels import movegen


def test_packing_and_unpacking(played_boards):
    boards = played_boards(BACKGAMMON, 200)

    packed = movegen.pack(boards)

    np.testing.assert_array_equal(movegen.unpack(packed), boards)
    assert not packed[:, :, 26:].any()
    np.testing.assert_array_equal(movegen.unpack(movegen.swap(packed)), boards[:, ::-1])


def test_a_large_batch_gives_what_its_positions_give_alone():
    """Doubles of scattered checkers have so many results that the memory for them must grow."""
    packed = movegen.pack(np.repeat(NACKGAMMON.start[None], 400, axis=0))
    dice = np.tile(np.array([[1, 1], [3, 3], [6, 5], [2, 1]], np.int8), (100, 1))

    results, offsets = movegen.legal_results(packed, dice)

    assert len(results) > 400 * 24 + movegen.MAX_RESULTS
    for first in range(4):
        alone, _ = movegen.legal_results(packed[:1], dice[first : first + 1])
        for index in range(first, 400, 4):
            np.testing.assert_array_equal(results[offsets[index] : offsets[index + 1]], alone)


def test_what_is_given_is_left_alone(packed_positions):
    dice = np.tile(np.array([[4, 4]], np.int8), (len(packed_positions), 1))
    before = packed_positions.copy()

    movegen.legal_results(packed_positions, dice)
    movegen.legal_results_all_rolls(packed_positions[:50])

    np.testing.assert_array_equal(packed_positions, before)


def test_no_positions_have_no_results():
    nothing = np.zeros((0, 2, 32), np.int8)
    results, offsets = movegen.legal_results(nothing, np.zeros((0, 2), np.int8))
    assert results.shape == (0, 2, 32) and offsets.tolist() == [0]
    results, offsets = movegen.legal_results_all_rolls(nothing)
    assert results.shape == (0, 2, 32) and offsets.shape == (0, 22)
