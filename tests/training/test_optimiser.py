"""Muon and the choice between it and Adam."""

import pytest
import torch
from torch import nn

from training.optimiser import Fit, Muon


@pytest.mark.parametrize("shape", [(24, 40), (40, 24)])
def test_muon_moves_all_directions_by_about_the_rate(shape):
    torch.manual_seed(3)
    matrix = nn.Parameter(torch.zeros(shape))
    slight, strong = torch.randn(shape), torch.outer(torch.randn(shape[0]), torch.randn(shape[1]))
    matrix.grad = slight + 100 * strong

    Muon([matrix], lr=0.5).step()

    moved = torch.linalg.svdvals(matrix.detach()) / (0.5 * max(1, shape[0] / shape[1]) ** 0.5)
    # The iteration stops early: it leaves most singular values between 0.7 and 1.2, and the least
    # of them, a thousandth of the largest here, lower.
    assert moved.max() < 1.3
    assert moved.min() > 0.1
    assert moved.median() > 0.5
    assert float((matrix.detach() * matrix.grad).sum()) < 0


def test_muon_remembers_where_it_was_going():
    matrix = nn.Parameter(torch.zeros(8, 8))
    optimiser = Muon([matrix], lr=1.0)
    matrix.grad = torch.eye(8)
    optimiser.step()
    before = matrix.detach().clone()
    matrix.grad = torch.zeros(8, 8)
    optimiser.step()

    assert torch.linalg.svdvals(matrix.detach() - before).min() > 0.5


def test_muon_moves_each_matrix_of_a_stack_by_itself():
    torch.manual_seed(5)
    stack, alone = nn.Parameter(torch.zeros(3, 8, 12)), nn.Parameter(torch.zeros(8, 12))
    stack.grad = torch.randn(3, 8, 12) * torch.tensor([1.0, 100.0, 0.0])[:, None, None]
    alone.grad = stack.grad[1].clone()

    Muon([stack, alone], lr=0.5).step()

    torch.testing.assert_close(stack[1].detach(), alone.detach(), rtol=0.05, atol=0.01)
    assert torch.linalg.svdvals(stack[0].detach()).median() > 0.25
    assert not stack[2].any()


@pytest.mark.parametrize("exact", [False, True])
def test_a_fit_moves_every_weight_once_and_forgets_the_gradients(exact):
    torch.manual_seed(4)
    layers = [nn.Linear(16, 8), nn.Linear(8, 8), nn.Linear(8, 5)]
    fit = Fit(layers, exact)
    weights = [weight for layer in layers for weight in layer.parameters()]
    before = [weight.detach().clone() for weight in weights]
    nn.Sequential(*layers)(torch.randn(32, 16)).pow(2).sum().backward()

    fit.step(0.01)

    assert all((weight != old).any() for weight, old in zip(weights, before, strict=True))
    assert all(weight.grad is None for weight in weights)
    moved = [id(each) for optimiser in fit.optimisers for group in optimiser.param_groups
             for each in group["params"]]  # fmt: skip
    assert sorted(moved) == sorted(map(id, weights))
    assert any(isinstance(optimiser, Muon) for optimiser in fit.optimisers) == exact
