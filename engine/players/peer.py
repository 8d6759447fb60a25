"""Other engines as players, each in a process of its own, through optional packages."""

import contextlib
import json
import os
import subprocess
import sys
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from engine.backgammon.ids import encode_match
from engine.backgammon.match import Action, Match, Offer, legal_actions
from engine.errors import AcepointError
from engine.kernels.movegen import legal_results, unpack
from engine.players.base import Array

__all__ = ["PeerPlayer"]

_SCRIPT = Path(__file__).with_name("peer_process.py")


class PeerPlayer:
    """An engine that `peer_process` knows, as a player with or without the cube.

    It accepts every beaver and raccoon, and makes no raccoons.

    Args:
        name: The player's name, used in messages.
        package: The package that it needs, as PyPI calls it.
        engine: What the process is told to be, and how deep it looks.

    Raises AcepointError when the package is not installed, when its process stops, and when it
    answers with anything but a legal play.
    """

    def __init__(self, name: str, package: str, engine: tuple[str, ...]) -> None:
        self.name = name
        self._package = package
        try:
            self.fingerprint = f"{package} {metadata.version(package)}"
        except metadata.PackageNotFoundError:
            raise AcepointError(
                f"player {name!r} needs the package {package}: pip install acepoint[peers]"
            ) from None
        # -P: without it the folder of the script comes first in the search for modules, and
        # `random` there hides the standard library's. A session of its own: Ctrl-C in a terminal
        # is not for it.
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(_SCRIPT), str(os.getpid()), *engine],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )

    def best_packed(self, packed: Array, dice: Array, match: Match | None = None) -> Array:
        """See `engine.players.base`. Only real choices are asked for."""
        results, offsets = legal_results(packed, dice)
        counts = np.diff(offsets)
        choices = np.zeros(len(packed), np.int64)
        asked = counts > 1
        if asked.any():
            rolls = np.sort(dice[asked], axis=1)[:, ::-1]
            payload = (
                counts[asked].astype(np.uint16).tobytes(),
                _boards(packed[asked]),
                rolls.astype(np.int8).tobytes(),
                _boards(results[np.repeat(asked, counts)]),
            )
            answers = self._ask("play", int(asked.sum()), match, b"".join(payload))
            choices[asked] = np.frombuffer(answers, np.int16)
            if choices.min() < 0:
                index = int(np.argmin(choices))
                raise AcepointError(
                    f"player {self.name!r}: the answer of {self._package} is no legal result of "
                    f"{dice[index].tolist()} in {unpack(packed)[index].tolist()}"
                )
        chosen: Array = results[offsets[:-1] + choices]
        return chosen

    def act_packed(self, packed: Array, match: Match) -> Array:
        """See `engine.players.base.CubefulPlayer`."""
        if match.offer in (Offer.BEAVER, Offer.RACCOON):
            return np.full(len(packed), Action.TAKE)
        before = replace(match, offer=Offer.NONE, turn=match.on_roll)
        answer = self._ask("cube", len(packed), before, _boards(packed))
        doubles, takes, beavers = np.frombuffer(answer, np.bool_).reshape(-1, 3).T
        if match.offer == Offer.NONE:
            return np.where(doubles, Action.DOUBLE, Action.ROLL)
        turns_again = beavers & (Action.BEAVER in legal_actions(match))
        taken = np.where(turns_again, Action.BEAVER, Action.TAKE)
        return np.where(takes, taken, Action.PASS)

    def evaluate_packed(self, packed: Array) -> Array:
        """See `engine.players.base.Judge`. Cubeless, for money; pubeval cannot be asked."""
        answer = self._ask("value", len(packed), None, _boards(packed))
        return np.frombuffer(answer, np.float32).reshape(-1, 5)

    def close(self) -> None:
        """End the process, whatever it is doing: it keeps nothing."""
        self._process.kill()
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()  # type: ignore[union-attr]
        self._process.stdout.close()  # type: ignore[union-attr]
        self._process.wait()

    def _ask(self, question: str, count: int, match: Match | None, payload: bytes) -> bytes:
        source, sink = self._process.stdout, self._process.stdin
        assert source is not None and sink is not None
        header = {
            "ask": question,
            "count": count,
            "bytes": len(payload),
            "match": match and _described(match),
        }
        expected = count * {"play": 2, "cube": 3, "value": 20}[question]
        try:
            sink.write(json.dumps(header).encode() + b"\n" + payload)
            sink.flush()
            answer = source.read(expected)
        except BrokenPipeError:
            answer = b""
        if len(answer) < expected:
            raise AcepointError(f"player {self.name!r}: the process of {self._package} has stopped")
        return answer


def _boards(packed: Array) -> bytes:
    """52 bytes for each of int8[N, 2, 32] boards."""
    return np.ascontiguousarray(unpack(packed)).tobytes()


def _described(match: Match) -> dict[str, Any]:
    """A match before the roll as the player on roll has it, whom owner 0 means; -1 is centred."""
    owner = -1 if match.cube_owner is None else int(match.cube_owner != match.on_roll)
    return {
        "length": match.length,
        "score": (match.score[match.on_roll], match.score[1 - match.on_roll]),
        "cube": match.cube,
        "owner": owner,
        "crawford": match.crawford,
        "jacoby": match.jacoby and match.length == 0,
        "beavers": match.beavers and match.length == 0,
        "id": encode_match(match),
    }
