"""What the trials of a rollout say: means, their errors, and which candidate is best.

The first rolls of 36 trials in a row are all the 36 throws, so what differs between first rolls
adds nothing to the error of a mean: it is computed within them.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.kernels.movegen import THROWS

__all__ = ["Z95", "Summary", "standard_errors", "summarise"]

Array = np.ndarray[Any, Any]

Z95 = 1.959964  # standard errors to either side of a 95 % interval


@dataclass(frozen=True, slots=True)
class Summary:
    """One candidate's figures, for the side whose decision it is; errors are standard errors.

    Equities are points per unit of the cube in money games, EMG in matches.
    """

    trials: int
    equity: float
    error: float
    """nan for fewer than two trials, as the other errors."""
    probabilities: Array
    """float64[5], see `engine.evaluation.outcome`."""
    probability_errors: Array
    """float64[5]"""
    difference: float
    """Mean of equity less the best candidate's, over the trials that both have: the same dice."""
    difference_error: float
    chance: float
    """That it is the best: by the normal approximation from the paired differences, as if those
    were independent."""

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the equity."""
        return self.equity - Z95 * self.error, self.equity + Z95 * self.error


def standard_errors(samples: Array) -> Array:
    """The standard errors float64[C] of the means of float64[N, C] trials in their order."""
    trials = len(samples)
    if trials < 2:
        return np.full(samples.shape[1], np.nan)
    strata = THROWS if trials >= 2 * THROWS else 1
    groups = np.arange(trials) % strata
    sizes = np.bincount(groups)
    squares = np.zeros(samples.shape[1])
    for column, values in enumerate(samples.T):
        means = np.bincount(groups, values) / sizes
        squares[column] = ((values - means[groups]) ** 2).sum()
    errors: Array = np.sqrt(squares / (trials - strata) / trials)
    return errors


def summarise(samples: list[Array]) -> list[Summary]:
    """The figures of candidates with float64[N, 6] trials each: equity and probabilities.

    The best is one of those with the most trials. Raises ValueError when there is no trial.
    """
    most = max(len(each) for each in samples)
    means = [each.mean(axis=0) for each in samples]
    best = max(
        (number for number, each in enumerate(samples) if len(each) == most),
        key=lambda number: float(means[number][0]),
    )
    chances = [_chance(samples, number) for number in range(len(samples))]
    return [
        _summary(each, mean, *_difference(each, samples[best]), chance / sum(chances))
        for each, mean, chance in zip(samples, means, chances, strict=True)
    ]


def _summary(
    samples: Array, mean: Array, difference: float, difference_error: float, chance: float
) -> Summary:
    errors = standard_errors(samples)
    return Summary(
        len(samples), float(mean[0]), float(errors[0]), mean[1:], errors[1:],
        difference, difference_error, chance,
    )  # fmt: skip


def _difference(a: Array, b: Array) -> tuple[float, float]:
    """Mean and standard error of a's equity less b's, over the trials that both have."""
    if a is b:
        return 0.0, 0.0
    both = min(len(a), len(b))
    differences = a[:both, :1] - b[:both, :1]
    return float(differences.mean()), float(standard_errors(differences)[0])


def _chance(samples: list[Array], number: int) -> float:
    """The product of the chances that one candidate is better than each of the others."""
    chance = 1.0
    for other, each in enumerate(samples):
        if other != number:
            difference, error = _difference(samples[number], each)
            z = difference / error if error > 0 else math.copysign(math.inf, difference)
            chance *= 0.5 if difference == 0 else 0.5 * math.erfc(-z / math.sqrt(2))
    return chance
