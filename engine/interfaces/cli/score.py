"""`acepoint score`: choices compared with those of a stronger player."""

import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import tyro

from engine.errors import NotationError
from engine.interfaces.cli.options import AsJson, Count, Net, Plies
from engine.interfaces.cli.output import print_json, print_table

__all__ = ["Score"]


@dataclass(frozen=True)
class Score:
    """Score the choices on a file of reference decisions.

    PR is 500 x the mean equity loss of a decision. A choice that is not among the listed candidates
    costs as much as the worst of them. Plies are counted as gnubg counts them.

    Example: acepoint score checker decisions.jsonl.gz --limit 1000
    """

    kind: tyro.conf.Positional[Literal["checker"]]
    """What is decided: checker (which play)."""
    file: tyro.conf.Positional[Path]
    """JSON lines (position, dice, candidates with result and equity), which may be gzipped."""
    plies: Plies = 0
    limit: Count = None
    """Use only so many decisions from the beginning of the file."""
    net: Net = None
    as_json: AsJson = False

    def run(self) -> None:
        """Read, play and print."""
        if self.limit is not None and self.limit < 1:
            raise NotationError(f"--limit {self.limit}: expected a number from 1")
        from engine.bot import Bot
        from engine.records.decisions import read_checker_decisions, score_checker

        bot = Bot(self.net, self.plies)
        decisions = read_checker_decisions(self.file, self.limit)
        began = time.perf_counter()
        score = score_checker(decisions, bot.best_packed)
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
