"""`acepoint rollout`: the plays of a position, or its cube decision, played out many times."""

import os
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import tyro

from engine.errors import AcepointError, NotationError
from engine.interfaces.cli.options import (
    AsJson,
    Count,
    Filter,
    Net,
    Plies,
    PositionText,
    Table,
    VariantName,
    require_range,
)
from engine.interfaces.cli.output import (
    CHANCES,
    below_each_other,
    decision_fields,
    print_json,
    print_table,
    tables,
)
from engine.interfaces.cli.situation import print_situation, read_situation

if TYPE_CHECKING:
    from engine.backgammon.position import Position
    from engine.cube.rollout import Ending, Limits, Rollout

__all__ = ["RollOut"]

INTERRUPTED = "interrupted"


@dataclass(frozen=True)
class RollOut:
    """Roll out the plays of a position, or its cube decision.

    Each candidate is played out many times, all with the same dice: the plays if there are dice,
    and if not the cube decision, no double against double and take. The first rolls are shared out
    evenly, the luck of the dice is taken out of the results, and a trial splits in two where the
    cube is turned. Equities are cubeful, at the score and with the cube of the ID; without any it
    is a money game with the cube in the centre. Errors are standard errors; Ctrl-C prints what
    there is. Plies are counted as gnubg counts them.

    Example: acepoint rollout 4HPwATDgc/ABMA 31 --candidates 2
    """

    position: PositionText
    dice: Annotated[Optional[str], tyro.conf.Positional, tyro.conf.arg(help_behavior_hint="")] = (
        None
    )
    """Such as 31 or 3-1; may be left out when the position's ID carries them. Without any the cube
    decision is rolled out."""
    trials: Annotated[int, tyro.conf.arg(metavar="N")] = 1296
    """Games of each candidate; multiples of 36 and 1296 are shared out evenly over the rolls."""
    plies: Plies = 0
    cube_plies: Count = None
    """Plies for cube actions; by default as many as for plays."""
    later_plies: Count = None
    """Plies for plays and cube actions later in the game, to save time."""
    later_from: Annotated[int, tyro.conf.arg(metavar="N")] = 4
    """The ply of a game from which on --later-plies holds."""
    moves: Filter = "normal"
    truncate: Count = None
    """End each game after so many plies with the net's estimate; by default games are played to
    their end."""
    cubeful: bool = False
    """Both sides use the cube, as they do unless --cubeless is given."""
    cubeless: bool = False
    """The cube is out of play."""
    until_se: Annotated[Optional[float], tyro.conf.arg(metavar="X", help_behavior_hint="")] = None
    """Stop when the standard error of every equity is down to X."""
    clear: Annotated[float, tyro.conf.arg(metavar="Z")] = 4.0
    """Stop a play that is worse than the best by Z standard errors of the difference, and the
    rollout when only one is left; 0 for never."""
    no_bearoff: bool = False
    """Play bearoffs out, too; by default a trial ends with the exact value of a database (see
    acepoint bearoff build) as soon as there is one."""
    candidates: Count = None
    """How many plays to roll out, the best first; by default up to 5 that are not far behind."""
    plain: bool = False
    """Leave the luck of the dice in the results, and split no trial: faster, with errors many times
    larger."""
    seed: Annotated[int, tyro.conf.arg(metavar="S")] = 0
    """Root of all dice: the same seed gives the same result, whatever the number of workers."""
    workers: Annotated[Optional[int], tyro.conf.arg(metavar="W", help_behavior_hint="")] = None
    """Threads that play; by default one a core."""
    out: Annotated[Optional[Path], tyro.conf.arg(metavar="FILE.json", help_behavior_hint="")] = None
    """Save the rollout, to be extended later."""
    resume: Annotated[Optional[Path], tyro.conf.arg(metavar="FILE.json", help_behavior_hint="")] = (
        None
    )
    """Go on from a saved rollout of the same position, net and settings."""
    net: Net = None
    met: Table = None
    variant: VariantName = "backgammon"
    as_json: AsJson = False

    def run(self) -> None:
        """Roll out and print."""
        from engine.bot import Bot, released_net
        from engine.cube.rollout import Limits, Settings
        from engine.records.rollouts import resume, save

        require_range("--candidates", self.candidates, 1)
        require_range("--workers", self.workers, 1)
        if self.cubeful and self.cubeless:
            raise NotationError("--cubeful, --cubeless: expected one of them")
        if self.out and (self.out.is_dir() or not self.out.parent.is_dir()):
            raise AcepointError(f"--out {str(self.out)!r}: expected a file in a folder that exists")
        limits = Limits(self.trials, self.until_se, self.clear)
        settings = Settings(
            plies=self.plies,
            cube_plies=self.cube_plies,
            later_plies=self.later_plies,
            later_from=self.later_from,
            moves=self.moves,
            truncate=self.truncate,
            cubeful=not self.cubeless,
            reduce_variance=not self.plain,
            bearoff=not self.no_bearoff,
            seed=self.seed,
        )
        position, dice, context = read_situation(self.position, self.dice, self.variant, self.met)
        bot = Bot(self.net or released_net(self.variant))
        rollout = bot.rollout(position, dice, context, settings, self.candidates)
        if self.resume:
            resume(rollout, self.resume)
        ending: Ending | str
        try:
            ending = self._roll_out(rollout, limits)
        except KeyboardInterrupt:
            if not rollout.trials:
                raise
            ending = INTERRUPTED
        try:
            if self.out:
                save(rollout, self.out)
        finally:  # a file that cannot be written does not cost the result
            if self.as_json:
                print_json(_report(position, dice, rollout, ending))
            else:
                _print(position, dice, rollout, ending)
        if ending == INTERRUPTED:
            sys.stdout.flush()
            raise KeyboardInterrupt

    def _roll_out(self, rollout: "Rollout", limits: "Limits") -> "Ending":
        """Play the trials, the table so far standing on standard error if that is a terminal."""
        from rich.console import Console, Group
        from rich.live import Live
        from rich.progress_bar import ProgressBar

        def show() -> None:
            shown = below_each_other(tables(*_rows(rollout), console.width))
            bar = ProgressBar(limits.trials, rollout.trials, width=40)
            live.update(Group(*shown, bar), refresh=True)

        console = Console(stderr=True, highlight=False, markup=False)
        with Live(console=console, transient=True, auto_refresh=False) as live:
            watcher: Callable[[], None] | None = show if console.is_terminal else None
            return rollout.run(limits, self.workers or os.cpu_count(), watcher)


def _rows(rollout: "Rollout") -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The heading and the rows of the table: plays from the best, cube actions in their order."""
    context = rollout.root
    summaries = list(zip(rollout.starts, rollout.summaries(), strict=True))
    if rollout.alternatives:
        summaries.sort(key=lambda pair: -pair[1].difference)
    rows = []
    for start, summary in summaries:
        low, high = summary.interval
        is_behind = summary.difference < 0 and rollout.alternatives
        rows.append(
            (
                start.name,
                f"{summary.equity:+.4f}",
                f"{summary.error:.4f}",
                f"{low:+.4f} to {high:+.4f}",
                *([] if context.is_money else [f"{100 * context.mwc(summary.equity):.2f}"]),
                f"{summary.difference:+.4f}" if is_behind else "",
                f"{summary.difference_error:.4f}" if is_behind else "",
                f"{100 * summary.chance:.1f}" if rollout.alternatives else "",
                f"{summary.trials:,}",
                *(f"{100 * p:.2f}" for p in summary.probabilities),
            )
        )
    heading = ("equity", "error", "95 %") if context.is_money else ("EMG", "error", "95 %", "MWC")
    behind = ("diff", "error", "best", "trials")
    return ("play" if rollout.alternatives else "", *heading, *behind, *CHANCES), rows


def _print(
    position: "Position", dice: tuple[int, int] | None, rollout: "Rollout", ending: str
) -> None:
    print_situation(position, rollout.root)
    if dice:
        print(f" {max(dice)}-{min(dice)} to play.", end="")
    print(f" {_method(rollout)}; {ending}:")
    print_table(*_rows(rollout))
    if not rollout.alternatives:
        print(f"\n Proper cube action: {rollout.decision().action}")


def _method(rollout: "Rollout") -> str:
    """How it was rolled out, in words."""
    settings = rollout.settings
    length = f"truncated after {settings.truncate} plies" if settings.truncate else "full"
    luck = "luck taken out" if settings.reduce_variance else "luck left in"
    return f"Rolled out {length}, {settings.plies}-ply, {luck}, seed {settings.seed}"


def _report(
    position: "Position", dice: tuple[int, int] | None, rollout: "Rollout", ending: str
) -> dict[str, Any]:
    """The fields of the JSON object."""
    from engine.backgammon.ids import encode_position
    from engine.kernels.movegen import unpack

    settings = rollout.settings
    report: dict[str, Any] = {
        "position": position.id,
        "dice": f"{max(dice)}{min(dice)}" if dice else None,
        "trials": rollout.trials,
        "ending": str(ending),
    } | asdict(settings)
    candidates = []
    for start, summary in zip(rollout.starts, rollout.summaries(), strict=True):
        candidates.append(
            {
                "play": start.name,
                "result": encode_position(unpack(start.packed[None])[0]),
                "trials": summary.trials,
                "equity": summary.equity,
                "standard_error": _number(summary.error),
                "interval": [_number(end) for end in summary.interval],
                "difference": summary.difference,
                "difference_error": _number(summary.difference_error),
                "chance_best": summary.chance,
                "probabilities": summary.probabilities.tolist(),
                "probability_errors": [_number(error) for error in summary.probability_errors],
            }
        )
    if rollout.alternatives:
        candidates.sort(key=lambda each: -each["difference"])
        return report | {"candidates": candidates}
    for each in candidates:
        del each["result"], each["difference"], each["difference_error"], each["chance_best"]
        each["action"] = each.pop("play")
    return report | {
        **decision_fields(rollout.decision()),
        "candidates": candidates,
    }


def _number(value: float) -> float | None:
    """None for nan, which JSON does not know."""
    return value if value == value else None
