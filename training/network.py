"""The torch module, its loss, and its exact export to a net that plays."""

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import nn

from engine.errors import AcepointError
from engine.evaluation.encoders import ENCODERS, Encoder
from engine.evaluation.network import PROBABILITIES, Network, PruningNet
from engine.kernels.plans import PLANS, plans_of
from engine.kernels.sparse_layer import add_gradient, rectified
from training.config import Shape

__all__ = ["Layer", "PlanLinear", "ValueNet", "device_named", "loss_of", "new_net"]

Array = np.ndarray[Any, Any]

# An error in the chance to win costs two points of equity, in the others one.
_WEIGHTS = torch.tensor([2.0, 1.0, 1.0, 1.0, 1.0])


class PlanLinear(nn.Module):
    """A linear layer for each game plan, all with the same random weights at first."""

    def __init__(self, n_in: int, n_out: int) -> None:
        """Weight float32[PLANS, n_out, n_in] and bias float32[PLANS, n_out]."""
        super().__init__()
        same = nn.Linear(n_in, n_out)
        self.weight = nn.Parameter(same.weight.detach().repeat(PLANS, 1, 1))
        self.bias = nn.Parameter(same.bias.detach().repeat(PLANS, 1))


Layer = nn.Linear | PlanLinear


class _Rectified(torch.autograd.Function):
    """relu(linear(...)) on the processor: what is zero costs nothing."""

    @staticmethod
    def forward(
        ctx: Any, inputs: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor
    ) -> torch.Tensor:
        outputs = torch.empty(len(inputs), len(bias))
        rows = weight.detach().T.contiguous()
        rectified(inputs.numpy(), rows.numpy(), bias.detach().numpy(), outputs.numpy())
        ctx.save_for_backward(inputs, outputs)
        return outputs

    @staticmethod
    def backward(ctx: Any, slopes: torch.Tensor) -> tuple[None, torch.Tensor, torch.Tensor]:
        inputs, outputs = ctx.saved_tensors
        weight = torch.zeros(outputs.shape[1], inputs.shape[1])
        bias = torch.zeros(outputs.shape[1])
        arrays = [each.numpy() for each in (inputs, outputs, slopes.contiguous(), weight, bias)]
        add_gradient(*arrays)
        return None, weight, bias


class ValueNet(nn.Module):
    """Features in, the logits of the five probabilities out."""

    def __init__(self, feature_set: Encoder, shape: Shape) -> None:
        """Weights as torch draws them, so seed torch first."""
        super().__init__()
        self.feature_set = feature_set
        self.shape = shape
        later = PlanLinear if shape.by_plan else nn.Linear
        self.layers: list[Layer] = [nn.Linear(feature_set.features, shape.hidden[0])]
        self.layers += [
            later(n_in, n_out) for n_in, n_out in pairwise((*shape.hidden, PROBABILITIES))
        ]
        for index, layer in enumerate(self.layers):
            self.add_module(f"layer{index}", layer)

    def forward(self, boards: Array) -> torch.Tensor:
        """Logits float32[N, 5] of packed boards, int8[N, 2, 32]."""
        later = self.layers[1:]
        if not self.shape.by_plan:
            return self._head(self._spoken(boards), [(each.weight, each.bias) for each in later])
        plans = plans_of(np.ascontiguousarray(boards).reshape(-1, 64))
        order = np.argsort(plans, kind="stable")
        counts = np.bincount(plans, minlength=PLANS).tolist()
        parts = torch.split(self._spoken(boards[order]), counts)
        heads = zip(*(zip(each.weight, each.bias, strict=True) for each in later), strict=True)
        logits = [self._head(part, head) for part, head in zip(parts, heads, strict=True)]
        return torch.cat(logits)[np.argsort(order)]

    def _spoken(self, boards: Array) -> torch.Tensor:
        """What the units of the first layer say, float32[N, H]."""
        weight, bias = self.layers[0].weight, self.layers[0].bias
        features = torch.from_numpy(self.feature_set.encode(boards)).to(weight.device)
        if weight.is_cpu:
            said: torch.Tensor = _Rectified.apply(features, weight, bias)  # type: ignore[no-untyped-call]
            return said
        return torch.relu(nn.functional.linear(features, weight, bias))

    @staticmethod
    def _head(
        said: torch.Tensor, layers: Iterable[tuple[torch.Tensor, torch.Tensor]]
    ) -> torch.Tensor:
        *hidden, (weight, bias) = layers
        for weight_below, bias_below in hidden:
            said = torch.relu(nn.functional.linear(said, weight_below, bias_below))
        return nn.functional.linear(said, weight, bias)

    def export(self, variant: str, origin: str, pruning: PruningNet | None = None) -> Network:
        """The same net for play, weight by weight, with a pruning net beside it."""
        layers = [
            (layer.weight.detach().cpu().numpy().copy(), layer.bias.detach().cpu().numpy().copy())
            for layer in self.layers
        ]
        return Network.of_layers(self.feature_set, variant, layers, origin, pruning)

    @classmethod
    def of_network(
        cls, network: Network, hidden: tuple[int, ...] = (), by_plan: bool = False
    ) -> "ValueNet":
        """The torch module of a net file, to go on training it.

        hidden: wider layers, as many as the net has. Nothing that was there hears the new units at
        first, so the wider net says the same; AcepointError when a layer would be narrower.
        by_plan: whether each game plan gets later layers of its own, at first the same.
        """
        widths = tuple(bias.shape[-1] for _, bias in network.layers[:-1])
        hidden = hidden or widths
        if len(hidden) != len(widths) or any(
            new < old for new, old in zip(hidden, widths, strict=True)
        ):
            raise AcepointError(f"widen {hidden}: expected at least {widths}, the net's own layers")
        by_plan = by_plan or network.layers[-1][0].ndim == 3
        module = cls(network.encoder, Shape(network.encoder.name, hidden, by_plan))
        with torch.no_grad():
            for layer, (weight, bias) in zip(module.layers, network.layers, strict=True):
                outputs, inputs = weight.shape[-2:]
                layer.weight[..., :outputs, :] = 0
                layer.weight[..., :outputs, :inputs] = torch.from_numpy(weight)
                layer.bias[..., :outputs] = torch.from_numpy(bias)
        return module


def device_named(name: str) -> torch.device:
    """Where torch computes: "auto" is a GPU if there is one; AcepointError for one there is not."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
        torch.ones(1, device=device).item()
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise AcepointError(f"device {name!r}: {reason}") from None
    return device


def new_net(shape: Shape, seed: int) -> ValueNet:
    """A net with random weights; AcepointError for an encoder that does not exist."""
    if shape.encoder not in ENCODERS:
        raise AcepointError(f"encoder {shape.encoder!r}: expected one of {', '.join(ENCODERS)}")
    torch.manual_seed(seed)
    return ValueNet(ENCODERS[shape.encoder], shape)


def loss_of(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Cross-entropy of the five probabilities, float32[N, 5] both, weighted by equity.

    The entropy of the targets is taken off, so that zero means learned, whatever the positions.
    Some exact targets lie a little outside 0 and 1; the entropy counts them as if they did not.
    """
    known = targets.clamp(0, 1)
    entropy = -(torch.xlogy(known, known) + torch.xlogy(1 - known, 1 - known))
    each = nn.functional.binary_cross_entropy_with_logits(logits, targets, reduction="none")
    return ((each - entropy) @ _WEIGHTS.to(logits.device)).mean()
