"""The learner: what it fits, what it keeps, and that the net that plays is the net that learned."""

import numpy as np
import pytest
import torch

from engine.backgammon.variants import BACKGAMMON
from engine.errors import AcepointError
from engine.kernels import movegen
from engine.kernels.plans import plans_of
from training.config import Learning, Shape
from training.learner import Buffer, Learner
from training.network import ValueNet, loss_of, new_net

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def lesson(played_boards):
    """200 positions and what is to be said of each: boards uint64[200, 8], float32[200, 5]."""
    packed = movegen.pack(played_boards(BACKGAMMON, 1400)[:600:3])
    draws = np.random.default_rng(2).random((len(packed), 3)).astype(np.float32)
    win = 0.1 + 0.8 * draws[:, 0]
    gammon, lost_gammon = 0.9 * win * draws[:, 1], 0.9 * (1 - win) * draws[:, 2]
    targets = np.stack([win, gammon, gammon / 10, lost_gammon, lost_gammon / 10], axis=1)
    return packed.reshape(-1, 64).view(np.uint64), targets


@pytest.fixture(params=[False, True], ids=["td", "exact"])
def learn(request):
    """learn(learner, boards, targets, order, rate): as either stage of a run does."""

    def fit(learner, boards, targets, order, rate):
        return learner.learn(boards, targets, order, rate, request.param)

    return fit


def rows(count: int, passes: int = 1) -> np.ndarray:
    return np.tile(np.arange(count), passes)


def packed_of(boards):
    return boards.view(np.int8).reshape(-1, 2, 32)


def test_the_loss_is_zero_where_the_target_is_met_and_not_elsewhere():
    targets = torch.tensor([[0.7, 0.2, 0.01, 0.1, 0.001], [1.0, 0.0, 0.0, 0.0, 0.0]])
    met = torch.logit(targets, eps=1e-7)

    assert float(loss_of(met, targets)) == pytest.approx(0.0, abs=1e-4)
    assert float(loss_of(met + 0.5, targets)) > 0.02
    assert float(loss_of(met - 0.5, targets)) > 0.02


def test_an_error_in_the_chance_to_win_counts_twice():
    targets = torch.full((1, 5), 0.5)
    wrong_win, wrong_gammon = torch.zeros(1, 5), torch.zeros(1, 5)
    wrong_win[0, 0] = wrong_gammon[0, 1] = 1.0

    assert float(loss_of(wrong_win, targets)) == pytest.approx(
        2 * float(loss_of(wrong_gammon, targets))
    )


def test_targets_outside_0_and_1_pull_as_far_as_their_mean():
    said = torch.full((2, 5), -3.0, requires_grad=True)
    pulls = []
    for targets in ([-0.1, 0.12], [0.01, 0.01]):
        loss = loss_of(said, torch.tensor(targets)[:, None].expand(2, 5))
        assert torch.isfinite(loss)
        (pull,) = torch.autograd.grad(loss, said)
        pulls.append(pull.sum(dim=0).numpy())
    np.testing.assert_allclose(*pulls, atol=1e-6)


def test_what_is_taught_is_learned(tiny, lesson, learn):
    boards, targets = lesson
    learner = Learner(tiny, CPU)
    first = learn(learner, boards, targets, rows(200), 0.01)

    last = [learn(learner, boards, targets, rows(200, 20), 0.01) for _ in range(15)][-1]

    assert last < first / 20
    told = learner.net.export("backgammon", "").evaluate(packed_of(boards))
    assert np.abs(told - targets).mean() < 0.05


# Fault B122: a copy of the weights that is never built again, so that play never changes.
def test_the_net_that_plays_changes_with_every_lesson(tiny, lesson, learn):
    boards, targets = lesson
    learner = Learner(tiny, CPU)
    seen = []
    for _ in range(3):
        seen.append(learner.net.export("backgammon", "").evaluate(packed_of(boards)))
        learn(learner, boards, targets, rows(200), 0.01)
    assert (seen[0] != seen[1]).any(axis=1).all()
    assert (seen[1] != seen[2]).any(axis=1).all()


def test_a_net_that_was_exported_does_not_change_any_more(tiny, lesson, learn):
    boards, targets = lesson
    learner = Learner(tiny, CPU)
    exported = learner.net.export("backgammon", "")
    before = exported.hash, exported.evaluate(packed_of(boards))

    learn(learner, boards, targets, rows(200), 0.01)

    assert exported.hash == before[0]
    np.testing.assert_array_equal(exported.evaluate(packed_of(boards)), before[1])


@pytest.mark.parametrize("by_plan", [False, True])
def test_a_net_survives_the_way_to_torch_and_back(by_plan, random_network):
    network = random_network(24, 8, by_plan=by_plan)
    module = ValueNet.of_network(network)
    assert module.shape.by_plan == by_plan
    assert module.export("backgammon", "").hash == network.hash
    assert module.shape.hidden == (24, 8)
    assert module.shape.encoder == "thermometer"


def test_random_weights_depend_on_the_seed_alone():
    torch.manual_seed(99)
    one = new_net(Shape("thermometer", (16,)), 1).export("backgammon", "")
    assert new_net(Shape("thermometer", (16,)), 1).export("backgammon", "").hash == one.hash
    assert new_net(Shape("thermometer", (16,)), 2).export("backgammon", "").hash != one.hash


def test_an_unknown_encoder_is_refused_by_name():
    with pytest.raises(AcepointError, match="encoder 'wavelets': expected one of thermometer"):
        new_net(Shape("wavelets", (16,)), 1)


def test_a_learner_that_is_restored_goes_on_bit_by_bit(tiny, lesson, learn):
    boards, targets = lesson
    learner, other = Learner(tiny, CPU), Learner(tiny, CPU)
    learn(learner, boards, targets, rows(200, 3), 0.01)
    kept = {name: tensor.copy() for name, tensor in learner.tensors().items()}

    other.restore(kept)
    learn(learner, boards, targets, rows(200), 0.01)
    learn(other, boards, targets, rows(200), 0.01)

    assert other.net.export("backgammon", "").hash == learner.net.export("backgammon", "").hash


def test_a_loss_that_is_not_finite_stops_and_says_what_to_do(tiny, lesson, learn):
    boards, targets = lesson
    learner = Learner(tiny, CPU)
    with pytest.raises(AcepointError, match="the loss is nan: try a smaller rate than 1e\\+30"):
        learn(learner, boards, targets, rows(200, 4), 1e30)


def test_a_batch_larger_than_the_lesson_is_one_step(tiny, lesson, learn):
    boards, targets = lesson
    settings = type(tiny)(shape=tiny.shape, learning=Learning(td_batch=5000, batch=5000))
    learner = Learner(settings, CPU)
    first = learn(learner, boards, targets, rows(200), 0.01)
    assert learn(learner, boards, targets, rows(200), 0.01) < first


def numbered(first: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Boards and targets that are their own numbers."""
    numbers = np.arange(first, first + count)
    return numbers.astype(np.uint64)[:, None].repeat(8, 1), numbers[:, None].repeat(5, 1)


def test_the_buffer_keeps_the_latest():
    buffer = Buffer(5)
    buffer.add(*numbered(1, 3))
    assert len(buffer) == 3
    buffer.add(*numbered(4, 4))
    assert len(buffer) == 5
    assert buffer.boards[:, 0].tolist() == [6, 7, 3, 4, 5]
    assert buffer.targets[:, 4].tolist() == [6, 7, 3, 4, 5]


def test_the_buffer_keeps_the_latest_of_more_than_it_holds():
    buffer = Buffer(3)
    buffer.add(*numbered(1, 8))
    assert sorted(buffer.boards[:, 0].tolist()) == [6, 7, 8]
    assert (buffer.boards[:, 0] == buffer.targets[:, 0]).all()


@pytest.mark.parametrize("written", [2, 5, 7])
def test_a_buffer_that_is_restored_goes_on_where_it_was(written):
    buffer, other = Buffer(5), Buffer(5)
    buffer.add(*numbered(1, written))

    other.restore(buffer.tensors(), written)

    assert len(other) == len(buffer)
    for each in (buffer, other):
        each.add(*numbered(20, 2))
    np.testing.assert_array_equal(other.boards[: len(other)], buffer.boards[: len(buffer)])
    np.testing.assert_array_equal(other.targets[: len(other)], buffer.targets[: len(buffer)])


@pytest.mark.parametrize("by_plan", [False, True])
def test_a_widened_net_says_the_same_and_can_learn_more(by_plan, tiny, lesson):
    boards, targets = lesson
    narrow = new_net(Shape("tactical", (16, 8), by_plan), 2).export("backgammon", "")

    wide = ValueNet.of_network(narrow, (32, 16))

    assert wide.shape.hidden == (32, 16)
    told = wide.export("backgammon", "").evaluate(packed_of(boards))
    assert told == pytest.approx(narrow.evaluate(packed_of(boards)), abs=1e-6)
    before = [parameter.detach().clone() for parameter in wide.parameters()]
    optimiser = torch.optim.SGD(wide.parameters(), lr=0.1)
    for _ in range(2):
        loss_of(wide(packed_of(boards)), torch.from_numpy(targets)).backward()
        optimiser.step()
    old_weight, new_weight = before[0], wide.layers[0].weight
    assert bool((old_weight != new_weight)[16:].any()), "new units learn too"


def test_a_net_given_later_layers_by_plan_says_the_same(lesson):
    boards, _ = lesson
    shared = new_net(Shape("tactical", (16, 8), by_plan=False), 2).export("backgammon", "")

    by_plan = ValueNet.of_network(shared, by_plan=True).export("backgammon", "")

    assert by_plan.layers[1][0].shape == (10, 8, 16)
    told = by_plan.evaluate(packed_of(boards))
    assert told == pytest.approx(shared.evaluate(packed_of(boards)), abs=1e-6)


def test_each_plan_learns_from_its_own_positions_alone(lesson):
    boards, targets = lesson
    net = new_net(Shape("tactical", (16, 8)), 2)
    plans = plans_of(packed_of(boards).reshape(-1, 64))
    seen = np.unique(plans)[:2]
    some = np.isin(plans, seen)

    loss_of(net(packed_of(boards[some])), torch.from_numpy(targets[some])).backward()

    learned = net.layers[1].weight.grad.abs().sum(dim=(1, 2)) > 0
    assert np.flatnonzero(learned.numpy()).tolist() == seen.tolist()


@pytest.mark.parametrize("hidden", [(8, 8), (16,), (16, 8, 8)])
def test_a_net_cannot_be_made_narrower(hidden):
    narrow = new_net(Shape("tactical", (16, 8)), 2).export("backgammon", "")
    with pytest.raises(AcepointError, match="widen"):
        ValueNet.of_network(narrow, hidden)
