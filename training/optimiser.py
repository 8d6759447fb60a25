"""What fits a net: Adam to noisy targets, Muon to exact ones.

Muon (Jordan et al. 2024) makes the momentum of a matrix orthogonal before it takes a step, so that
all directions of a layer learn at the same pace, whatever the size of their gradients. The dice of
single games drown it; fitted to exact backups for the same time as Adam, it leaves a tenth less
error (models/README.md).
"""

from collections.abc import Iterable, Sequence
from typing import Any

import torch

from training.network import Layer

__all__ = ["Fit", "Muon"]

MOMENTUM = 0.95
ITERATIONS = 5
COEFFICIENTS = (3.4445, -4.775, 2.0315)  # of Jordan et al.: quick at first, then near enough to one
ADAM_SHARE = 0.1  # of Muon's step size: Adam's moves each weight by so much, Muon's a whole matrix

# Orthogonal to two digits is enough, so bfloat16 where the processor has it; elsewhere it would be
# imitated, with AVX2 at a seventieth of the speed.
_PRECISION = torch.bfloat16 if torch.cpu.get_capabilities().get("amx_bf16") else torch.float32


class Muon(torch.optim.Optimizer):
    """For matrices and stacks of them; torch has one for matrices, in bfloat16 everywhere."""

    def __init__(self, matrices: Iterable[torch.Tensor], lr: float = 0.0) -> None:
        super().__init__(matrices, {"lr": lr})

    @torch.no_grad()
    def step(self, _closure: Any = None) -> None:  # type: ignore[override]
        """Move each matrix by lr times the orthogonal matrix nearest to its momentum."""
        for group in self.param_groups:
            for matrix in group["params"]:
                state = self.state[matrix]
                if not state:
                    state["momentum"] = torch.zeros_like(matrix)
                momentum = state["momentum"].lerp_(matrix.grad, 1 - MOMENTUM)
                ahead = matrix.grad.lerp(momentum, MOMENTUM)
                scale = max(1.0, matrix.shape[-2] / matrix.shape[-1]) ** 0.5
                matrix.sub_(_orthogonal(ahead), alpha=group["lr"] * scale)


def _orthogonal(matrix: torch.Tensor) -> torch.Tensor:
    """Nearly U V^T of each matrix U S V^T, by the iteration of Newton and Schulz."""
    a, b, c = COEFFICIENTS
    tall = matrix.shape[-2] > matrix.shape[-1]
    x = matrix.mT if tall else matrix
    x = (x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-12)).to(_PRECISION)
    for _ in range(ITERATIONS):
        square = x @ x.mT
        x = a * x + (b * square + c * (square @ square)) @ x
    orthogonal: torch.Tensor = (x.mT if tall else x).to(matrix.dtype)
    return orthogonal


class Fit:
    """A way to fit some layers, given from the inputs to the outputs: `step` after each gradient.

    With exact targets Muon moves the weights between hidden layers, and Adam, at a tenth of the
    rate, the rest; with others Adam moves all.
    """

    def __init__(self, layers: Sequence[Layer], exact: bool) -> None:
        for_muon = [layer.weight for layer in layers[:-1]] if exact else []
        for_adam: list[torch.Tensor] = [layer.bias for layer in layers]
        for_adam += [layer.weight for layer in layers[len(for_muon) :]]
        self.optimisers: list[torch.optim.Optimizer] = [torch.optim.Adam(for_adam, fused=True)]
        self._shares = [ADAM_SHARE if exact else 1.0]
        if exact:
            self.optimisers.append(Muon(for_muon))
            self._shares.append(1.0)

    def step(self, rate: float) -> None:
        """Move the weights against their gradients, and forget these."""
        for optimiser, share in zip(self.optimisers, self._shares, strict=True):
            for group in optimiser.param_groups:
                group["lr"] = share * rate
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)
