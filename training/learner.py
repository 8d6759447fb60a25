"""The net being trained, its optimiser, and the exact backups kept to learn from again."""

from typing import Any

import numpy as np
import torch
from torch import nn

from engine.errors import AcepointError
from engine.evaluation.network import PROBABILITIES, Network
from engine.kernels.movegen import boards_of
from training.checkpoint import below
from training.config import Settings
from training.narrowing import narrowed
from training.network import ValueNet, loss_of, new_net
from training.optimiser import Fit
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
    """Fits a net to targets; on the processor with one thread, so that the same seed gives the same
    weights.

    device: where, as `training.network.device_named` gives it. The pruning net is too small to gain
    by another place than the processor.
    """

    def __init__(self, settings: Settings, device: torch.device) -> None:
        torch.set_num_threads(1)
        first = None
        if settings.init is not None:
            first = Network.load(settings.init, settings.variant)
            if settings.narrow:
                first = narrowed(first, settings.narrow, settings.seed)
            torch.manual_seed(settings.seed)
            self.net = ValueNet.of_network(first, settings.widen, settings.shape.by_plan)
        else:
            self.net = new_net(settings.shape, settings.seed)
        self.net.to(device)
        self._device = device
        self.pruning = PruningLearner(first.pruning if first else None)
        self._learning = settings.learning
        self._fits = {exact: Fit(self.net.layers, exact) for exact in (False, True)}

    def learn(self, boards: Array, targets: Array, order: Array, rate: float, exact: bool) -> float:
        """One gradient step at this rate for each whole batch of `order`; the mean loss.

        boards: uint64[N, 8]; targets: float32[N, 5]; order: int64[K], the rows to learn from;
        exact: whether the targets are free of the dice's luck.
        Raises AcepointError when the loss is not finite; the weights are then useless.
        """
        batch = self._learning.batch if exact else self._learning.td_batch
        steps = max(1, len(order) // batch)
        total = torch.zeros((), device=self._device)
        for step in range(steps):
            rows = order[step * batch : (step + 1) * batch]
            packed = boards_of(boards[rows])
            wanted = torch.from_numpy(targets[rows]).to(self._device)
            loss = loss_of(self.net(packed), wanted)
            loss.backward()  # type: ignore[no-untyped-call]
            self._fits[exact].step(rate)
            total += loss.detach()
        mean = float(total) / steps
        if not np.isfinite(mean):
            raise AcepointError(f"the loss is {mean}: try a smaller rate than {rate:g}")
        return mean

    def tensors(self) -> dict[str, Array]:
        """Weights and the states of the optimisers, for a checkpoint."""
        kept = {}
        for part, module, optimisers in self._parts():
            for name, weight in module.state_dict().items():
                kept[f"{part}.net.{name}"] = weight.cpu().numpy()
            for number, optimiser in enumerate(optimisers):
                for index, state in optimiser.state_dict()["state"].items():
                    for name, value in state.items():
                        kept[f"{part}.{number}.{index}.{name}"] = value.cpu().numpy()
        return kept

    def restore(self, tensors: dict[str, Array]) -> None:
        """Take back what `tensors` gave."""
        for part, module, optimisers in self._parts():
            module.load_state_dict(_torch(tensors, f"{part}.net."))
            for number, optimiser in enumerate(optimisers):
                state: dict[int, dict[str, torch.Tensor]] = {}
                for name, value in _torch(tensors, f"{part}.{number}.").items():
                    index, what = name.split(".")
                    state.setdefault(int(index), {})[what] = value
                groups = optimiser.state_dict()["param_groups"]
                optimiser.load_state_dict({"state": state, "param_groups": groups})

    def _parts(self) -> list[tuple[str, nn.Module, list[torch.optim.Optimizer]]]:
        of_value = [each for fit in self._fits.values() for each in fit.optimisers]
        return [
            ("value", self.net, of_value),
            ("pruning", self.pruning.net, [self.pruning.optimiser]),
        ]


def _torch(tensors: dict[str, Array], prefix: str) -> dict[str, torch.Tensor]:
    return {name: torch.from_numpy(value.copy()) for name, value in below(tensors, prefix).items()}
