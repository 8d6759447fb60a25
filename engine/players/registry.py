"""Players by name."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np

from engine.backgammon.variants import BACKGAMMON
from engine.errors import NotationError
from engine.kernels.movegen import pack
from engine.players.acepoint import AcepointPlayer
from engine.players.base import Player
from engine.players.gnubg import PLIES, GnubgPlayer
from engine.players.random import RandomPlayer

__all__ = ["PLAYER_NAMES", "make_player", "try_player"]

PLAYER_NAMES = "acepoint[:PLIES][:net=FILE], gnubg:PLIES, pubeval or random"


def _acepoint(name: str, arguments: str) -> Player:
    form = re.fullmatch(r"(?::(\d+))?(?::net=(.+))?", arguments)
    if form is None:
        raise _unknown(name, "after acepoint")
    plies, net = form.groups()
    return AcepointPlayer(name, Path(net) if net else None, int(plies or 0))


def _gnubg(name: str, arguments: str) -> Player:
    if arguments not in {f":{plies}" for plies in PLIES}:
        raise _unknown(name, f"gnubg plays at {PLIES.start} to {PLIES.stop - 1} plies")
    return GnubgPlayer(name, int(arguments[1:]))


def _pubeval(name: str, arguments: str) -> Player:
    if arguments:
        raise _unknown(name, "nothing may follow pubeval")
    return GnubgPlayer(name, None)


def _random(name: str, arguments: str) -> Player:
    if arguments:
        raise _unknown(name, "nothing may follow random")
    return RandomPlayer(name)


_MAKERS: dict[str, Callable[[str, str], Player]] = {
    "acepoint": _acepoint,
    "gnubg": _gnubg,
    "pubeval": _pubeval,
    "random": _random,
}


def make_player(name: str) -> Player:
    """The player of this name, ready to play.

    Raises NotationError when the name has none of the forms of `PLAYER_NAMES`, AcepointError when
    what it needs is not installed, NetError when its net cannot be used.
    """
    kind, colon, rest = name.partition(":")
    if kind not in _MAKERS:
        raise _unknown(name, "no such player")
    return _MAKERS[kind](name, colon + rest)


def try_player(name: str) -> str:
    """Have the player of this name answer one roll, and let it go; its fingerprint.

    Raises like `make_player`, and AcepointError when the player cannot play.
    """
    player = make_player(name)
    try:
        player.best_packed(pack(BACKGAMMON.start[None]), np.array([[3, 1]], np.int8))
    finally:
        player.close()
    return player.fingerprint


def _unknown(name: str, reason: str) -> NotationError:
    return NotationError(f"bad player {name!r}: {reason}; expected {PLAYER_NAMES}")
