"""Acepoint, a neural-network backgammon engine: positions, plays and a bot that ranks them.

The names are looked up when they are first used, so that what needs no compiled kernel, such as
`acepoint --help`, does not wait for numba.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.backgammon.plays import Play, legal_plays
    from engine.backgammon.position import Position, match_id, read_id
    from engine.bot import Bot, Candidate
    from engine.errors import AcepointError

__all__ = [
    "AcepointError",
    "Bot",
    "Candidate",
    "Play",
    "Position",
    "legal_plays",
    "match_id",
    "read_id",
]

_HOMES = {
    "AcepointError": "engine.errors",
    "Bot": "engine.bot",
    "Candidate": "engine.bot",
    "Play": "engine.backgammon.plays",
    "Position": "engine.backgammon.position",
    "legal_plays": "engine.backgammon.plays",
    "match_id": "engine.backgammon.position",
    "read_id": "engine.backgammon.position",
}


def __getattr__(name: str) -> object:
    """Import a public name from where it is defined."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
