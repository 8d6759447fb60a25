"""The FIBS board string (`boardstyle 3`), field by field.

Sources: FIBS help page "rawboard"; FIBS Client Protocol Detailed Specification; for the meaning of
the last two fields in matches, the comments of GNU Backgammon, which also sends such boards.
"""

import re
from dataclasses import dataclass, fields

import numpy as np

from engine.backgammon.board import BAR, COLUMNS, OFF, Boards, validate
from engine.backgammon.dice import Dice
from engine.backgammon.match import GameState, Match, Offer
from engine.errors import PositionError

__all__ = ["FIBS_PREFIX", "FibsBoard", "parse_fibs"]

FIBS_PREFIX = "board:"

_YOU, _OPPONENT = 1, 0  # the players of a FIBS board in a Match
_UNLIMITED = 9999  # match length of a money session
_INTEGER = re.compile(r"0|-?[1-9]\d{0,5}", re.ASCII)


@dataclass(frozen=True, slots=True)
class FibsBoard:
    """A FIBS board as it is written, in the order of the text; `str` gives the text back.

    X plays the checkers counted negative and O the positive ones. `places` 1..24 are the points as
    they are numbered for a player of direction -1; the bars are at 25 for him who plays down from
    24 and at 0 for the other.
    """

    player: str
    opponent: str
    match_length: int
    player_score: int
    opponent_score: int
    places: tuple[int, ...]
    turn: int  # -1 X, 1 O, 0 game over
    player_dice: Dice
    opponent_dice: Dice
    cube: int
    player_may_double: int
    opponent_may_double: int
    was_doubled: int  # 1 when the opponent has just doubled
    colour: int  # of the player: -1 X, 1 O
    direction: int  # of the player: -1 from 24 to 1, 1 from 1 to 24
    home: int
    bar: int
    player_off: int
    opponent_off: int
    player_on_bar: int
    opponent_on_bar: int
    can_move: int
    forced_move: int
    no_crawford: int  # once a side is one point from winning: whether the rule is not in use
    redoubles: int  # money: how many beavers are allowed; match: 1 after the Crawford game

    def __str__(self) -> str:
        values: list[object] = []
        for field in fields(self):
            value = getattr(self, field.name)
            values.extend(value if isinstance(value, tuple) else [value])
        return FIBS_PREFIX + ":".join(map(str, values))

    @classmethod
    def of(
        cls, board: Boards, match: Match, player: str = "You", opponent: str = "Opponent"
    ) -> "FibsBoard":
        """The view of player 1, who plays O from 24 to 1, of an int8[2, 26] board and a match."""
        yours, theirs = board if match.on_roll == _YOU else board[::-1]
        places = [int(yours[point] - theirs[BAR - point]) for point in range(COLUMNS)]
        places[BAR], places[OFF] = int(yours[BAR]), -int(theirs[BAR])
        dice = match.dice or (0, 0)
        you_roll = match.on_roll == _YOU
        playing = match.state == GameState.PLAYING
        you_doubled = bool(match.offer) and you_roll
        one_away = match.length > 0 and 1 in match.away
        return cls(
            player=player,
            opponent=opponent,
            match_length=match.length or _UNLIMITED,
            player_score=match.score[_YOU],
            opponent_score=match.score[_OPPONENT],
            places=tuple(places),
            turn=0 if not playing else 1 if you_roll else -1,
            player_dice=dice if you_roll else (0, 0),
            opponent_dice=(0, 0) if you_roll else dice,
            cube=match.cube,
            player_may_double=int(match.cube_owner != _OPPONENT and not you_doubled),
            opponent_may_double=int(match.cube_owner != _YOU and not you_doubled),
            was_doubled=int(bool(match.offer) and not you_roll),
            colour=1,
            direction=-1,
            home=OFF,
            bar=BAR,
            player_off=int(yours[OFF]),
            opponent_off=int(theirs[OFF]),
            player_on_bar=int(yours[BAR]),
            opponent_on_bar=int(theirs[BAR]),
            can_move=0,
            forced_move=0,
            no_crawford=0,
            redoubles=int(one_away and not match.crawford if match.length else match.beavers),
        )

    def board(self, checkers: int) -> Boards:
        """The board, int8[2, 26], with the player on roll in row 0, or `player` after the game.

        Raises PositionError naming a field that is impossible in a game with so many checkers a
        side, or contradicts another.
        """
        self._require("colour", self.colour in (-1, 1), "-1 or 1")
        self._require("direction", self.direction in (-1, 1), "-1 or 1")
        home, bar = (OFF, BAR) if self.direction == -1 else (BAR, OFF)
        self._require("home", self.home == home, f"{home} with direction {self.direction}")
        self._require("bar", self.bar == bar, f"{bar} with direction {self.direction}")
        upwards = np.array(self.places) * self.colour
        places = upwards if self.direction == -1 else upwards[::-1]
        self._require_name("places", places[BAR] >= 0, f"no checker of the opponent at {self.bar}")
        self._require_name("places", places[OFF] <= 0, f"no checker of the player at {self.home}")
        board = np.zeros((2, COLUMNS), np.int64)
        board[0] = np.maximum(places, 0)
        board[1] = np.maximum(-places, 0)[::-1]
        board[:, OFF] = self.player_off, self.opponent_off
        for row, side in enumerate(("player", "opponent")):
            on_board = int(board[row, OFF + 1 :].sum())
            expected = f"{checkers} checkers less the {on_board} on the board"
            self._require(f"{side}_off", int(board[row, OFF]) == checkers - on_board, expected)
            # GNU Backgammon writes 0 here whatever is on the bar.
            on_bar = int(board[row, BAR])
            fits = getattr(self, f"{side}_on_bar") in (0, on_bar)
            self._require(f"{side}_on_bar", fits, f"{on_bar}, as among the places")
        if self._on_roll() == _OPPONENT:
            board = board[::-1]
        return validate(board, checkers)

    def match(self) -> Match:
        """The match: `player` is player 1. Raises PositionError naming the field at fault."""
        on_roll = self._on_roll()
        for flag in ("player_may_double", "opponent_may_double", "was_doubled"):
            self._require(flag, getattr(self, flag) in (0, 1), "0 or 1")
        money = self.match_length == _UNLIMITED
        length = 0 if money else self.match_length
        self._require("match_length", money or length > 0, f"1 to 64, or {_UNLIMITED} for money")
        away = sorted((length - self.player_score, length - self.opponent_score))
        after_crawford = self.no_crawford != 0 or self.redoubles != 0
        crawford = not money and away[0] == 1 < away[1] and not after_crawford
        offer, owner = self._cube_state(on_roll, without_cube=crawford or length == 1)
        try:
            return Match(
                length=length,
                score=(self.opponent_score, self.player_score),
                cube=self.cube,
                cube_owner=owner,
                on_roll=on_roll,
                turn=1 - on_roll if offer else on_roll,
                crawford=crawford,
                beavers=money and self.redoubles > 0,
                dice=self._dice(on_roll),
                offer=offer,
                state=GameState.PLAYING if self.turn else GameState.OVER,
            )
        except PositionError as error:
            raise PositionError(f"FIBS board {str(self)!r}: {error}") from None

    def _on_roll(self) -> int:
        self._require("turn", self.turn in (-1, 0, 1), "-1, 0 or 1")
        return _OPPONENT if self.turn == -self.colour else _YOU

    def _cube_state(self, on_roll: int, without_cube: bool) -> tuple[Offer, int | None]:
        """Whether a double is open, and who owns the cube.

        The doubler is told of his own open double by neither side being allowed to double.
        """
        may_double = (self.opponent_may_double, self.player_may_double)
        doubled = self.was_doubled == 1 or (may_double == (0, 0) and not without_cube)
        if self.was_doubled:
            self._require("was_doubled", on_roll == _OPPONENT, "0 when it is the player's turn")
        if may_double[_YOU] != may_double[_OPPONENT]:
            return Offer(doubled), may_double.index(1)
        owned_by_doubler = doubled and may_double == (0, 0) and self.cube > 1
        return Offer(doubled), on_roll if owned_by_doubler else None

    def _dice(self, on_roll: int) -> Dice | None:
        """The dice of the player on roll; GNU Backgammon writes them for both sides."""
        both = (self.opponent_dice, self.player_dice)
        other = "player_dice" if on_roll == _OPPONENT else "opponent_dice"
        fits = both[1 - on_roll] in ((0, 0), both[on_roll])
        self._require(other, fits, "0:0 when it is the other side's turn")
        return None if both[on_roll] == (0, 0) else both[on_roll]

    def _require(self, field: str, condition: bool, expected: str) -> None:
        self._require_name(field, condition, f"{getattr(self, field)}: expected {expected}")

    def _require_name(self, field: str, condition: bool, problem: str) -> None:
        if not condition:
            raise PositionError(f"FIBS board {str(self)!r}: {field.replace('_', ' ')} {problem}")


def parse_fibs(text: str) -> FibsBoard:
    """Read the fields of a FIBS board string, without asking whether they make sense together.

    Raises PositionError on a wrong number of fields, or naming one that is not a whole number.
    """
    if not text.startswith(FIBS_PREFIX):
        raise PositionError(f"FIBS board {text!r}: expected it to begin with {FIBS_PREFIX}")
    values = text.removeprefix(FIBS_PREFIX).split(":")
    widths = {"places": COLUMNS, "player_dice": 2, "opponent_dice": 2}
    layout = [(field.name, widths.get(field.name, 1)) for field in fields(FibsBoard)]
    expected = sum(width for _, width in layout)
    if len(values) != expected:
        raise PositionError(
            f"FIBS board {text!r}: {len(values)} fields after {FIBS_PREFIX} expected {expected}"
        )
    read: dict[str, object] = {}
    for name, width in layout:
        words, values = values[:width], values[width:]
        if name in ("player", "opponent"):
            read[name] = words[0]
            continue
        for word in words:
            if _INTEGER.fullmatch(word) is None:
                field = name.replace("_", " ")
                raise PositionError(f"FIBS board {text!r}: {field} {word!r}: expected a number")
        numbers = tuple(int(word) for word in words)
        read[name] = numbers if name in widths else numbers[0]
    return FibsBoard(**read)  # type: ignore[arg-type]
