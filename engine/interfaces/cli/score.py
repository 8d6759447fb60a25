"""`acepoint score`: choices compared with those of a stronger player."""

import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import tyro

from engine.errors import NotationError
from engine.interfaces.cli.looking import looking_bot
from engine.interfaces.cli.options import AsJson, Count, Filter, Net, Plies
from engine.interfaces.cli.output import print_json, print_table

__all__ = ["Score"]


@dataclass(frozen=True)
class Score:
    """Score the choices on a file of reference decisions.

    Checker: PR is 500 x the mean equity loss of a decision. A choice that is not among the listed
    candidates costs as much as the worst of them.

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
    net: Net = None
    as_json: AsJson = False

    def run(self) -> None:
        """Read, decide and print."""
        if self.limit is not None and self.limit < 1:
            raise NotationError(f"--limit {self.limit}: expected a number from 1")
        if self.kind == "cube":
            self._score_cube()
        elif self.given_probabilities:
            raise NotationError("--given-probabilities: score checker cannot use them")
        else:
            self._score_checker()

    def _score_checker(self) -> None:
        from engine.records.decisions import read_checker_decisions, score_checker

        decisions = read_checker_decisions(self.file, self.limit)
        with looking_bot(self.net, self.plies, self.moves) as bot:
            began = time.perf_counter()
            score = score_checker(
                decisions, lambda packed, dice: bot.best_packed(packed, dice, decisions.contexts)
            )
            seconds = time.perf_counter() - began
        if self.as_json:
            print_json({"pr": score.pr} | asdict(score) | {"plies": self.plies, "seconds": seconds})
        else:
            print_table(
                ("plies", "PR", "mean loss", "decisions", "not listed", "seconds"),
                [
                    (
                        self.plies,
                        f"{score.pr:.2f}",
                        f"{score.mean_loss:.5f}",
                        f"{score.decisions:,}",
                        f"{score.unlisted:,}",
                        f"{seconds:.2f}",
                    )
                ],
            )

    def _score_cube(self) -> None:
        from engine.cube.decisions import cube_actions
        from engine.cube.equity import readiness
        from engine.records.decisions import read_cube_decisions, score_cube

        decisions = read_cube_decisions(self.file, self.limit)
        with looking_bot(self.net, self.plies) as bot:
            began = time.perf_counter()
            if self.given_probabilities:
                ready = readiness(decisions.packed)
                actions = cube_actions(decisions.probabilities, decisions.contexts, ready)
            else:
                actions = bot.cube_packed(decisions.packed, decisions.contexts)
            score = score_cube(decisions, actions)
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
