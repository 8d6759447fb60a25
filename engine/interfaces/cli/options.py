"""Options that several commands share, with their help."""

from pathlib import Path
from typing import Annotated, Optional

import tyro

__all__ = ["AsJson", "Count", "Filter", "Net", "Plies", "PositionText", "Table", "VariantName"]

PositionText = Annotated[
    str,
    tyro.conf.Positional,
    tyro.conf.arg(help="A gnubg ID (position, or position:match), an XGID or a FIBS board string."),
]
Plies = Annotated[
    int,
    tyro.conf.arg(
        help="Rolls to look ahead, counted as gnubg counts: 0 is the static evaluation.",
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
