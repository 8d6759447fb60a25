"""Rollouts on disk: saved, and taken up again where they stopped.

A file is one JSON object: what was rolled out and how, and the trials of each candidate in order,
[equity, five probabilities] each. A trial depends on its number and on what the file says alone, so
a rollout that goes on from a file is the same as one that never stopped.
"""

import hashlib
import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from engine.backgammon.ids import encode_position
from engine.cube.context import CubeContext
from engine.cube.met import DEFAULT_TABLE, MatchEquityTable, load_table
from engine.cube.rollout import Rollout
from engine.errors import FileFormatError
from engine.evaluation.whole_file import write_whole
from engine.kernels.movegen import unpack
from engine.kernels.rollout import COLUMNS

__all__ = ["resume", "save"]

MOST = 1e100  # that a trial can say; the EMG of a lost match may be ten million
FORMAT = "acepoint-rollout-3"


def save(rollout: Rollout, path: str | os.PathLike[str]) -> None:
    """Write a rollout, whole or not at all. Raises FileFormatError when that cannot be done."""
    content = _description(rollout) | {"trials": [each.tolist() for each in rollout.samples]}
    write_whole(path, json.dumps(content).encode())


def resume(rollout: Rollout, path: str | os.PathLike[str]) -> None:
    """Give a new rollout the trials of a saved one.

    Raises FileFormatError, quoting the path, when the file is not a sound rollout of the same
    candidates with the same net and settings.
    """
    try:
        content = json.loads(Path(path).read_text())
    except OSError as error:
        raise FileFormatError(f"rollout file {str(path)!r}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise FileFormatError(f"rollout file {str(path)!r}: not JSON ({error})") from None
    try:
        rollout.samples[:] = _trials(content, rollout)
    except FileFormatError as error:
        raise FileFormatError(f"rollout file {str(path)!r}: {error}") from None


def _trials(content: Any, rollout: Rollout) -> list[Any]:
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise FileFormatError(f"expected an object of format {FORMAT!r}")
    for name, ours in _description(rollout).items():
        if content.get(name) != ours:
            raise FileFormatError(f"{name} {content.get(name)!r}: expected {ours!r}")
    try:
        samples = [np.array(each, np.float64).reshape(-1, COLUMNS) for each in content["trials"]]
    except (KeyError, TypeError, ValueError, OverflowError):
        samples = []
    sound = [len(each) > 0 and (np.abs(each) < MOST).all() for each in samples]
    if len(samples) != len(rollout.starts) or not all(sound):
        raise FileFormatError(f"trials: expected rows of {COLUMNS} numbers for each candidate")
    return samples


def _description(rollout: Rollout) -> dict[str, Any]:
    """All that the trials depend on, but for their numbers."""
    settings = rollout.settings
    return {
        "format": FORMAT,
        "net": rollout.net_hash,
        "situation": _situation(rollout.root),
        "candidates": [
            [start.name, encode_position(unpack(start.packed[None])[0])] for start in rollout.starts
        ],
        "databases": rollout.databases,
        **asdict(settings),
    }


def _situation(context: CubeContext) -> dict[str, Any]:
    return {
        "away": list(context.away),
        "cube": context.cube,
        "owner": context.owner.name.lower(),
        "in_play": context.in_play,
        "jacoby": context.jacoby,
        "beavers": context.beavers,
        "turns_left": context.turns_left,
        "table": _fingerprint(context.table or load_table(DEFAULT_TABLE)),
    }


def _fingerprint(table: MatchEquityTable) -> str:
    """Of what a table says, wherever its file lies."""
    return hashlib.sha256(table.pre.tobytes() + table.post.tobytes()).hexdigest()
