"""Players by name."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NoReturn, TypeVar

import numpy as np

from engine.backgammon.match import Match
from engine.backgammon.variants import BACKGAMMON
from engine.errors import NotationError
from engine.kernels.movegen import pack
from engine.players.acepoint import AcepointPlayer
from engine.players.base import CubefulPlayer, Player
from engine.players.peer import PeerPlayer
from engine.players.random import RandomPlayer

__all__ = ["PLAYER_NAMES", "make_cubeful_player", "make_player", "try_cubeful_player", "try_player"]

PLAYER_NAMES = "acepoint[:PLIES][:net=FILE], gnubg:PLIES, sage:LEVEL, pubeval or random"

Made = TypeVar("Made")

_GNUBG_PLIES = range(3)
_SAGE_LEVELS = range(1, 5)


def _acepoint(name: str, arguments: str) -> AcepointPlayer:
    form = re.fullmatch(r"(?::(\d+))?(?::net=(.+))?", arguments)
    if form is None:
        raise _unknown(name, "what follows acepoint is not known")
    plies, net = form.groups()
    return AcepointPlayer(name, Path(net) if net else None, int(plies or 0))


def _gnubg_nn(name: str, arguments: str) -> PeerPlayer:
    plies = _depth(name, arguments, _GNUBG_PLIES, "plies")
    return PeerPlayer(name, "gnubg-nn", ("gnubg-nn", plies))


def _gnubg(name: str, arguments: str) -> PeerPlayer:
    plies = _depth(name, arguments, _GNUBG_PLIES, "plies")
    return PeerPlayer(name, "gnubg", ("gnubg", plies))


def _sage(name: str, arguments: str) -> PeerPlayer:
    level = _depth(name, arguments, _SAGE_LEVELS, "levels")
    return PeerPlayer(name, "bgsage", ("sage", level))


def _pubeval(name: str, arguments: str) -> PeerPlayer:
    _nothing_after(name, arguments)
    return PeerPlayer(name, "gnubg-nn", ("pubeval",))


def _random(name: str, arguments: str) -> RandomPlayer:
    _nothing_after(name, arguments)
    return RandomPlayer(name)


def _no_cube(name: str, arguments: str) -> NoReturn:
    _nothing_after(name, arguments)
    raise NotationError(f"player {name!r} does not play with the cube")


_MAKERS: dict[str, Callable[[str, str], Player]] = {
    "acepoint": _acepoint,
    "gnubg": _gnubg_nn,
    "sage": _sage,
    "pubeval": _pubeval,
    "random": _random,
}

_CUBEFUL_MAKERS: dict[str, Callable[[str, str], CubefulPlayer]] = {
    "acepoint": _acepoint,
    "gnubg": _gnubg,
    "sage": _sage,
    "pubeval": _no_cube,
    "random": _random,
}


def make_player(name: str) -> Player:
    """The player of this name, ready to play money games without the cube.

    Raises NotationError when the name has none of the forms of `PLAYER_NAMES`, AcepointError when
    what it needs is not installed, NetError when its net cannot be used.
    """
    return _made(name, _MAKERS)


def make_cubeful_player(name: str) -> CubefulPlayer:
    """The player of this name, ready to play with the cube; raises like `make_player`.

    gnubg is GNU Backgammon itself here (package gnubg) and only its nets there (gnubg-nn); pubeval
    is refused, as it gives no probabilities to judge a double by.
    """
    return _made(name, _CUBEFUL_MAKERS)


def try_player(name: str) -> str:
    """Have the player of this name answer one roll, and let it go; its fingerprint.

    Raises like `make_player`, and AcepointError when the player cannot play.
    """
    player = make_player(name)
    try:
        player.best_packed(*_FIRST_ROLL)
    finally:
        player.close()
    return player.fingerprint


def try_cubeful_player(name: str) -> str:
    """As `try_player`, with the cube."""
    player = make_cubeful_player(name)
    try:
        player.best_packed(*_FIRST_ROLL, Match())
    finally:
        player.close()
    return player.fingerprint


_FIRST_ROLL = pack(BACKGAMMON.start[None]), np.array([[3, 1]], np.int8)


def _made(name: str, makers: Mapping[str, Callable[[str, str], Made]]) -> Made:
    kind, colon, rest = name.partition(":")
    if kind not in makers:
        raise _unknown(name, "no such player")
    return makers[kind](name, colon + rest)


def _depth(name: str, arguments: str, offered: range, unit: str) -> str:
    if arguments not in {f":{depth}" for depth in offered}:
        first, last = offered.start, offered.stop - 1
        raise _unknown(name, f"{name.partition(':')[0]} plays at {first} to {last} {unit}")
    return arguments[1:]


def _nothing_after(name: str, arguments: str) -> None:
    if arguments:
        raise _unknown(name, f"nothing may follow {name.partition(':')[0]}")


def _unknown(name: str, reason: str) -> NotationError:
    return NotationError(f"player {name!r}: {reason}; expected {PLAYER_NAMES}")
