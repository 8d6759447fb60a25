"""A position: a board and the variant it is played in. And every kind of ID as text."""

from dataclasses import dataclass

import numpy as np

from engine.backgammon import board as boards
from engine.backgammon.board import Boards
from engine.backgammon.fibs import FIBS_PREFIX, parse_fibs
from engine.backgammon.ids import (
    MATCH_ID_LENGTH,
    POSITION_ID_LENGTH,
    XGID_PREFIX,
    decode_match,
    decode_position,
    decode_xgid,
    encode_match,
    encode_position,
    encode_xgid,
)
from engine.backgammon.match import Match, require_match
from engine.backgammon.variants import BACKGAMMON, Variant, require_variant
from engine.errors import PositionError

__all__ = ["Position", "match_id", "read_id", "require_position"]


@dataclass(frozen=True, slots=True, eq=False)
class Position:
    """The checkers as the player on roll sees them; hashable, never changed.

    board: read-only int8[2, 26], row 0 the player on roll (see `engine.backgammon.board`). Given
    as anything like an array of that shape; PositionError says what is impossible in it.
    """

    board: Boards
    variant: Variant = BACKGAMMON

    def __post_init__(self) -> None:
        require_variant(self.variant)
        board = boards.validate(self.board, self.variant.checkers).copy()
        board.setflags(write=False)
        object.__setattr__(self, "board", board)

    @classmethod
    def start(cls, variant: Variant = BACKGAMMON) -> "Position":
        """The starting position of a variant."""
        require_variant(variant)
        return cls(variant.start, variant)

    @classmethod
    def trusted(cls, board: Boards, variant: Variant) -> "Position":
        """A position of a read-only int8[2, 26] board that is known to be possible, unchecked."""
        position = object.__new__(cls)
        object.__setattr__(position, "board", board)
        object.__setattr__(position, "variant", variant)
        return position

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Position):
            return NotImplemented
        return self.variant == other.variant and bool(np.array_equal(self.board, other.board))

    def __hash__(self) -> int:
        return hash((self.board.tobytes(), self.variant.name))

    def __str__(self) -> str:
        return self.id

    def __repr__(self) -> str:
        return f"<Position {self.id} {self.variant.name}>"

    @property
    def id(self) -> str:
        """The gnubg position ID."""
        return encode_position(self.board)

    def xgid(self, match: Match | None = None) -> str:
        """The XGID with that match; without one, of a money game with the dice not yet rolled."""
        return encode_xgid(self.board, _match_or_money(match))

    def swapped(self) -> "Position":
        """Switches sides: the same position as the opponent sees it."""
        return Position.trusted(boards.swapped(self.board), self.variant)

    @property
    def pips(self) -> tuple[int, int]:
        """Pip counts of the player on roll and the opponent."""
        mine, theirs = boards.pips(self.board).tolist()
        return mine, theirs

    @property
    def phase(self) -> boards.Phase:
        """Contact, race or over."""
        return boards.Phase(int(boards.phases(self.board)))

    @property
    def is_over(self) -> bool:
        """Whether one side has borne off all its checkers."""
        return bool(boards.is_over(self.board))

    @property
    def outcome_points(self) -> int:
        """Points of a finished game at a cube of 1, positive when the player on roll has won.

        1 for a single game, 2 for a gammon, 3 for a backgammon; 0 while the game is not over.
        """
        return int(boards.outcome_points(self.board))


def read_id(text: str, variant: Variant = BACKGAMMON) -> tuple[Position, Match | None]:
    """The position, and the match if the text has one, of an ID that is recognised by its form.

    text: a gnubg position ID, one with a match ID (`position:match`), an XGID or a FIBS board
    string. Raises PositionError naming the part at fault.
    """
    if not isinstance(text, str):
        raise PositionError(f"position {text!r}: expected a text")
    require_variant(variant)
    text = text.strip()
    match: Match | None = None
    if text.startswith(XGID_PREFIX):
        board, match = decode_xgid(text, variant.checkers)
    elif text.startswith(FIBS_PREFIX):
        fibs = parse_fibs(text)
        board, match = fibs.board(variant.checkers), fibs.match()
    else:
        position_text, colon, match_text = text.partition(":")
        if not colon and len(text) != POSITION_ID_LENGTH:
            raise PositionError(
                f"position {text!r}: expected a gnubg ID of {POSITION_ID_LENGTH} characters, "
                f"one with : and a match ID of {MATCH_ID_LENGTH}, an XGID=..., or a FIBS board:..."
            )
        board = decode_position(position_text, variant.checkers)
        match = decode_match(match_text) if colon else None
    board.setflags(write=False)
    return Position.trusted(board, variant), match


def require_position(value: object) -> None:
    """Raises PositionError when it is no `Position`."""
    if not isinstance(value, Position):
        raise PositionError(f"position {value!r:.60}: expected a Position, such as read_id gives")


def match_id(match: Match | None) -> str:
    """The gnubg match ID; of a money game for None. Raises PositionError when it is no `Match`."""
    return encode_match(_match_or_money(match))


def _match_or_money(match: Match | None) -> Match:
    match = Match() if match is None else match
    require_match(match)
    return match
