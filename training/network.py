"""The torch module, one gradient step, and its exact export to a net that plays."""

from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import nn

from engine.errors import AcepointError
from engine.evaluation.encoders import ENCODERS, Encoder
from engine.evaluation.network import PROBABILITIES, Network, PruningNet
from training.config import Shape

__all__ = ["ValueNet", "device_named", "loss_of", "new_net"]

Array = np.ndarray[Any, Any]

# An error in the chance to win costs two points of equity, in the others one.
_WEIGHTS = torch.tensor([2.0, 1.0, 1.0, 1.0, 1.0])


class ValueNet(nn.Module):
    """Features in, the logits of the five probabilities out."""

    def __init__(self, feature_set: Encoder, hidden: tuple[int, ...]) -> None:
        """Weights as torch draws them, so seed torch first."""
        super().__init__()
        widths = [feature_set.features, *hidden, PROBABILITIES]
        self.feature_set = feature_set
        self.layers = [nn.Linear(n_in, n_out) for n_in, n_out in pairwise(widths)]
        for index, layer in enumerate(self.layers):
            self.add_module(f"layer{index}", layer)

    @property
    def shape(self) -> Shape:
        """What it looks like."""
        hidden = tuple(layer.out_features for layer in self.layers[:-1])
        return Shape(self.feature_set.name, hidden)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Logits float32[N, 5] of features float32[N, F]."""
        for hidden in self.layers[:-1]:
            features = torch.relu(hidden(features))
        logits: torch.Tensor = self.layers[-1](features)
        return logits

    def export(self, variant: str, origin: str, pruning: PruningNet | None = None) -> Network:
        """The same net for play, weight by weight, with a pruning net beside it."""
        layers = [
            (layer.weight.detach().cpu().numpy().copy(), layer.bias.detach().cpu().numpy().copy())
            for layer in self.layers
        ]
        return Network.of_layers(self.feature_set, variant, layers, origin, pruning)

    @classmethod
    def of_network(cls, network: Network, hidden: tuple[int, ...] = ()) -> "ValueNet":
        """The torch module of a net file, to go on training it.

        hidden: wider layers, as many as the net has. Nothing that was there hears the new units at
        first, so the wider net says the same; AcepointError when a layer would be narrower.
        """
        widths = tuple(len(bias) for _, bias in network.layers[:-1])
        hidden = hidden or widths
        if len(hidden) != len(widths) or any(
            new < old for new, old in zip(hidden, widths, strict=True)
        ):
            raise AcepointError(f"widen {hidden}: expected at least {widths}, the net's own layers")
        module = cls(network.encoder, hidden)
        with torch.no_grad():
            for layer, (weight, bias) in zip(module.layers, network.layers, strict=True):
                outputs, inputs = weight.shape
                layer.weight[:outputs] = 0
                layer.weight[:outputs, :inputs] = torch.from_numpy(weight)
                layer.bias[:outputs] = torch.from_numpy(bias)
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


def new_net(encoder_name: str, hidden: tuple[int, ...], seed: int) -> ValueNet:
    """A net with random weights; AcepointError for an encoder that does not exist."""
    if encoder_name not in ENCODERS:
        raise AcepointError(f"encoder {encoder_name!r}: expected one of {', '.join(ENCODERS)}")
    torch.manual_seed(seed)
    return ValueNet(ENCODERS[encoder_name], hidden)


def loss_of(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Cross-entropy of the five probabilities, float32[N, 5] both, weighted by equity.

    The entropy of the targets is taken off, so that zero means learned, whatever the positions.
    """
    entropy = -(torch.xlogy(targets, targets) + torch.xlogy(1 - targets, 1 - targets))
    each = nn.functional.binary_cross_entropy_with_logits(logits, targets, reduction="none")
    return ((each - entropy) @ _WEIGHTS.to(logits.device)).mean()
