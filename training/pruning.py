"""Trains the small net that says which results of a roll are worth the whole one.

It learns to rank, not to value: for each roll, at stakes drawn at random, its softmax over the
results should be that of the whole net's equities (the listwise loss of Cao et al. 2007). Of 32
units this keeps the best result among the first five for 97 rolls in a hundred; the same units
taught the probabilities themselves, for 92.
"""

from typing import Any

import numpy as np
import torch
from torch import nn

from engine.evaluation.network import PROBABILITIES, PRUNING_ENCODER, PruningNet
from engine.kernels.forward import PRUNING

__all__ = ["PruningLearner"]

Array = np.ndarray[Any, Any]

TEMPERATURE = 0.05  # equity: results this much worse than the best get a third of its weight
LARGEST_ROLL = 64  # results of a roll that are learned from; of more, as many drawn at random
ROLLS = 256  # of one gradient step
MONEY = (2.0, 1.0, 1.0, -1.0, -1.0)  # what the five probabilities count for


class PruningLearner:
    """Fits a pruning net with Adam."""

    def __init__(self, rate: float, seed: int, net: PruningNet | None = None) -> None:
        torch.manual_seed(seed)
        self._hidden = nn.Linear(PRUNING_ENCODER.features, PRUNING)
        self._output = nn.Linear(PRUNING, PROBABILITIES, bias=False)
        if net is not None:
            with torch.no_grad():
                self._hidden.weight.copy_(torch.from_numpy(net.weight))
                self._hidden.bias.copy_(torch.from_numpy(net.bias))
                self._output.weight.copy_(torch.from_numpy(net.output))
        parameters = [*self._hidden.parameters(), *self._output.parameters()]
        self._optimiser = torch.optim.Adam(parameters, lr=rate, fused=True)

    def learn(
        self, boards: Array, values: Array, offsets: Array, rng: np.random.Generator, rate: float
    ) -> float:
        """One pass over the results of R rolls; the mean loss.

        boards: int8[M, 2, 32], the results as the next player sees them; values: float32[M, 5],
        what the whole net says of them; offsets: int64[R + 1], where each roll's results are.
        """
        for group in self._optimiser.param_groups:
            group["lr"] = rate
        choices = np.flatnonzero(np.diff(offsets) > 1)
        losses = [
            self._step(boards, values, offsets, rolls, rng)
            for rolls in np.split(rng.permutation(choices), range(ROLLS, len(choices), ROLLS))
        ]
        return float(np.mean(losses))

    def _step(
        self, boards: Array, values: Array, offsets: Array, rolls: Array, rng: np.random.Generator
    ) -> float:
        drawn = [
            rng.permutation(np.arange(offsets[roll], offsets[roll + 1]))[:LARGEST_ROLL]
            for roll in rolls
        ]
        rows = np.concatenate(drawn)
        roll_of = torch.from_numpy(np.repeat(np.arange(len(rolls)), [len(each) for each in drawn]))
        stakes = torch.from_numpy(_draw_stakes(len(rolls), rng))[roll_of]
        features = torch.from_numpy(PRUNING_ENCODER.encode(boards[rows]))
        scores = (self._output(torch.relu(self._hidden(features))) * stakes).sum(1)
        equities = (torch.from_numpy(values[rows]) * stakes).sum(1)
        wanted = torch.exp(_log_softmax(-equities / TEMPERATURE, roll_of, len(rolls)))
        loss = -(wanted * _log_softmax(-scores / TEMPERATURE, roll_of, len(rolls))).sum()
        loss = loss / len(rolls)
        self._optimiser.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        self._optimiser.step()
        return float(loss.detach())

    def export(self) -> PruningNet:
        """The net for play."""
        tensors = self._hidden.weight, self._hidden.bias, self._output.weight
        return PruningNet(*(tensor.detach().numpy().copy() for tensor in tensors))


def _draw_stakes(count: int, rng: np.random.Generator) -> Array:
    """float32[count, 5]: half of them those of money games, the others of some score."""
    gammons = rng.uniform(0, 2, (count, 2))
    backgammons = gammons * rng.uniform(0, 1, (count, 2))
    scores = np.column_stack(
        (np.full(count, 2), gammons[:, 0], backgammons[:, 0], -gammons[:, 1], -backgammons[:, 1])
    )
    money = rng.random(count) < 0.5
    return np.where(money[:, None], MONEY, scores).astype(np.float32)


def _log_softmax(scores: torch.Tensor, group: torch.Tensor, groups: int) -> torch.Tensor:
    """The logarithm of the softmax of float32[M] scores within each group, int64[M]."""
    highest = torch.full((groups,), -torch.inf)
    highest = highest.scatter_reduce(0, group, scores.detach(), "amax")
    shifted = scores - highest[group]
    totals = torch.zeros(groups).index_add(0, group, torch.exp(shifted))
    return shifted - torch.log(totals)[group]
