"""Reference decisions: positions whose plays a stronger player has valued, to score choices by.

A file has one JSON object a line, optionally gzipped: `position` (gnubg ID, player on roll),
`dice`, and `candidates`, each with `result` (the position ID that the next player sees) and
`equity`. Other fields are left alone.
"""

import gzip
import json
import math
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.backgammon.dice import Dice, parse_dice
from engine.backgammon.ids import decode_positions, encode_position
from engine.backgammon.variants import BACKGAMMON
from engine.errors import AcepointError, FileFormatError
from engine.kernels.movegen import legal_results, pack, unpack

__all__ = ["CheckerDecisions", "CheckerScore", "read_checker_decisions", "score_checker"]

PR_SCALE = 500  # PR is 500 x the mean equity loss of a decision
GZIP_MAGIC = b"\x1f\x8b"

Packed = npt.NDArray[np.int8]
Choose = Callable[[Packed, npt.NDArray[np.int8]], Packed]
"""(packed int8[N, 2, 32], dice int8[N, 2]) -> chosen results int8[N, 2, 32], next player's view."""


@dataclass(frozen=True)
class CheckerDecisions:
    """N decisions with M candidate plays between them.

    packed: int8[N, 2, 32], row 0 on roll. dice: int8[N, 2]. results: int8[M, 2, 32] as the next
    player sees them. equities: float64[M] for the player who moves. offsets: int64[N + 1]; the
    candidates of decision i are rows offsets[i] : offsets[i + 1], at least one.
    """

    packed: Packed
    dice: npt.NDArray[np.int8]
    results: Packed
    equities: npt.NDArray[np.float64]
    offsets: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.packed)


@dataclass(frozen=True)
class CheckerScore:
    """What a player's choices cost."""

    mean_loss: float
    """Equity lost a decision, against the best candidate."""
    decisions: int
    unlisted: int
    """Choices that are not among the candidates; each costs as much as the worst one."""

    @property
    def pr(self) -> float:
        """Performance rating: 500 x the mean loss."""
        return PR_SCALE * self.mean_loss


def read_checker_decisions(path: Path, limit: int | None = None) -> CheckerDecisions:
    """The decisions of a file, or its first `limit` ones.

    Raises FileFormatError naming the file, the line and the field at fault; a candidate that is not
    a legal result of its position and dice is at fault too.
    """
    ids: list[str] = []
    dice: list[Dice] = []
    results: list[str] = []
    equities: list[float] = []
    offsets = [0]
    for number, line in enumerate(islice(_lines(path), limit), 1):
        try:
            decision = _object(json.loads(line), "the line")
            ids.append(_text(decision, "position"))
            dice.append(parse_dice(_text(decision, "dice")))
            for candidate in _candidates(decision):
                results.append(_text(candidate, "result"))
                equities.append(_equity(candidate))
        except (ValueError, OverflowError, RecursionError) as error:
            raise FileFormatError(f"{path}: line {number}: {error}") from None
        offsets.append(len(results))
    if not ids:
        raise FileFormatError(f"{path}: expected one decision a line, found none")
    try:
        decisions = CheckerDecisions(
            pack(decode_positions(ids, BACKGAMMON.checkers)),
            np.array(dice, np.int8),
            pack(decode_positions(results, BACKGAMMON.checkers)),
            np.array(equities),
            np.array(offsets, np.int64),
        )
        _require_legal(decisions)
    except AcepointError as error:
        raise FileFormatError(f"{path}: {error}") from None
    return decisions


def score_checker(decisions: CheckerDecisions, choose: Choose) -> CheckerScore:
    """Let `choose` play every position in one batch and add up what its choices cost."""
    first = decisions.offsets[:-1]
    chosen = choose(decisions.packed, decisions.dice)
    is_choice = _equal(decisions.results, np.repeat(chosen, np.diff(decisions.offsets), axis=0))
    listed = np.logical_or.reduceat(is_choice, first)
    best = np.maximum.reduceat(decisions.equities, first)
    worst = np.minimum.reduceat(decisions.equities, first)
    of_choice = np.maximum.reduceat(np.where(is_choice, decisions.equities, -np.inf), first)
    losses = best - np.where(listed, of_choice, worst)
    return CheckerScore(float(losses.mean()), len(decisions), int((~listed).sum()))


def _lines(path: Path) -> list[str]:
    """The lines of a text file, which may be gzipped. Raises FileFormatError."""
    try:
        content = path.read_bytes()
        if content.startswith(GZIP_MAGIC):
            content = gzip.decompress(content)
        return content.decode().splitlines()
    except OSError as error:
        raise FileFormatError(f"{path}: {error.strerror or error}") from None
    except (EOFError, zlib.error):
        raise FileFormatError(f"{path}: the gzip data are damaged or cut short") from None
    except UnicodeDecodeError:
        raise FileFormatError(f"{path}: expected lines of JSON, found binary data") from None


def _object(value: object, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise FileFormatError(f"{what} is {value!r:.60}: expected a JSON object")
    return value


def _text(fields: dict[str, Any], name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str):
        raise FileFormatError(f"{name} is {value!r:.60}: expected a text")
    return value


def _candidates(decision: dict[str, Any]) -> list[dict[str, Any]]:
    candidates = decision.get("candidates")
    if not isinstance(candidates, list) or not candidates:
        raise FileFormatError(f"candidates is {candidates!r:.60}: expected a list, not empty")
    return [_object(candidate, "a candidate") for candidate in candidates]


def _equity(candidate: dict[str, Any]) -> float:
    equity = candidate.get("equity")
    if isinstance(equity, bool) or not isinstance(equity, int | float) or not math.isfinite(equity):
        raise FileFormatError(f"equity is {equity!r:.60}: expected a number")
    return float(equity)


def _require_legal(decisions: CheckerDecisions) -> None:
    """Raises FileFormatError when a candidate is not a legal result."""
    legal, offsets = legal_results(decisions.packed, decisions.dice)
    for index in range(len(decisions)):
        allowed = {board.tobytes() for board in legal[offsets[index] : offsets[index + 1]]}
        for row in range(decisions.offsets[index], decisions.offsets[index + 1]):
            if decisions.results[row].tobytes() not in allowed:
                position, result = (
                    encode_position(unpack(boards[None])[0])
                    for boards in (decisions.packed[index], decisions.results[row])
                )
                high, low = decisions.dice[index]
                raise FileFormatError(
                    f"line {index + 1}: {result} is no legal result of {position} with {high}{low}"
                )


def _equal(some: Packed, others: Packed) -> npt.NDArray[np.bool_]:
    return np.asarray((some == others).all(axis=(1, 2)))
