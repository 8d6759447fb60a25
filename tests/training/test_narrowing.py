from dataclasses import replace

import numpy as np
import pytest
import torch

from engine.errors import AcepointError
from engine.evaluation.network import Network
from engine.evaluation.outcome import equity
from training.config import Shape
from training.learner import Learner
from training.narrowing import narrowed
from training.network import new_net


def doubled(network: Network) -> Network:
    """The same net with every unit of the first layer twice, each heard by half."""
    (weight, bias), (above, bias_above), *later = network.layers
    first = np.repeat(weight, 2, axis=0), np.repeat(bias, 2)
    heard = np.repeat(above, 2, axis=-1) / 2
    layers = [first, (heard.astype(np.float32), bias_above), *later]
    return Network.of_layers(network.encoder, network.variant, layers, "twice")


@pytest.mark.parametrize("by_plan", [False, True])
def test_what_is_said_twice_is_said_once_without_loss(by_plan, packed_positions):
    small = new_net(Shape("tactical", (16, 8), by_plan), 2).export("backgammon", "")

    back = narrowed(doubled(small), 16, seed=1)

    assert back.sizes == small.sizes
    off = np.abs(equity(back.evaluate(packed_positions)) - equity(small.evaluate(packed_positions)))
    assert np.median(off) < 0.002


def test_the_units_that_say_least_go(packed_positions):
    small = new_net(Shape("tactical", (16, 8)), 2).export("backgammon", "")
    (weight, bias), (above, bias_above), *later = small.layers
    above = above.copy()
    above[..., ::2] *= 1e-4
    layers = [(weight, bias), (above, bias_above), *later]
    network = Network.of_layers(small.encoder, small.variant, layers, "")

    kept = narrowed(network, 8, seed=1).layers[0][0]

    np.testing.assert_array_equal(kept, weight[1::2])


def test_the_same_seed_narrows_the_same_way():
    network = new_net(Shape("tactical", (16, 8)), 2).export("backgammon", "")
    assert narrowed(network, 8, seed=3).hash == narrowed(network, 8, seed=3).hash


@pytest.mark.parametrize("units", [0, 16, 24])
def test_only_fewer_units_are_narrower(units):
    network = new_net(Shape("tactical", (16, 8)), 2).export("backgammon", "")
    with pytest.raises(AcepointError, match=f"narrow {units}: expected fewer than the net's 16"):
        narrowed(network, units, seed=1)


def test_a_run_begins_with_the_narrow_net(tiny, tmp_path):
    path = tmp_path / "wide.safetensors"
    new_net(Shape("tactical", (16, 8)), 2).export("backgammon", "").save(path)
    learner = Learner(replace(tiny, init=str(path), narrow=8), torch.device("cpu"))
    assert learner.net.shape.hidden == (8, 8)
