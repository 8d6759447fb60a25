"""What scores say: means with their errors, and ratings."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from engine.arena.schedule import Array, Meeting

__all__ = ["Estimate", "Rating", "estimate", "estimate_ratio", "ratings"]


class Estimate(NamedTuple):
    """A mean and half the width of its 95 % interval, None when there is only one value."""

    mean: float
    ci95: float | None


class Rating(NamedTuple):
    """What a player scores a game against the whole field, himself included (at 0)."""

    player: int
    rating: float
    ci95: float | None


# Standard errors to each side of a 95 % interval: the 97.5 % quantiles of Student's distribution
# with 1, 2, ... degrees of freedom, then that of the normal one (any table of them).
_STUDENT = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
    2.052, 2.048, 2.045, 2.042,
)  # fmt: skip
_NORMAL = 1.96


def estimate(values: Array) -> Estimate:
    """Mean of independent values float[D]; the interval is by Student's distribution."""
    if len(values) < 2:
        return Estimate(float(values.mean()), None)
    freedom = len(values) - 1
    width = _STUDENT[freedom - 1] if freedom <= len(_STUDENT) else _NORMAL
    return Estimate(float(values.mean()), width * float(values.std(ddof=1)) / len(values) ** 0.5)


def estimate_ratio(values: Array, weights: Array) -> Estimate:
    """The sum of values float[D] over the sum of weights float[D], pairs independent of each other.

    The error is that of the mean of `values - ratio * weights`, over the mean weight.
    """
    ratio = float(values.sum() / weights.sum())
    _, ci95 = estimate(values - ratio * weights)
    return Estimate(ratio, None if ci95 is None else ci95 / float(weights.mean()))


def ratings(players: int, scores: Mapping[Meeting, Array]) -> list[Rating]:
    """Least-squares ratings of a complete round robin, best first.

    scores: of every meeting (i, j) the scores of i, [D, 2], in the same D deals.

    The ratings r, with sum 0, make the sum over all meetings of (p_ij - (r_i - r_j))^2 least, where
    p_ij are the mean scores; as all meet in equally many games, r_i is the mean of p_ij over all j,
    p_ii being 0. A difference of two ratings foretells the score a game between the two.

    The deal is the independent unit here too: all meetings share the chances of a deal, so the
    errors come from what r_i would be in each deal alone.
    """
    deals = len(next(iter(scores.values())))
    by_deal = np.zeros((players, deals))
    for (a, b), points in scores.items():
        mean_score = points.mean(axis=1)
        by_deal[a] += mean_score / players
        by_deal[b] -= mean_score / players
    rated = [Rating(player, *estimate(values)) for player, values in enumerate(by_deal)]
    return sorted(rated, key=lambda rating: -rating.rating)
