"""Every setting of a training run, with its help text beside it."""

import json
import sys
from dataclasses import asdict, dataclass, field
from typing import Any

from engine.errors import AcepointError, FileFormatError

__all__ = ["Learning", "SelfPlay", "Settings", "Shape", "Stages"]

_MOST = 10**8  # of what is counted: more positions than fit into memory
_WIDEST = 8192  # units of a layer: beyond what any machine of ours could train


@dataclass(frozen=True)
class Shape:
    """What the net looks like."""

    encoder: str = "tactical"
    """The feature set, by name."""
    hidden: tuple[int, ...] = (256, 32, 32)
    """Units of each hidden layer, multiples of 8."""
    by_plan: bool = True
    """Whether each game plan has weights of its own behind the first layer, at first the same."""


@dataclass(frozen=True)
class SelfPlay:
    """How positions are found."""

    games: int = 1024
    """Games of one iteration of TD(lambda)."""
    backups: int = 16384
    """Positions of one iteration of exact backups, about."""
    rolls: int = 2048
    """Rolls of one iteration whose results are ranked, to teach the pruning net."""
    random_share: float = 0.3
    """Share of the games that begin with random plays, to see what good players avoid."""
    random_plays: int = 12
    """The most random plays such a game begins with."""
    explored_share: float = 0.1
    """Share of the other plays that are drawn from the results that the pruning net finds best."""


@dataclass(frozen=True)
class Stages:
    """What the targets are, as the run goes on; a share is of the whole budget."""

    td_share: float = 0.1
    """Share of the run that learns by TD(lambda); exact backups follow. 1 means TD(lambda) only."""
    first_lambda: float = 0.7
    """Lambda at the start."""
    last_lambda: float = 0.0
    """Lambda at the end of the TD share; it falls linearly."""
    bearoff: bool = True
    """Take exact values from the default bearoff databases, which are built when missing."""
    backup_lambda: float = 0.9
    """Lambda when exact backups begin; it falls linearly to zero at the end of the run."""

    def exact_progress(self, progress: float) -> float | None:
        """How much of the exact backups is done, 0 to 1, at this progress of a run; None before."""
        if progress < self.td_share:
            return None
        return 1 - (1 - progress) / max(1 - self.td_share, 1e-9)

    def decay(self, progress: float) -> float:
        """Lambda at this progress, 0 to 1, of a run."""
        exact = self.exact_progress(progress)
        if exact is None:
            done = progress / self.td_share
            return self.first_lambda + done * (self.last_lambda - self.first_lambda)
        return self.backup_lambda * (1 - exact)


@dataclass(frozen=True)
class Learning:
    """How the net is fitted to the targets."""

    td_rate: float = 2e-3
    """Adam's step size for TD(lambda) at the start; it would fall to zero at the end of the run."""
    td_batch: int = 1024
    """Positions of one gradient step of TD(lambda)."""
    rate: float = 0.04
    """Muon's step size for exact backups at its highest; it falls linearly to zero at the end."""
    warm_up: float = 0.02
    """Share of the exact backups in which that step size rises from zero."""
    batch: int = 2048
    """Positions of one gradient step with exact backups."""
    replay: int = 4
    """How often an exact backup is learned from, on average, while it is in the buffer."""
    buffer: int = 100_000
    """Exact backups kept to learn from."""


@dataclass(frozen=True)
class Settings:
    """One training run."""

    variant: str = "backgammon"
    """backgammon, nackgammon or hypergammon."""
    seed: int = 1
    """The root of all randomness."""
    init: str | None = None
    """A net file to begin with, instead of random weights of the given shape."""
    narrow: int = 0
    """Units that stay in its first layer, those that its own games need most; 0 keeps all."""
    widen: tuple[int, ...] = ()
    """Units of each hidden layer that this net is given; at first it says the same as before."""
    shape: Shape = field(default_factory=Shape)
    self_play: SelfPlay = field(default_factory=SelfPlay)
    stages: Stages = field(default_factory=Stages)
    learning: Learning = field(default_factory=Learning)

    def __post_init__(self) -> None:
        """Refuse what cannot be trained with, naming the setting."""
        positive = {
            "games": self.self_play.games,
            "backups": self.self_play.backups,
            "rolls": self.self_play.rolls,
            "batch": self.learning.batch,
            "replay": self.learning.replay,
            "buffer": self.learning.buffer,
            "rate": self.learning.rate,
            "td-rate": self.learning.td_rate,
            "td-batch": self.learning.td_batch,
        }
        for name, value in positive.items():
            most = _MOST if isinstance(value, int) else sys.float_info.max
            if not 0 < value <= most:
                raise AcepointError(f"{name} {value}: expected a number above 0, up to {most:g}")
        shares = {
            "random-share": self.self_play.random_share,
            "explored-share": self.self_play.explored_share,
            "td-share": self.stages.td_share,
            "first-lambda": self.stages.first_lambda,
            "last-lambda": self.stages.last_lambda,
            "backup-lambda": self.stages.backup_lambda,
            "warm-up": self.learning.warm_up,
        }
        for name, value in shares.items():
            if not 0 <= value <= 1:
                raise AcepointError(f"{name} {value}: expected a number from 0 to 1")
        if not 0 <= self.seed < 2**64:
            raise AcepointError(f"seed {self.seed}: expected a number from 0 to 2^64 - 1")
        if not 0 <= self.self_play.random_plays <= _MOST:
            plays = self.self_play.random_plays
            raise AcepointError(f"random-plays {plays}: expected 0 or more, up to {_MOST:g}")
        if not self.shape.hidden:
            raise AcepointError("hidden (): expected a layer at least")
        narrow = (self.narrow,) if self.narrow else ()
        shapes = {"hidden": self.shape.hidden, "widen": self.widen, "narrow": narrow}
        for name, layers in shapes.items():
            given = " ".join([name, *map(str, layers)])
            if any(not 0 < width <= _WIDEST or width % 8 for width in layers):
                raise AcepointError(f"{given}: expected multiples of 8, up to {_WIDEST}")
            if name != "hidden" and layers and self.init is None:
                raise AcepointError(f"{given}: expected an init net to {name}")

    def rate_at(self, progress: float) -> float:
        """The step size at this progress, 0 to 1, of a run."""
        exact = self.stages.exact_progress(progress)
        if exact is None:
            return self.learning.td_rate * (1 - progress)
        warm = exact / self.learning.warm_up if exact < self.learning.warm_up else 1.0
        return self.learning.rate * warm * (1 - exact)

    def to_json(self) -> str:
        """The settings as one line of JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Settings":
        """The settings that `to_json` wrote; FileFormatError for anything else."""
        try:
            tree: dict[str, Any] = json.loads(text)
            shape = dict(tree.pop("shape"))
            shape["hidden"] = tuple(shape["hidden"])
            tree["widen"] = tuple(tree["widen"])
            return cls(
                shape=Shape(**shape),
                self_play=SelfPlay(**tree.pop("self_play")),
                stages=Stages(**tree.pop("stages")),
                learning=Learning(**tree.pop("learning")),
                **tree,
            )
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise FileFormatError(f"settings {text[:80]!r}: {error}") from None
