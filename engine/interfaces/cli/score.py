"""`acepoint score`: choices compared with those of a stronger player."""

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Optional

import tyro

from engine.errors import NotationError
from engine.interfaces.cli.looking import looking_bot
from engine.interfaces.cli.options import AsJson, Count, Filter, Net, Plies, require_range
from engine.interfaces.cli.output import print_json, print_table

if TYPE_CHECKING:
    from engine.players.base import Array
    from engine.records.decisions import CheckerDecisions, Choose
    from engine.records.phases import PhaseScore

__all__ = ["Score"]

HEADINGS = ("PR", "mean loss", "decisions", "not listed", "seconds")
PHASE_HEADINGS = (
    *("phase", "decisions", "PR", "candidates"),
    *("win off by", "gammon", "lost gammon", "equity (rms)"),
)


@dataclass(frozen=True)
class Score:
    """Score the choices on a file of reference decisions.

    Checker: PR is 500 x the mean equity loss of a decision. A choice that is not among the listed
    candidates costs as much as the worst of them. By phase, also how far the probabilities of the
    candidates are from those in the file that looked 4 plies ahead: win, gammon and lost gammon as
    mean absolute differences in percentage points, the cubeless equity as root mean square. See
    engine/records/phases.py for what the phases are.

    Cube: the double loss is the equity lost by doubling or not doubling, the take loss that by
    taking or passing after a double, each judged by the file's equities and averaged over all
    decisions of the file, also those in which a double is wrong.

    Plies are counted as gnubg counts them.

    Example: acepoint score checker decisions.jsonl.gz --limit 1000
    """

    kind: tyro.conf.Positional[Literal["checker", "cube"]]
    """What is decided: checker (which play) or cube (double, take)."""
    file: tyro.conf.Positional[Path]
    """JSON lines, which may be gzipped: position and match with dice and candidates (result,
    equity), or with probs, no_double, double_take and double_pass."""
    plies: Plies = 0
    moves: Filter = "normal"
    limit: Count = None
    """Use only so many decisions from the beginning of the file."""
    given_probabilities: bool = False
    """Cube: take the file's probabilities instead of the net's, to score the cube alone."""
    by_phase: bool = False
    """Checker: also by phase of the game, with the errors of the probabilities."""
    player: Annotated[Optional[str], tyro.conf.arg(metavar="PLAYER", help_behavior_hint="")] = None
    """Checker: another player instead of the net, such as gnubg:0, named as in a tournament."""
    net: Net = None
    as_json: AsJson = False

    def run(self) -> None:
        """Read, decide and print."""
        require_range("--limit", self.limit, 1)
        filtered = self.moves != Score.moves
        if self.player is not None and (self.net is not None or self.plies or filtered):
            raise NotationError(
                f"--player {self.player}: expected no --net, --plies and --filter with it"
            )
        if self.kind == "cube":
            if self.by_phase or self.player is not None or filtered:
                raise NotationError("--by-phase, --player, --filter: score cube cannot use them")
            if self.given_probabilities and (self.net is not None or self.plies):
                raise NotationError("--given-probabilities: expected no --net and --plies with it")
            self._score_cube()
        elif self.given_probabilities:
            raise NotationError("--given-probabilities: score checker cannot use them")
        else:
            self._score_checker()

    def _score_checker(self) -> None:
        from engine.records.decisions import read_checker_decisions, score_checker
        from engine.records.phases import by_phase

        decisions = read_checker_decisions(self.file, self.limit)
        with self._scored(decisions) as (choose, evaluate):
            began = time.perf_counter()
            score = score_checker(decisions, choose)
            seconds = time.perf_counter() - began
            phases = by_phase(decisions, score, evaluate) if self.by_phase else []
        if self.as_json:
            fields = {
                "pr": score.pr,
                "mean_loss": score.mean_loss,
                "decisions": score.decisions,
                "unlisted": score.unlisted,
                "plies": self.plies if self.player is None else None,
                "seconds": seconds,
            }
            more = {"phases": [asdict(phase) for phase in phases]} if self.by_phase else {}
            print_json(fields | more)
            return
        print_table(
            ("plies" if self.player is None else "player", *HEADINGS),
            [
                (
                    self.plies if self.player is None else self.player,
                    f"{score.pr:.2f}",
                    f"{score.mean_loss:.5f}",
                    f"{score.decisions:,}",
                    f"{score.unlisted:,}",
                    f"{seconds:.2f}",
                )
            ],
        )
        if self.by_phase:
            print()
            print_table(PHASE_HEADINGS, map(_phase_row, phases))

    @contextlib.contextmanager
    def _scored(
        self, decisions: "CheckerDecisions"
    ) -> "Iterator[tuple[Choose, Callable[[Array], Array]]]":
        """What chooses plays, at the score and cube of each decision, and judges positions."""
        if self.player is None:
            with looking_bot(self.net, self.plies, self.moves) as bot:
                yield (
                    lambda packed, dice: bot.best_packed(packed, dice, decisions.contexts),
                    bot.evaluate_packed,
                )
            return
        from engine.players.base import Judge
        from engine.players.registry import make_cubeful_player
        from engine.records.decisions import played_by

        with contextlib.closing(make_cubeful_player(self.player)) as player:
            if not isinstance(player, Judge):
                raise NotationError(f"--player {self.player}: it judges no positions")
            yield lambda _packed, _dice: played_by(player, decisions), player.evaluate_packed

    def _score_cube(self) -> None:
        from engine.cube.decisions import cube_actions
        from engine.cube.equity import timing
        from engine.records.decisions import read_cube_decisions, score_cube

        decisions = read_cube_decisions(self.file, self.limit)
        with contextlib.ExitStack() as stack:
            if self.given_probabilities:
                when = timing(decisions.packed)
                decide = partial(cube_actions, decisions.probabilities, decisions.contexts, when)
            else:
                bot = stack.enter_context(looking_bot(self.net, self.plies))
                decide = partial(bot.cube_packed, decisions.packed, decisions.contexts)
            began = time.perf_counter()
            score = score_cube(decisions, decide())
            seconds = time.perf_counter() - began
        if self.as_json:
            print_json(asdict(score) | {"plies": self.plies, "seconds": seconds})
        else:
            print_table(
                ("plies", "double loss", "take loss", "decisions", "seconds"),
                [
                    (
                        self.plies,
                        f"{score.double_loss:.5f}",
                        f"{score.take_loss:.5f}",
                        f"{score.decisions:,}",
                        f"{seconds:.2f}",
                    )
                ],
            )


def _phase_row(score: "PhaseScore") -> tuple[str, ...]:
    """The row of one phase under `PHASE_HEADINGS`."""
    chances = (score.win, score.win_gammon, score.lose_gammon)
    return (
        score.phase,
        f"{score.decisions:,}",
        f"{score.pr:.2f}",
        f"{score.candidates:,}",
        *("" if error is None else f"{100 * error:.2f}" for error in chances),
        "" if score.equity is None else f"{score.equity:.4f}",
    )
