"""`acepoint move`: the plays of a position, ranked."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Optional

import tyro

from engine.errors import NotationError
from engine.interfaces.cli.looking import looking_bot
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
from engine.interfaces.cli.output import CHANCES, print_json, print_table
from engine.interfaces.cli.situation import (
    equity_cells,
    equity_headings,
    print_situation,
    read_situation,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.bot import Candidate
    from engine.cube.context import CubeContext

__all__ = ["Move", "print_candidates"]

SHOWN = 10  # plays in a table unless another number is asked for


@dataclass(frozen=True)
class Move:
    """Rank the plays of a position.

    Shows the board, and the plays by equity with the five probabilities of the player on roll: win,
    win a gammon, win a backgammon, lose a gammon, lose a backgammon. The equity is cubeful, at the
    score and with the cube of the ID; without any it is a money game with the cube in the centre.
    Plies are counted as gnubg counts them: 0 is the static evaluation, n looks n rolls ahead.
    Plays that the filter leaves out are looked at less far, and come behind the others.

    Example: acepoint move 4HPwATDgc/ABMA 31 --plies 2
    """

    position: PositionText
    dice: Annotated[Optional[str], tyro.conf.Positional, tyro.conf.arg(help_behavior_hint="")] = (
        None
    )
    """Such as 31 or 3-1; may be left out when the position's ID carries them."""
    plies: Plies = 0
    moves: Filter = "normal"
    candidates: Count = None
    """How many plays to show, the best first; by default 10, and with --json all."""
    cubeless: bool = False
    """Rank by cubeless equity: as if nobody ever turned the cube."""
    net: Net = None
    met: Table = None
    variant: VariantName = "backgammon"
    as_json: AsJson = False

    def run(self) -> None:
        """Rank and print."""
        require_range("--candidates", self.candidates, 1)
        position, dice, context = read_situation(self.position, self.dice, self.variant, self.met)
        if dice is None:
            raise NotationError(
                f"position {self.position!r} has no dice: give them too, such as 31"
            )

        if self.cubeless:
            context = context.without_cube()

        with looking_bot(self.net, self.plies, self.moves, self.variant) as bot:
            ranking = bot.rank(position, dice, context)
        if self.as_json:
            print_json(
                {
                    "position": position.id,
                    "dice": f"{max(dice)}{min(dice)}",
                    "plies": self.plies,
                    "candidates": [
                        {
                            "play": str(candidate.play),
                            "result": candidate.play.result.id,
                            "equity": candidate.equity,
                            "probabilities": [float(p) for p in candidate.probabilities],
                            "plies": candidate.plies,
                        }
                        for candidate in ranking[: self.candidates]
                    ],
                }
            )
            return

        print_situation(position, context)
        print(f" {max(dice)}-{min(dice)} to play, {self.plies}-ply:")
        shown = self.candidates or SHOWN
        print_candidates(ranking[:shown], context)
        if len(ranking) > shown:
            print(f" {len(ranking) - shown} more plays: --candidates {len(ranking)} shows all")


def print_candidates(ranking: "Sequence[Candidate]", context: "CubeContext") -> None:
    """A table of ranked plays, best first: equities, probabilities in per cent.

    context: of the mover. Where it was looked ahead, how far for each play: those looked at less
    far are not compared with the best one.
    """
    best = ranking[0]
    ahead = best.plies > 0
    print_table(
        (
            "play",
            *(["plies"] if ahead else []),
            *equity_headings(context),
            *CHANCES,
        ),
        (
            (
                candidate.play,
                *([candidate.plies] if ahead else []),
                *equity_cells(context, candidate.equity, _difference(candidate, best)),
                *(f"{100 * p:.1f}" for p in candidate.probabilities),
            )
            for candidate in ranking
        ),
    )


def _difference(candidate: "Candidate", best: "Candidate") -> float | None:
    if candidate.plies < best.plies or candidate.equity == best.equity:
        return None
    return candidate.equity - best.equity
