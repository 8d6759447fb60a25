"""The pruning net: that it learns to rank, and that a run brings it into its net."""

import numpy as np
import pytest
import torch

from engine.backgammon.variants import BACKGAMMON
from engine.evaluation.network import Network
from engine.kernels import movegen
from engine.kernels.choice import CUBELESS
from training.config import Shape
from training.network import new_net
from training.pruning import PRUNING_ENCODER, PruningLearner, Rolls


@pytest.fixture(scope="module")
def rolls(played_boards) -> Rolls:
    """One roll of each of 400 positions, as a random net of one layer judges the results."""
    net = new_net(Shape("thermometer", (16,)), 3).export("backgammon", "test")
    packed = movegen.pack(played_boards(BACKGAMMON, 2000)[:1200:3])
    return Rolls.of_positions(net, packed, np.random.default_rng(5))


def share_of_best_first(learner: PruningLearner, rolls: Rolls) -> float:
    """How often the pruning net's first money result is the net's."""
    outputs = learner.net(torch.from_numpy(PRUNING_ENCODER.encode(rolls.boards)))
    scores = outputs.detach().numpy() @ np.array(CUBELESS)
    equities = rolls.values @ np.array(CUBELESS)
    hits = [
        equities[first + scores[first:after].argmin()] <= equities[first:after].min() + 1e-6
        for first, after in zip(rolls.offsets[:-1], rolls.offsets[1:], strict=True)
        if after - first > 5
    ]
    return float(np.mean(hits))


def test_it_learns_which_result_is_best(rolls):
    learner = PruningLearner()
    before = share_of_best_first(learner, rolls)
    rng = np.random.default_rng(1)

    losses = [learner.learn(rolls, rng, 0.0) for _ in range(100)]

    assert losses[-1] < losses[0]
    assert before < 0.3
    assert share_of_best_first(learner, rolls) > 0.45


def test_rolls_without_a_choice_teach_nothing(rolls):
    counts = np.diff(rolls.offsets)
    forced = int(np.argmin(counts))
    first, after = rolls.offsets[forced], rolls.offsets[forced + 1]
    assert counts[forced] < 2
    alone = Rolls(
        rolls.boards[first:after], rolls.values[first:after], np.array([0, after - first])
    )
    assert PruningLearner().learn(alone, np.random.default_rng(1), 0.0) == 0


def test_what_is_learned_is_kept_in_a_net_file(rolls, tmp_path):
    learner = PruningLearner()
    learner.learn(rolls, np.random.default_rng(1), 0.0)
    net = new_net(Shape("tactical", (16, 8)), 1).export("backgammon", "test", learner.net.export())

    net.save(tmp_path / "net.safetensors")
    loaded = Network.load(tmp_path / "net.safetensors")

    assert loaded.pruning is not None
    for told, kept in zip(learner.net.export(), loaded.pruning, strict=True):
        assert np.array_equal(told, kept)
    assert loaded.hash == net.hash
    assert loaded.hash != new_net(Shape("tactical", (16, 8)), 1).export("backgammon", "test").hash
