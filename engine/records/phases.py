"""A score by phase of the game: which positions a player misplays, and which it misjudges.

The phases are the first of these that fits, by the position that is to be played, and either side
may be meant unless it says otherwise:

| phase | what it is |
|---|---|
| bearoff | no contact, and all checkers of both sides in their home boards or off |
| race | no contact |
| late contact | a side has all its checkers in its home board or off |
| backgame | a side has four checkers or more on the bar or in the opponent's home board |
| prime | a side holds five points in a row, with a checker of the opponent behind them |
| bar | the player on roll has a checker on the bar |
| contact | the rest |
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.backgammon import board as boards
from engine.backgammon.board import BAR, HOME, OFF, POINTS, Boards
from engine.evaluation import outcome
from engine.kernels.movegen import unpack
from engine.records.decisions import PR_SCALE, CheckerDecisions, CheckerScore

__all__ = ["PHASES", "PhaseScore", "by_phase", "phases_of"]

Array = np.ndarray[Any, Any]

PHASES = ("bearoff", "race", "late contact", "backgame", "prime", "bar", "contact")
ALL = "all"

_MANY_BACK = 4
_PRIME = 5
_WIN, _WIN_GAMMON, _, _LOSE_GAMMON, _ = range(len(outcome.NAMES))


@dataclass(frozen=True)
class PhaseScore:
    """Choices and probabilities in one phase, or in `ALL`.

    The errors of probabilities are mean absolute differences from those of the candidates that
    the file has looked deep into, and of the cubeless money equity in points the root mean square;
    None where there are no such candidates.
    """

    phase: str
    decisions: int
    pr: float
    candidates: int
    win: float | None
    win_gammon: float | None
    lose_gammon: float | None
    equity: float | None


def phases_of(positions: Boards) -> Array:
    """The phase of each of int8[N, 2, 26] boards, int64[N] numbers of `PHASES`."""
    no_contact = boards.phases(positions) == boards.Phase.RACE
    is_home = positions[..., HOME + 1 :].max(axis=-1) == 0
    back = positions[..., POINTS - HOME + 1 :].sum(axis=-1)
    return np.select(
        [
            no_contact & is_home.all(axis=1),
            no_contact,
            is_home.any(axis=1),
            (back >= _MANY_BACK).any(axis=1),
            _holds_prime(positions).any(axis=1),
            positions[:, 0, BAR] > 0,
        ],
        range(len(PHASES) - 1),
        len(PHASES) - 1,
    )


def by_phase(
    decisions: CheckerDecisions, score: CheckerScore, evaluate: Callable[[Array], Array]
) -> list[PhaseScore]:
    """The score and the errors of the values in each phase that occurs, and then in all.

    evaluate: int8[M, 2, 32] unfinished results -> float32[M, 5] for their player on roll.
    """
    is_judged = np.isfinite(decisions.probabilities[:, _WIN])
    rows = np.flatnonzero(is_judged & ~boards.is_over(unpack(decisions.results)))
    errors = np.zeros((len(rows), len(outcome.NAMES)), np.float32)
    if rows.size:
        ours = outcome.flip(evaluate(decisions.results[rows]))
        errors = ours - decisions.probabilities[rows]
    phases = phases_of(unpack(decisions.packed))
    phases_of_rows = np.repeat(phases, np.diff(decisions.offsets))[rows]
    scores = [
        _score(name, score.losses[phases == phase], errors[phases_of_rows == phase])
        for phase, name in enumerate(PHASES)
        if (phases == phase).any()
    ]
    return [*scores, _score(ALL, score.losses, errors)]


def _score(phase: str, losses: Array, errors: Array) -> PhaseScore:
    """losses: float64[N] of the decisions; errors: float32[M, 5] of the candidates."""
    pr = PR_SCALE * float(losses.mean())
    if not len(errors):
        return PhaseScore(phase, len(losses), pr, 0, None, None, None, None)
    absolute = np.abs(errors).mean(axis=0, dtype=np.float64)
    equities = outcome.equity(errors) + 1  # of differences: the constant has no place in them
    return PhaseScore(
        phase,
        len(losses),
        pr,
        len(errors),
        float(absolute[_WIN]),
        float(absolute[_WIN_GAMMON]),
        float(absolute[_LOSE_GAMMON]),
        float(np.sqrt(np.square(equities, dtype=np.float64).mean())),
    )


def _holds_prime(positions: Boards) -> Array:
    """Whether each row holds a prime that a checker of the other has yet to pass, bool[N, 2]."""
    made = positions[..., OFF + 1 : BAR] >= 2
    starts = np.lib.stride_tricks.sliding_window_view(made, _PRIME, axis=-1).all(axis=-1)
    first = np.where(starts, np.arange(1, starts.shape[-1] + 1), 0).max(axis=-1)
    in_play = positions[:, ::-1, OFF + 1 :] > 0
    rearmost = np.where(in_play, np.arange(1, BAR + 1), 0).max(axis=-1)
    return np.asarray(BAR - rearmost < first)
