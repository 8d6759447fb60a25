import numpy as np

from engine.backgammon.variants import BACKGAMMON
from engine.kernels.movegen import legal_results, pack
from engine.players.random import RandomPlayer

START = pack(BACKGAMMON.start[None])


def test_chooses_each_legal_result_equally_often() -> None:
    dice = np.array([[2, 1]], np.int8)
    results, _ = legal_results(START, dice)
    counts = dict.fromkeys((result.tobytes() for result in results), 0)

    for seed in range(6000):
        counts[RandomPlayer(seed=seed).best_packed(START, dice).tobytes()] += 1

    expected = 6000 / len(results)
    assert all(abs(count - expected) < 4.5 * expected**0.5 for count in counts.values())


def test_choice_depends_on_position_roll_and_seed_but_not_on_the_batch() -> None:
    dice = np.array([[high, low] for high in range(1, 7) for low in range(1, high + 1)], np.int8)
    boards = np.repeat(START, len(dice), axis=0)

    together = RandomPlayer().best_packed(boards, dice)
    backwards = RandomPlayer().best_packed(boards[::-1], dice[::-1, ::-1])[::-1]
    alone = [RandomPlayer().best_packed(START, roll[None])[0] for roll in dice]
    otherwise = RandomPlayer(seed=1).best_packed(boards, dice)

    assert np.array_equal(together, backwards)
    assert np.array_equal(together, alone)
    assert not np.array_equal(together, otherwise)
