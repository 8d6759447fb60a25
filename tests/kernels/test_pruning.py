"""The pruning net in the kernels, against its definition in numpy."""

import itertools

import numpy as np
import pytest
from numba import njit

from engine.backgammon.variants import BACKGAMMON
from engine.errors import NetError
from engine.evaluation.encoders import ENCODERS
from engine.evaluation.network import PRUNING_ENCODER, Network, PruningNet
from engine.kernels import movegen
from engine.kernels.choice import CUBELESS, choose_results, keep_worthy
from engine.kernels.forward import set_position
from engine.kernels.movegen import results_into
from engine.kernels.net import KEPT, PRUNING, make_scratch
from engine.kernels.pruning import PROMISING, keep_promising, weigh_outcomes


@pytest.fixture(scope="module")
def network() -> Network:
    """A random net with a random pruning net."""
    rng = np.random.default_rng(3)
    encoder = ENCODERS["tactical"]

    def draw(*shape: int) -> np.ndarray:
        return rng.normal(0, 0.3, shape).astype(np.float32)

    layers = [(draw(16, encoder.features), draw(16)), (draw(5, 16), draw(5))]
    pruning = PruningNet(draw(PRUNING, PRUNING_ENCODER.features), draw(PRUNING), draw(5, PRUNING))
    return Network.of_layers(encoder, "backgammon", layers, "test", pruning)


def money(values):
    return values @ np.array([2, 1, 1, -1, -1], np.float32)


def scores_of(network: Network, results: np.ndarray) -> np.ndarray:
    """What the pruning net says results are worth to the next player."""
    weight, bias, output = network.pruning
    hidden = np.maximum(PRUNING_ENCODER.encode(results) @ weight.T + bias, 0)
    scores = money(hidden @ output.T)
    scores[(results[:, 1, 1:26] == 0).all(axis=1)] = -np.inf
    return scores


def promising(network: Network, results: np.ndarray, within: float) -> np.ndarray:
    """The first KEPT of the rows that score up to `within` behind the best, in that order."""
    scores = scores_of(network, results)
    order = np.argsort(scores, kind="stable")
    return order[scores[order] <= scores[order[0]] + within][:KEPT]


def best_of_the_kept(network: Network, results: np.ndarray) -> np.ndarray:
    """The result that is worth least among those that the pruning net puts first."""
    kept = promising(network, results, PROMISING)
    return results[kept[money(network.evaluate(results[kept])).argmin()]]


def choose(net, packed, dice):
    chosen = np.empty((len(packed), 8), np.uint64)
    values = np.empty((len(packed), 5), np.float32)
    boards = np.ascontiguousarray(packed).reshape(-1, 64).view(np.uint64)
    choose_results(net, boards, dice, chosen, values)
    return chosen.view(np.int8).reshape(-1, 2, 32)


def test_the_choice_is_the_best_of_what_the_pruning_net_puts_first(network, played_boards):
    packed = movegen.pack(played_boards(BACKGAMMON, 1500)[::5])
    packed = packed[(packed[:, :, 1:26].sum(axis=2) > 0).all(axis=1)]
    dice = np.random.default_rng(4).integers(1, 7, (len(packed), 2)).astype(np.int8)
    results, offsets = movegen.legal_results(packed, dice)

    chosen = choose(network.quick, packed, dice)

    wanted = np.array(
        [best_of_the_kept(network, results[a:b]) for a, b in itertools.pairwise(offsets)]
    )
    assert (chosen == wanted).all()
    assert (chosen != choose(network.kernel, packed, dice)).any(), "a random one prunes badly"


@njit
def kept_results(net, words, high, low, within):
    """The results of a roll that are worth evaluating, the most promising first."""
    scratch = make_scratch(net.sizes)
    set_position(net, scratch, words, 0)
    count = results_into(
        scratch.board_bytes, scratch.board, high, low, scratch.results, 0, scratch.stack
    )
    weigh_outcomes(net, scratch, CUBELESS)
    count = keep_promising(net, scratch, count, within)
    return scratch.results[scratch.promising[:count]]


@pytest.mark.parametrize("within", [np.inf, 1.0, 0.05, 0.0])
def test_results_that_are_many_or_far_behind_are_left_out(network, played_boards, within):
    for position in movegen.pack(played_boards(BACKGAMMON, 600)[::60]):
        results, _ = movegen.legal_results(position[None], np.array([[4, 2]], np.int8))
        wanted = results[promising(network, results, within)]

        words = position.reshape(1, 64).view(np.uint64)
        kept = kept_results(network.quick, words, 4, 2, within)

        assert np.array_equal(kept.view(np.int8).reshape(-1, 2, 32), wanted)


@njit
def worth_evaluating(net, words, high, low, outcomes):
    """The results of a roll that are evaluated when the outcomes count for so much."""
    scratch = make_scratch(net.sizes)
    set_position(net, scratch, words, 0)
    return scratch.kept[: keep_worthy(net, scratch, high, low, outcomes)].copy()


def test_how_far_behind_is_in_equity_whatever_the_stakes(network, played_boards):
    counts = set()
    for position in movegen.pack(played_boards(BACKGAMMON, 600)[::60]):
        words = position.reshape(1, 64).view(np.uint64)
        kept = worth_evaluating(network.quick, words, 4, 2, CUBELESS)
        quarters = tuple(worth / 4 for worth in CUBELESS)  # as in a match a share of its chances
        assert np.array_equal(kept, worth_evaluating(network.quick, words, 4, 2, quarters))
        counts.add(len(kept))
    assert len(counts) > 1


def test_a_play_that_wins_is_never_pruned(network):
    board = np.zeros((1, 2, 26), np.int8)
    board[0, 0, [0, 1, 6]] = 13, 1, 1
    board[0, 1, [5, 6]] = 8, 7
    packed = movegen.pack(board)

    for high in range(1, 7):
        for low in range(1, high + 1):
            (chosen,) = choose(network.quick, packed, np.array([[high, low]], np.int8))
            assert (chosen[1, 0] == 15) == (high == 6 or high == low > 1)


@pytest.mark.parametrize("part", range(3))
def test_a_pruning_net_of_another_shape_is_refused(network, part):
    parts = list(network.pruning)
    parts[part] = parts[part][..., :-1]
    with pytest.raises(NetError, match="pruning net of shapes"):
        Network.of_layers(network.encoder, "backgammon", network.layers, "", PruningNet(*parts))


def test_without_a_pruning_net_every_result_is_evaluated(network, played_boards):
    packed = movegen.pack(played_boards(BACKGAMMON, 300))[:40]
    dice = np.full((len(packed), 2), (6, 3), np.int8)
    plain = Network.of_layers(network.encoder, "backgammon", network.layers, "")
    results, offsets = movegen.legal_results(packed, dice)

    for words, (start, stop) in zip(
        movegen.words_of(packed), itertools.pairwise(offsets), strict=True
    ):
        kept = worth_evaluating(plain.quick, words[None], 6, 3, CUBELESS)
        assert np.array_equal(kept, movegen.words_of(results[start:stop]))
    assert (np.diff(offsets) > KEPT).sum() > 10
