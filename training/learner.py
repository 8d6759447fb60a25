"""The net being trained, its optimiser, and the exact backups kept to learn from again."""

from typing import Any

import numpy as np
import torch
from torch import nn

from engine.errors import AcepointError
from engine.evaluation.network import PROBABILITIES, Network
from training.config import Settings
from training.network import ValueNet, loss_of, new_net
from training.pruning import PruningLearner

__all__ = ["Buffer", "Learner"]

Array = np.ndarray[Any, Any]


class Buffer:
    """The latest targets, old ones overwritten: boards uint64[size, 8], float32[size, 5]."""

    def __init__(self, size: int) -> None:
        self.boards = np.zeros((size, 8), np.uint64)
        self.targets = np.zeros((size, PROBABILITIES), np.float32)
        self.written = 0

    def __len__(self) -> int:
        return min(self.written, len(self.boards))

    def add(self, boards: Array, targets: Array) -> None:
        """Keep uint64[N, 8] boards with their float32[N, 5] targets."""
        rows = (self.written + np.arange(len(boards))) % len(self.boards)
        self.boards[rows] = boards
        self.targets[rows] = targets
        self.written += len(boards)

    def tensors(self) -> dict[str, Array]:
        """What a checkpoint keeps."""
        return {
            "buffer.boards": self.boards[: len(self)],
            "buffer.targets": self.targets[: len(self)],
        }

    def restore(self, tensors: dict[str, Array], written: int) -> None:
        """Take back what `tensors` gave."""
        self.written = written
        self.boards[: len(self)] = tensors["buffer.boards"]
        self.targets[: len(self)] = tensors["buffer.targets"]


class Learner:
    """Fits a net to targets with Adam; on the processor with one thread, so that the same seed
    gives the same weights.

    device: where, as `training.network.device_named` gives it. The pruning net is too small to gain
    by another place than the processor.
    """

    def __init__(self, settings: Settings, device: torch.device) -> None:
        torch.set_num_threads(1)
        first = None
        if settings.init is not None:
            first = Network.load(settings.init, settings.variant)
            torch.manual_seed(settings.seed)
            self.net = ValueNet.of_network(first, settings.widen)
        else:
            self.net = new_net(settings.shape.encoder, settings.shape.hidden, settings.seed)
        self.net.to(device)
        self._device = device
        self.pruning = PruningLearner(first.pruning if first else None)
        self._batch = settings.learning.batch
        self._optimiser = torch.optim.Adam(
            self.net.parameters(), lr=settings.learning.rate, fused=True
        )

    def learn(self, boards: Array, targets: Array, order: Array, rate: float) -> float:
        """One gradient step for each whole batch of `order`; the mean loss.

        boards: uint64[N, 8]; targets: float32[N, 5]; order: int64[K], the rows to learn from.
        Raises AcepointError when the loss is not finite; the weights are then useless.
        """
        for group in self._optimiser.param_groups:
            group["lr"] = rate
        steps = max(1, len(order) // self._batch)
        total = torch.zeros((), device=self._device)
        for step in range(steps):
            rows = order[step * self._batch : (step + 1) * self._batch]
            packed = boards[rows].view(np.int8).reshape(-1, 2, 32)
            features = torch.from_numpy(self.net.feature_set.encode(packed)).to(self._device)
            wanted = torch.from_numpy(targets[rows]).to(self._device)
            loss = loss_of(self.net(features), wanted)
            self._optimiser.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            self._optimiser.step()
            total += loss.detach()
        mean = float(total) / steps
        if not np.isfinite(mean):
            raise AcepointError(f"the loss is {mean}: try a smaller rate than {rate:g}")
        return mean

    def tensors(self) -> dict[str, Array]:
        """Weights and the states of Adam, for a checkpoint."""
        return {
            f"{part}.{name}": tensor
            for part, module, optimiser in self._parts()
            for name, tensor in _tensors_of(module, optimiser).items()
        }

    def restore(self, tensors: dict[str, Array]) -> None:
        """Take back what `tensors` gave."""
        for part, module, optimiser in self._parts():
            prefix = f"{part}."
            own = {
                name.removeprefix(prefix): tensor
                for name, tensor in tensors.items()
                if name.startswith(prefix)
            }
            _restore(module, optimiser, own)

    def _parts(self) -> list[tuple[str, nn.Module, torch.optim.Optimizer]]:
        return [
            ("value", self.net, self._optimiser),
            ("pruning", self.pruning.net, self.pruning.optimiser),
        ]


def _tensors_of(module: nn.Module, optimiser: torch.optim.Optimizer) -> dict[str, Array]:
    kept = {f"net.{name}": value.cpu().numpy() for name, value in module.state_dict().items()}
    for index, state in optimiser.state_dict()["state"].items():
        for name, value in state.items():
            kept[f"adam.{index}.{name}"] = value.cpu().numpy()
    return kept


def _restore(
    module: nn.Module, optimiser: torch.optim.Optimizer, tensors: dict[str, Array]
) -> None:
    weights = {
        name.removeprefix("net."): torch.from_numpy(value)
        for name, value in tensors.items()
        if name.startswith("net.")
    }
    module.load_state_dict(weights)
    state: dict[int, dict[str, torch.Tensor]] = {}
    for name, value in tensors.items():
        if name.startswith("adam."):
            _, index, part = name.split(".")
            state.setdefault(int(index), {})[part] = torch.from_numpy(value.copy())
    kept = optimiser.state_dict()
    optimiser.load_state_dict({"state": state, "param_groups": kept["param_groups"]})
