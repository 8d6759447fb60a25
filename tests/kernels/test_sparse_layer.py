"""The layer that training fits, against torch's dense one: what it says, and its gradients."""

import numpy as np
import pytest
import torch

from engine.kernels.sparse_layer import BLOCK, add_gradient, rectified


def mostly_zero(rng: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    values = rng.normal(size=(rows, columns)).astype(np.float32)
    values[rng.random(values.shape) < 0.8] = 0
    return values


@pytest.mark.parametrize("rows", [0, 1, BLOCK, 2 * BLOCK + 3])
@pytest.mark.parametrize(("features", "units"), [(1, 1), (7, 5), (52, 24)])
@pytest.mark.parametrize("offset", [-1.0, 0.0, 9.0], ids=["few speak", "half speak", "all speak"])
def test_it_is_the_dense_layer(rows, features, units, offset):
    rng = np.random.default_rng([rows, features])
    inputs = mostly_zero(rng, rows, features)
    weight = rng.normal(size=(units, features)).astype(np.float32)
    bias = (rng.normal(size=units) / 9 + offset).astype(np.float32)
    slopes = rng.normal(size=(rows, units)).astype(np.float32)
    dense_weight, dense_bias = (torch.from_numpy(each).requires_grad_() for each in (weight, bias))
    dense = torch.relu(
        torch.nn.functional.linear(torch.from_numpy(inputs), dense_weight, dense_bias)
    )
    dense.backward(torch.from_numpy(slopes))
    outputs = np.empty((rows, units), np.float32)
    weight_gradient, bias_gradient = np.ones_like(weight), np.ones_like(bias)

    rectified(inputs, np.ascontiguousarray(weight.T), bias, outputs)
    add_gradient(inputs, outputs, slopes, weight_gradient, bias_gradient)

    np.testing.assert_allclose(outputs, dense.detach().numpy(), atol=1e-5)
    np.testing.assert_allclose(weight_gradient, 1 + dense_weight.grad.numpy(), atol=1e-4)
    np.testing.assert_allclose(bias_gradient, 1 + dense_bias.grad.numpy(), atol=1e-4)


def test_a_row_without_inputs_says_the_bias():
    outputs = np.empty((2, 3), np.float32)
    bias = np.array([-1, 0, 2], np.float32)
    rectified(np.zeros((2, 4), np.float32), np.ones((4, 3), np.float32), bias, outputs)
    np.testing.assert_array_equal(outputs, [[0, 0, 2], [0, 0, 2]])
