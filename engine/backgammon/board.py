"""The board as an array: its columns, pip counts, phases, validation, points at the end.

A *board* is `int8[2, 26]`. Row 0 is the player on roll, row 1 the opponent. Column 0 counts the
checkers borne off, columns 1..24 the points numbered from that row's own side, column 25 the bar.
Point p of one row faces point 25 - p of the other.
"""

from enum import IntEnum

import numpy as np
import numpy.typing as npt

from engine.errors import PositionError

__all__ = [
    "BACKGAMMON",
    "BAR",
    "COLUMNS",
    "GAMMON",
    "HOME",
    "OFF",
    "POINTS",
    "SINGLE",
    "Boards",
    "Phase",
    "is_over",
    "outcome_points",
    "phases",
    "pips",
    "swapped",
    "validate",
]

Boards = npt.NDArray[np.int8]

OFF = 0
POINTS = 24
BAR = 25
COLUMNS = 26
HOME = 6  # points 1..6 are the home board
SINGLE, GAMMON, BACKGAMMON = 1, 2, 3

_ROWS = ("player on roll", "opponent")


class Phase(IntEnum):
    """What a game has come to; the order of the members is the order of a game."""

    CONTACT = 0  # some checkers of the two sides have still to pass each other
    RACE = 1
    OVER = 2


def swapped(boards: Boards) -> Boards:
    """Switches sides: a view of int8[..., 2, 26] boards as the opponent sees them."""
    return boards[..., ::-1, :]


def pips(boards: Boards) -> npt.NDArray[np.int64]:
    """Pip counts of both rows, int64[..., 2] of int8[..., 2, 26] boards; the bar counts 25."""
    return boards.astype(np.int64) @ np.arange(COLUMNS)


def _in_play(boards: Boards) -> npt.NDArray[np.bool_]:
    """Whether each row has checkers left to bear off: bool[..., 2] of int8[..., 2, 26] boards."""
    return np.asarray(boards[..., OFF + 1 :].max(axis=-1) > 0)


def is_over(boards: Boards) -> npt.NDArray[np.bool_]:
    """Whether one side has no checker left to bear off: bool[...] of int8[..., 2, 26] boards."""
    return np.asarray(~_in_play(boards).all(axis=-1))


def phases(boards: Boards) -> npt.NDArray[np.int8]:
    """The `Phase` of each of int8[..., 2, 26] boards, as int8[...]."""
    rearmost = np.where(boards[..., OFF + 1 :] > 0, np.arange(OFF + 1, COLUMNS), 0).max(axis=-1)
    race = rearmost.sum(axis=-1) <= BAR
    return np.where(is_over(boards), Phase.OVER, np.where(race, Phase.RACE, Phase.CONTACT)).astype(
        np.int8
    )


def outcome_points(boards: Boards) -> npt.NDArray[np.int8]:
    """Points of finished games at a cube of 1, int8[...] of int8[..., 2, 26] boards.

    Positive when row 0 has won, negative when row 1 has, 0 when the game is not over. A win counts
    1; 2 (gammon) when the loser has borne off no checker; 3 (backgammon) when he also has one on
    the bar or in the winner's home board.
    """
    in_play = _in_play(boards)
    none_off = boards[..., OFF] == 0
    far_back = boards[..., POINTS - HOME + 1 :].max(axis=-1) > 0
    lost_by = np.where(none_off, np.where(far_back, BACKGAMMON, GAMMON), SINGLE)
    won = ~in_play[..., 0]
    lost = ~in_play[..., 1]
    return np.where(won, lost_by[..., 1], np.where(lost, -lost_by[..., 0], 0)).astype(np.int8)


def validate(board: npt.ArrayLike, checkers: int) -> Boards:
    """The board as int8[2, 26], when it is possible in a game with so many checkers a side.

    Raises PositionError naming the row and the column at fault: a wrong shape, something that is no
    whole number, a negative count, a row that does not add up to `checkers`, a point held by
    both sides, or both sides borne off.
    """
    try:
        given = np.asarray(board)
    except (ValueError, OverflowError) as error:
        raise PositionError(
            f"board {board!r:.60}: expected whole numbers [2, 26] ({error})"
        ) from None
    if given.shape != (2, COLUMNS) or given.dtype.kind not in "iu":
        raise PositionError(
            f"board of shape {given.shape} and type {given.dtype}: expected whole numbers [2, 26]"
        )
    for row, side in zip(given, _ROWS, strict=True):
        if row.min() < 0:
            column = int(row.argmin())
            raise PositionError(f"{side} has {row[column]} checkers in column {column}")
        total = sum(row.tolist())  # of whole numbers that nothing is too large for
        if total != checkers:
            raise PositionError(
                f"{side} has {total} checkers with those borne off: expected {checkers}"
            )
    both = np.flatnonzero((given[0, 1:BAR] > 0) & (given[1, POINTS:0:-1] > 0))
    if both.size:
        raise PositionError(
            f"both sides have checkers on point {both[0] + 1} (of the player on roll)"
        )
    if not given[:, OFF + 1 :].any():
        raise PositionError("both sides have borne off all their checkers")
    return np.ascontiguousarray(given, np.int8)
