"""Positions and matches as text: gnubg position ID, gnubg match ID and XGID.

Each `encode` has its `decode`; whatever decodes encodes back to the same text, so spare bits,
leading zeros and the like are refused. Boards are `int8[..., 2, 26]`, row 0 the player on roll.

Sources: GNU Backgammon manual, "A technical description of the position ID" and "... of the match
ID"; eXtreme Gammon manual, "XGID".
"""

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from engine.backgammon.board import BAR, COLUMNS, OFF, POINTS, Boards, validate
from engine.backgammon.match import GameState, Match, Offer
from engine.errors import PositionError

__all__ = [
    "MATCH_ID_LENGTH",
    "POSITION_ID_LENGTH",
    "XGID_PREFIX",
    "decode_match",
    "decode_position",
    "decode_positions",
    "decode_xgid",
    "encode_match",
    "encode_position",
    "encode_positions",
    "encode_xgid",
]

POSITION_ID_LENGTH = 14
MATCH_ID_LENGTH = 12

_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_CHARACTERS = np.frombuffer(_ALPHABET.encode(), np.uint8)
_NOT_BASE64 = 255
_VALUES = np.full(256, _NOT_BASE64, np.uint8)
_VALUES[_CHARACTERS] = np.arange(64, dtype=np.uint8)

_ID_BITS = 80  # ten bytes
_SLOTS = 2 * BAR  # points 1..24 and the bar of each side
_MAX_CHECKERS = _ID_BITS - _SLOTS  # of both sides together
_SIDES = ("opponent", "player on roll")  # in the order of the position ID


def encode_positions(boards: Boards) -> list[str]:
    """The gnubg position IDs of int8[N, 2, 26] boards.

    For the opponent and then the player on roll, each of points 1..24 and the bar is written as so
    many ones and a zero; the bits fill ten bytes from the low end, and those are written in base64.
    Raises PositionError when a board has more checkers on it than an ID has room for, 30.
    """
    counts = boards[:, ::-1, OFF + 1 :].reshape(-1, _SLOTS).astype(np.int64)
    totals = counts.sum(axis=1)
    if totals.size and totals.max() > _MAX_CHECKERS:
        raise PositionError(f"{totals.max()} checkers: a position ID has room for {_MAX_CHECKERS}")
    bits = np.arange(_ID_BITS) < (totals + _SLOTS)[:, None]
    zeros = np.cumsum(counts, axis=1) + np.arange(_SLOTS)
    np.put_along_axis(bits, zeros, False, axis=1)
    return _base64_of_bits(bits, POSITION_ID_LENGTH)


def encode_position(board: Boards) -> str:
    """The gnubg position ID of an int8[2, 26] board."""
    return encode_positions(board[None])[0]


def decode_positions(texts: Sequence[str], checkers: int) -> Boards:
    """The boards, int8[N, 2, 26], of N gnubg position IDs in a game with so many checkers a side.

    Raises PositionError, quoting the first ID at fault: wrong length, a character that is not
    base64, spare bits that are not zero, more checkers than a side has, a point held by both sides,
    or nothing left on the board.
    """
    bits = _bits_of_base64(texts, POSITION_ID_LENGTH, "position ID")
    _refuse_first(
        bits[:, _ID_BITS:], texts, "the last character has spare bits: expected A, Q, g or w"
    )
    bits = bits[:, :_ID_BITS]
    # A one belongs to the slot whose number is the count of zeros before it.
    slots = np.cumsum(~bits, axis=1)
    counts = np.zeros((len(texts), _ID_BITS), np.int64)
    row, column = np.nonzero(bits)
    np.add.at(counts, (row, slots[row, column]), 1)
    per_side = counts[:, :_SLOTS].reshape(-1, 2, BAR)
    totals = per_side.sum(axis=2)
    for side in (0, 1):
        problem = f"the {_SIDES[side]} has more than {checkers} checkers"
        _refuse_first(totals[:, side : side + 1] > checkers, texts, problem)
    problem = "more checkers than the 24 points and the bar of both sides account for"
    _refuse_first(counts[:, _SLOTS:] > 0, texts, problem)
    boards = np.zeros((len(texts), 2, COLUMNS), np.int8)
    boards[:, :, OFF + 1 :] = per_side[:, ::-1]
    boards[:, :, OFF] = checkers - totals[:, ::-1]
    meeting = (boards[:, 0, 1:BAR] > 0) & (boards[:, 1, POINTS:0:-1] > 0)
    _refuse_first(meeting, texts, "both sides have checkers on the same point")
    _refuse_first(
        totals.sum(axis=1, keepdims=True) == 0,
        texts,
        "no checkers: both sides cannot have borne off all",
    )
    return boards


def decode_position(text: str, checkers: int) -> Boards:
    """The board, int8[2, 26], of a gnubg position ID. Raises as `decode_positions`."""
    board: Boards = decode_positions([text], checkers)[0]
    return board


# Match ID: (first bit, number of bits) of each field.
_CUBE = (0, 4)
_OWNER = (4, 2)
_ON_ROLL = (6, 1)
_CRAWFORD = (7, 1)
_STATE = (8, 3)
_TURN = (11, 1)
_DOUBLED = (12, 1)
_RESIGNED = (13, 2)
_DIE_1 = (15, 3)
_DIE_2 = (18, 3)
_LENGTH = (21, 15)
_SCORES = ((36, 15), (51, 15))
_NO_JACOBY = (66, 1)
_SPARE = (67, 5)

_CENTRED = 3  # in the owner field


def encode_match(match: Match) -> str:
    """The gnubg match ID: 72 bits from the low end, in base64.

    It has no room for beavers and the maximum cube, nor for telling a raccoon from a double.
    """
    die_1, die_2 = match.dice or (0, 0)
    fields = {
        _CUBE: match.cube.bit_length() - 1,
        _OWNER: _CENTRED if match.cube_owner is None else match.cube_owner,
        _ON_ROLL: match.on_roll,
        _CRAWFORD: int(match.crawford),
        _STATE: int(match.state),
        _TURN: match.turn,
        _DOUBLED: int(match.offer != Offer.NONE),
        _RESIGNED: match.resignation,
        _DIE_1: die_1,
        _DIE_2: die_2,
        _LENGTH: match.length,
        _SCORES[0]: match.score[0],
        _SCORES[1]: match.score[1],
        _NO_JACOBY: int(not match.jacoby),
    }
    number = sum(value << first for (first, _), value in fields.items())
    bits = [[bool(number >> bit & 1) for bit in range(MATCH_ID_LENGTH * 6)]]
    return _base64_of_bits(np.array(bits), MATCH_ID_LENGTH)[0]


def decode_match(text: str) -> Match:
    """The match of a gnubg match ID. Raises PositionError naming the field at fault."""
    bits = _bits_of_base64([text], MATCH_ID_LENGTH, "match ID")[0]
    number = sum(1 << bit for bit in np.flatnonzero(bits).tolist())

    def field(place: tuple[int, int]) -> int:
        first, width = place
        return number >> first & (1 << width) - 1

    owner = field(_OWNER)
    if owner == 2:
        raise PositionError(f"match ID {text!r}: cube owner 2: expected 0, 1 or 3 (centred)")
    if field(_STATE) > max(GameState):
        raise PositionError(f"match ID {text!r}: game state {field(_STATE)}: expected 0 to 4")
    dice = field(_DIE_1), field(_DIE_2)
    if dice != (0, 0) and not all(1 <= die <= 6 for die in dice):
        raise PositionError(f"match ID {text!r}: dice {dice}: expected 1 to 6, or 0 both")
    if field(_SPARE):
        raise PositionError(f"match ID {text!r}: last character has spare bits: expected A or E")
    offer = Offer.NONE
    if field(_DOUBLED):
        back_with_doubler = field(_TURN) == field(_ON_ROLL) and not field(_RESIGNED)
        offer = Offer.BEAVER if back_with_doubler else Offer.DOUBLE
    try:
        return Match(
            length=field(_LENGTH),
            score=(field(_SCORES[0]), field(_SCORES[1])),
            cube=1 << field(_CUBE),
            cube_owner=None if owner == _CENTRED else owner,
            on_roll=field(_ON_ROLL),
            turn=field(_TURN),
            crawford=bool(field(_CRAWFORD)),
            jacoby=not field(_NO_JACOBY),
            dice=None if dice == (0, 0) else dice,
            offer=offer,
            resignation=field(_RESIGNED),
            state=GameState(field(_STATE)),
        )
    except PositionError as error:
        raise PositionError(f"match ID {text!r}: {error}") from None


_XGID_FIELDS = (
    ("position", r"[-A-Pa-p]{26}", "26 characters of -, A..P and a..p"),
    ("cube", r"0|[1-9]\d?", "an exponent of 2 from 0 to 15"),
    ("cube owner", r"-1|0|1", "1 (bottom), 0 (centred) or -1 (top)"),
    ("turn", r"-1|1", "1 (bottom) or -1 (top)"),
    ("dice", r"00|[1-6]{2}|[DBR]", "00, two numbers from 1 to 6, D, B or R"),
    ("score of the bottom player", r"0|[1-9]\d{0,4}", "a whole number"),
    ("score of the top player", r"0|[1-9]\d{0,4}", "a whole number"),
    ("Crawford/Jacoby", r"[0-3]", "0 or 1 in a match, 0 to 3 for money"),
    ("match length", r"0|[1-9]\d{0,4}", "a whole number"),
    ("maximum cube", r"0|[1-9]\d?", "an exponent of 2 from 0 to 15"),
)
XGID_PREFIX = "XGID="
_TOP, _BOTTOM = 0, 1  # the players of an XGID in a Match
_OFFER_LETTERS = {"D": Offer.DOUBLE, "B": Offer.BEAVER, "R": Offer.RACCOON}


def encode_xgid(board: Boards, match: Match) -> str:
    """The XGID of an int8[2, 26] board and a match: player 1 is the bottom player.

    It has no room for resignations and the state of the game, nor for Jacoby in a match.
    """
    top, bottom = (board if match.on_roll == _TOP else board[::-1]).tolist()
    cells = ["-"] * COLUMNS
    for point in range(OFF + 1, COLUMNS):
        if bottom[point]:
            cells[point] = chr(ord("A") + bottom[point] - 1)
        if top[point]:
            cells[BAR - point] = chr(ord("a") + top[point] - 1)
    letters = {offer: letter for letter, offer in _OFFER_LETTERS.items()}
    rolled = "00" if match.dice is None else f"{match.dice[0]}{match.dice[1]}"
    rules = int(match.crawford) if match.length else match.jacoby + 2 * match.beavers
    fields = (
        "".join(cells),
        match.cube.bit_length() - 1,
        _sign(match.cube_owner),
        _sign(match.on_roll),
        letters.get(match.offer, rolled),
        match.score[_BOTTOM],
        match.score[_TOP],
        rules,
        match.length,
        match.max_cube_exponent,
    )
    return XGID_PREFIX + ":".join(map(str, fields))


def decode_xgid(text: str, checkers: int) -> tuple[Boards, Match]:
    """The board, int8[2, 26], and the match of an XGID in a game with so many checkers a side.

    Its last field, the limit of the cube, may be left out, as in older XGIDs. Raises
    PositionError naming the field at fault.
    """
    fields = text.removeprefix(XGID_PREFIX).split(":")
    if len(fields) == len(_XGID_FIELDS) - 1:
        fields.append(str(Match().max_cube_exponent))
    if not text.startswith(XGID_PREFIX) or len(fields) != len(_XGID_FIELDS):
        raise PositionError(
            f"XGID {text!r}: {len(fields)} fields: expected {XGID_PREFIX} and {len(_XGID_FIELDS)}"
        )
    for value, (name, form, expected) in zip(fields, _XGID_FIELDS, strict=True):
        if re.fullmatch(form, value, re.ASCII) is None:
            raise PositionError(f"XGID {text!r}: {name} {value!r}: expected {expected}")
    cells, dice_field = fields[0], fields[4]
    cube, owner, turn = (int(field) for field in fields[1:4])
    bottom_score, top_score, rules, length, max_cube = (int(field) for field in fields[5:])
    if length and rules > 1:
        raise PositionError(f"XGID {text!r}: Crawford {rules}: expected 0 or 1 in a match")
    on_roll = _BOTTOM if turn == 1 else _TOP
    offer = _OFFER_LETTERS.get(dice_field, Offer.NONE)
    rolled = not offer and dice_field != "00"
    try:
        board = _board_of_cells(cells, checkers)
        match = Match(
            length=length,
            score=(top_score, bottom_score),
            cube=1 << cube,
            cube_owner=None if owner == 0 else _BOTTOM if owner == 1 else _TOP,
            on_roll=on_roll,
            turn=1 - on_roll if offer in (Offer.DOUBLE, Offer.RACCOON) else on_roll,
            crawford=bool(length and rules),
            jacoby=bool(not length and rules & 1),
            beavers=bool(not length and rules & 2),
            dice=(int(dice_field[0]), int(dice_field[1])) if rolled else None,
            offer=offer,
            max_cube_exponent=max_cube,
        )
    except PositionError as error:
        raise PositionError(f"XGID {text!r}: {error}") from None
    return (board if on_roll == _BOTTOM else board[::-1].copy()), match


def _board_of_cells(cells: str, checkers: int) -> Boards:
    """The board of an XGID's 26 characters with the bottom player in row 0."""
    board = np.zeros((2, COLUMNS), np.int64)
    for place, cell in enumerate(cells):
        if cell == "-":
            continue
        row, point = (0, place) if cell.isupper() else (1, BAR - place)
        side = ("bottom", "top")[row]
        if point == OFF:
            raise PositionError(f"position: {cell} is on the {side} player's wrong bar")
        board[row, point] = ord(cell.upper()) - ord("A") + 1
    for row, side in enumerate(("bottom", "top")):
        total = int(board[row].sum())
        if total > checkers:
            raise PositionError(
                f"position: the {side} player has {total} checkers: expected at most {checkers}"
            )
        board[row, OFF] = checkers - total
    return validate(board, checkers)


def _sign(player: int | None) -> int:
    return {None: 0, _BOTTOM: 1, _TOP: -1}[player]


def _base64_of_bits(bits: npt.NDArray[np.bool_], length: int) -> list[str]:
    """N base64 texts of bool[N, B] bits, the lowest of each byte first."""
    octets = np.packbits(bits, axis=1, bitorder="little")
    padded = np.zeros((len(bits), length * 6), np.uint8)
    padded[:, : octets.shape[1] * 8] = np.unpackbits(octets, axis=1)
    sextets = padded.reshape(len(bits), length, 6) @ (1 << np.arange(5, -1, -1))
    text = _CHARACTERS[sextets].tobytes().decode("ascii")
    return [text[start : start + length] for start in range(0, len(text), length)]


def _bits_of_base64(texts: Sequence[str], length: int, kind: str) -> npt.NDArray[np.bool_]:
    """The bits, bool[N, 6 * length], of base64 texts, the lowest of each byte first.

    The bits after the last whole byte come as they are. Raises PositionError on a wrong length or
    character.
    """
    for text in texts:
        if len(text) != length:
            raise PositionError(f"{kind} {text!r}: {len(text)} characters: expected {length}")
        wrong = set(text) - set(_ALPHABET)
        if wrong:
            raise PositionError(
                f"{kind} {text!r}: character {min(wrong)!r}: expected A-Z, a-z, 0-9, + and /"
            )
    codes = np.frombuffer("".join(texts).encode("ascii"), np.uint8).reshape(len(texts), length)
    bits = np.unpackbits(_VALUES[codes][:, :, None], axis=2)[:, :, 2:].reshape(len(texts), -1)
    whole = length * 6 // 8 * 8
    octets = bits[:, :whole].reshape(len(texts), -1, 8)[:, :, ::-1].reshape(len(texts), whole)
    return np.concatenate([octets, bits[:, whole:]], axis=1).astype(np.bool_)


def _refuse_first(wrong: npt.NDArray[np.bool_], texts: Sequence[str], problem: str) -> None:
    """Raise PositionError for the first position ID with anything wrong: bool[N, any]."""
    if wrong.any():
        first = int(np.nonzero(wrong)[0][0])
        raise PositionError(f"position ID {texts[first]!r}: {problem}")
