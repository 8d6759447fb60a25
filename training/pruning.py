"""Trains the small net that says which results of a roll are worth the whole one.

It learns to rank, not to value: for each roll, at stakes drawn at random, its softmax over the
results should be that of the whole net's equities (the listwise loss of Cao et al. 2007). Of 32
units this keeps the best result among the first five for 97 rolls in a hundred; the same units
taught the probabilities themselves, for 92.
"""

from typing import Any, NamedTuple, Self

import numpy as np
import torch
from torch import nn

from engine.evaluation.network import PROBABILITIES, PRUNING_ENCODER, Network, PruningNet
from engine.kernels.choice import CUBELESS
from engine.kernels.movegen import legal_results
from engine.kernels.net import PRUNING

__all__ = ["PruningLearner", "PruningModule", "Rolls"]

Array = np.ndarray[Any, Any]

TEMPERATURE = 0.05  # equity: results this much worse than the best get a third of its weight
LARGEST_ROLL = 64  # results of a roll that are learned from; of more, as many drawn at random
BATCH = 256  # rolls of one gradient step
RATE = 4e-3  # of Adam at the start of a run


class Rolls(NamedTuple):
    """All the results of some rolls, and what the whole net says of them."""

    boards: Array
    """int8[M, 2, 32], as the next player sees them."""
    values: Array
    """float32[M, 5], for him."""
    offsets: Array
    """int64[R + 1]: the results of roll r are rows offsets[r] to offsets[r + 1]."""

    @classmethod
    def of_positions(cls, network: Network, packed: Array, rng: np.random.Generator) -> Self:
        """One random roll of each int8[R, 2, 32] position."""
        dice = rng.integers(1, 7, (len(packed), 2), dtype=np.int8)
        results, offsets = legal_results(packed, dice)
        return cls(results, network.evaluate(results), offsets)


class PruningModule(nn.Module):
    """The torch form of a pruning net, with random weights or those of a net."""

    def __init__(self, net: PruningNet | None) -> None:
        super().__init__()
        self.hidden = nn.Linear(PRUNING_ENCODER.features, PRUNING)
        self.output = nn.Linear(PRUNING, PROBABILITIES, bias=False)
        if net is not None:
            with torch.no_grad():
                self.hidden.weight.copy_(torch.from_numpy(net.weight))
                self.hidden.bias.copy_(torch.from_numpy(net.bias))
                self.output.weight.copy_(torch.from_numpy(net.output))

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """The outputs float32[N, 5] of features float32[N, F]."""
        outputs: torch.Tensor = self.output(torch.relu(self.hidden(features)))
        return outputs

    def export(self) -> PruningNet:
        """The same net for play."""
        tensors = self.hidden.weight, self.hidden.bias, self.output.weight
        return PruningNet(*(tensor.detach().numpy().copy() for tensor in tensors))


class PruningLearner:
    """Fits a pruning net with Adam."""

    def __init__(self, net: PruningNet | None = None) -> None:
        self.was_given = net is not None
        self.net = PruningModule(net)
        self.optimiser = torch.optim.Adam(self.net.parameters(), lr=RATE, fused=True)

    def learn(self, rolls: Rolls, rng: np.random.Generator, progress: float) -> float:
        """One pass over some rolls at this progress, 0 to 1, of the run; the mean loss.

        It is 0 where no roll leaves a choice.
        """
        for group in self.optimiser.param_groups:
            group["lr"] = RATE * (1 - progress)
        choices = rng.permutation(np.flatnonzero(np.diff(rolls.offsets) > 1))
        if not len(choices):
            return 0.0
        batches = np.split(choices, range(BATCH, len(choices), BATCH))
        return float(np.mean([self._step(rolls, batch, rng) for batch in batches]))

    def _step(self, rolls: Rolls, batch: Array, rng: np.random.Generator) -> float:
        drawn = [
            rng.permutation(np.arange(rolls.offsets[roll], rolls.offsets[roll + 1]))[:LARGEST_ROLL]
            for roll in batch
        ]
        rows = np.concatenate(drawn)
        roll_of = torch.from_numpy(np.repeat(np.arange(len(batch)), [len(each) for each in drawn]))
        stakes = torch.from_numpy(_draw_stakes(len(batch), rng))[roll_of]
        features = torch.from_numpy(PRUNING_ENCODER.encode(rolls.boards[rows]))
        scores = (self.net(features) * stakes).sum(1)
        equities = (torch.from_numpy(rolls.values[rows]) * stakes).sum(1)
        wanted = torch.exp(_log_softmax(-equities / TEMPERATURE, roll_of, len(batch)))
        loss = -(wanted * _log_softmax(-scores / TEMPERATURE, roll_of, len(batch))).sum()
        loss = loss / len(batch)
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimiser.step()
        return float(loss.detach())


def _draw_stakes(count: int, rng: np.random.Generator) -> Array:
    """float32[count, 5]: half of them those of money games, the others of some score."""
    gammons = rng.uniform(0, 2, (count, 2))
    backgammons = gammons * rng.uniform(0, 1, (count, 2))
    scores = np.column_stack(
        (np.full(count, 2), gammons[:, 0], backgammons[:, 0], -gammons[:, 1], -backgammons[:, 1])
    )
    money = rng.random(count) < 0.5
    return np.where(money[:, None], CUBELESS, scores).astype(np.float32)


def _log_softmax(scores: torch.Tensor, group: torch.Tensor, groups: int) -> torch.Tensor:
    """The logarithm of the softmax of float32[M] scores within each group, int64[M]."""
    highest = torch.full((groups,), -torch.inf)
    highest = highest.scatter_reduce(0, group, scores.detach(), "amax")
    shifted = scores - highest[group]
    totals = torch.zeros(groups).index_add(0, group, torch.exp(shifted))
    return shifted - torch.log(totals)[group]
