"""How strong runs have become, and what it took: a table, and a plot against time and games.

Reads the tensorboard files that `acepoint train` leaves in a run's folder. A run must have been
measured against pubeval, for which gnubg-nn has to be installed.

Example: scripts/strength runs/quick runs/long --plot strength.svg
"""

import argparse
import io
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.util.tensor_util import make_ndarray

from engine.arena.statistics import Estimate
from engine.errors import AcepointError, FileFormatError
from engine.evaluation.whole_file import write_whole
from training.yardstick import AGAINST, PR

__all__ = ["Measurement", "draw", "main", "read_run", "table"]

POINTS = AGAINST.format("pubeval")
# Points per game of gnubg 0-ply: acepoint tournament gnubg:0 pubeval --games 20000 --seed 1.
GNUBG = 0.623
FORMATS = (".svg", ".png")


class Measurement(NamedTuple):
    """What the yardstick said at one moment of a run."""

    minutes: float
    games: int
    backups: int
    points: Estimate
    """A game, against pubeval."""
    pr: float | None
    """Cubeless checker PR, where the run had decisions to measure it on."""


def read_run(folder: Path) -> list[Measurement]:
    """The measurements of the run in a folder, in their order.

    One that was made again after a run was taken up counts once. Raises FileFormatError when there
    are none against pubeval.
    """
    curves: dict[str, dict[int, float]] = {}
    if any(folder.glob("events.out.tfevents.*")):
        events = EventAccumulator(str(folder), size_guidance={"tensors": 0})
        events.Reload()
        for name in events.Tags()["tensors"]:
            if name.startswith(("spent/", "strength/", "interval/")):
                points = events.Tensors(name)
                curves[name] = {
                    each.step: make_ndarray(each.tensor_proto).item() for each in points
                }
    measured = curves.get(f"strength/{POINTS}", {})
    spent = [curves.get(f"spent/{name}", {}) for name in ("minutes", "games", "backups")]
    intervals = curves.get(f"interval/{POINTS}", {})
    ratings = curves.get(f"strength/{PR}", {})
    found = []
    for step in sorted(measured.keys() & spent[0].keys()):
        minutes, games, backups = (curve[step] for curve in spent)
        points = Estimate(measured[step], intervals.get(step))
        found.append(Measurement(minutes, int(games), int(backups), points, ratings.get(step)))
    if not found:
        raise FileFormatError(f"run {str(folder)!r}: no measurement against pubeval in it")
    return found


def table(runs: Mapping[str, Sequence[Measurement]]) -> str:
    """A Markdown table with a row for each measurement of runs by name."""
    columns = ("run", "minutes", "games", "exact backups", POINTS, "checker PR")
    lines = [f"| {' | '.join(columns)} |", "|---|" + "---:|" * (len(columns) - 1)]
    for name, measurements in runs.items():
        for minutes, games, backups, (mean, ci95), pr in measurements:
            points = f"{mean:+.3f}" + ("" if ci95 is None else f" ± {ci95:.3f}")
            figures = (f"{minutes:.1f}", f"{games:,}", f"{backups:,}", points)
            lines.append(f"| {' | '.join((name, *figures, '' if pr is None else f'{pr:.2f}'))} |")
    return "\n".join(lines)


def draw(runs: Mapping[str, Sequence[Measurement]], path: Path) -> None:
    """Draw the points of runs by name against minutes and against games, with 95 % intervals.

    Raises AcepointError when matplotlib is missing, the ending of the path is none of `FORMATS`, or
    the file cannot be written.
    """
    if path.suffix not in FORMATS:
        raise AcepointError(f"--plot {str(path)!r}: expected a file ending in {', '.join(FORMATS)}")
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError:
        raise AcepointError("a plot needs matplotlib: pip install acepoint[plots]") from None

    figure = Figure(figsize=(9, 4), layout="constrained")
    axes = figure.subplots(1, 2, sharey=True)
    for axis, what in zip(axes, ("minutes", "games"), strict=True):
        axis.axhline(GNUBG, color="grey", linestyle=":", label="gnubg 0-ply")
        for number, (name, run) in enumerate(runs.items()):
            colour = f"C{number}"
            spent = [getattr(each, what) for each in run]
            means = [each.points.mean for each in run]
            errors = [each.points.ci95 or 0 for each in run]
            fills = [colour if each.backups else "white" for each in run]
            axis.errorbar(spent, means, errors, color=colour, capsize=2, label=name)
            axis.scatter(spent, means, color=fills, edgecolors=colour, zorder=3)
        axis.set_xscale("log")
        axis.xaxis.set_major_formatter("{x:,.9g}")
        axis.set_xlabel(what)
        axis.grid(alpha=0.3)
    axes[0].set_ylabel(POINTS)
    for fill, stage in (("white", "TD(λ)"), ("black", "exact backups")):
        axes[1].scatter([], [], color=fill, edgecolors="black", label=stage)
    axes[1].legend(loc="lower right")
    drawn = io.BytesIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "strength"}):
        no_date = {"Date": None} if path.suffix == ".svg" else {}
        figure.savefig(drawn, format=path.suffix[1:], metadata=no_date)
    write_whole(path, drawn.getbuffer())


def main(arguments: Sequence[str] | None = None) -> int:
    """The command of `scripts/strength`; its exit code."""
    described, _, example = (__doc__ or "").partition("\n\nExample: ")
    parser = argparse.ArgumentParser(
        prog="scripts/strength", description=described, epilog=f"Example: {example}"
    )
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="folder of a run")
    parser.add_argument("--ends", action="store_true", help="only the last measurement of each run")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw it too: .svg or .png")
    given = parser.parse_args(arguments)
    try:
        runs = {str(folder): read_run(folder) for folder in given.runs}
        print(table({name: run[-1:] for name, run in runs.items()} if given.ends else runs))
        if given.plot is not None:
            draw(runs, given.plot)
    except (AcepointError, OSError) as error:
        print(f"scripts/strength: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
