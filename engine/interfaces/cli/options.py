"""Options that several commands share, with their help."""

from pathlib import Path
from typing import Annotated, Optional

import tyro

from engine.errors import NotationError

__all__ = [
    "MOST_AUTOMATIC_DOUBLES",
    "AsJson",
    "Count",
    "Filter",
    "Net",
    "Plies",
    "PositionText",
    "Table",
    "VariantName",
    "require_range",
]

MOST_AUTOMATIC_DOUBLES = 10

PositionText = Annotated[
    str,
    tyro.conf.Positional,
    tyro.conf.arg(help="A gnubg ID (position, or position:match), an XGID or a FIBS board string."),
]
Plies = Annotated[
    int,
    tyro.conf.arg(
        help="Rolls to look ahead, counted as gnubg counts: 0 is the static evaluation, "
        "4 the most.",
        metavar="N",
    ),
]
Filter = Annotated[
    str,
    tyro.conf.arg(
        name="filter",
        help="Which plays are looked at one ply deeper: narrow, normal, wide or full.",
        metavar="NAME",
    ),
]
Net = Annotated[
    Optional[Path],
    tyro.conf.arg(
        help="The net file; by default the released net.", metavar="FILE", help_behavior_hint=""
    ),
]
Count = Annotated[Optional[int], tyro.conf.arg(metavar="N", help_behavior_hint="")]
"""A number that has no default to show; the field's docstring is its help."""
Table = Annotated[
    Optional[str],
    tyro.conf.arg(
        help="Match equity table: kazaross-xg2 (the default), rockwell-kazaross, g11, jacobs, "
        "mec26, ortega, snowie, woolsey, or a file.",
        metavar="NAME",
        help_behavior_hint="",
    ),
]
VariantName = Annotated[
    str,
    tyro.conf.arg(help="backgammon, nackgammon or hypergammon.", metavar="NAME"),
]
AsJson = Annotated[
    bool,
    tyro.conf.arg(
        name="json", help="Print one JSON object and nothing else.", help_behavior_hint=""
    ),
]


def require_range(option: str, value: int | None, least: int, most: int | None = None) -> None:
    """Raises NotationError, quoting the option, unless the number is in the range or not given."""
    if value is not None and not (least <= value and (most is None or value <= most)):
        expected = f"{least} or more" if most is None else f"{least} to {most}"
        raise NotationError(f"{option} {value}: expected {expected}")
