"""The game around the board: score, cube, rules agreed, and who is to do what."""

from dataclasses import dataclass
from enum import IntEnum

from engine.backgammon.dice import Dice
from engine.backgammon.variants import BACKGAMMON, Variant
from engine.errors import PositionError

__all__ = ["MAX_CUBE_EXPONENT", "MAX_LENGTH", "MAX_SCORE", "GameState", "Match", "Offer"]

MAX_LENGTH = 64
MAX_SCORE = 2**15 - 1  # what a gnubg match ID has room for
MAX_CUBE_EXPONENT = 15


class GameState(IntEnum):
    """What has become of the game; the numbers are those of the gnubg match ID."""

    NONE = 0  # not begun
    PLAYING = 1
    OVER = 2  # borne off
    RESIGNED = 3
    DROPPED = 4  # a double was passed


class Offer(IntEnum):
    """A turn of the cube that waits for an answer."""

    NONE = 0
    DOUBLE = 1
    BEAVER = 2
    RACCOON = 3


@dataclass(frozen=True, slots=True)
class Match:
    """A match or money session at one moment, without the board. `Match()` is a money game.

    The players are 0 and 1 and keep their numbers throughout, as in the gnubg match ID; in an XGID
    player 0 is the one at the top, in a FIBS board `You` are player 1. Row 0 of the board that goes
    with it is the player `on_roll`.

    Raises PositionError, naming the field, for a value out of range or at odds with another.
    """

    length: int = 0  # points to win; 0 is a money session
    score: tuple[int, int] = (0, 0)  # of players 0 and 1
    cube: int = 1  # its value before an open offer is accepted
    cube_owner: int | None = None  # player, or None while it is centred
    on_roll: int = 1  # player whose roll it is, or who has just doubled
    turn: int = 1  # player who must act next: the other one while an offer is open
    crawford: bool = False  # this is the Crawford game
    jacoby: bool = False  # of meaning in money sessions only
    beavers: bool = False  # of meaning in money sessions only
    dice: Dice | None = None  # rolled and not yet played
    offer: Offer = Offer.NONE
    resignation: int = 0  # offered: 1 single game, 2 gammon, 3 backgammon
    state: GameState = GameState.PLAYING
    max_cube_exponent: int = 10  # the cube stops at 2 to this power (XGID)

    def __post_init__(self) -> None:
        self._check_ranges()
        self._check_agreement()

    @classmethod
    def money(cls, variant: Variant = BACKGAMMON) -> "Match":
        """A money game about to begin, with the rules usual in that variant."""
        return cls(jacoby=variant.jacoby)

    @property
    def away(self) -> tuple[int, int]:
        """Points that the player on roll and his opponent still need; (0, 0) for money."""
        if self.length == 0:
            return 0, 0
        return (
            self.length - self.score[self.on_roll],
            self.length - self.score[1 - self.on_roll],
        )

    def _check_ranges(self) -> None:
        _require("match length", self.length, 0 <= self.length <= MAX_LENGTH, "0 (money) to 64")
        for player in (0, 1):
            points = self.score[player]
            fits = 0 <= points <= MAX_SCORE
            _require(f"score of player {player}", points, fits, f"0 to {MAX_SCORE}")
        exponent = self.cube.bit_length() - 1
        power = self.cube > 0 and self.cube == 1 << exponent and exponent <= MAX_CUBE_EXPONENT
        _require("cube", self.cube, power, "a power of 2, 1 to 32768")
        _require("cube owner", self.cube_owner, self.cube_owner in (None, 0, 1), "0, 1 or None")
        _require("player on roll", self.on_roll, self.on_roll in (0, 1), "0 or 1")
        _require("turn", self.turn, self.turn in (0, 1), "0 or 1")
        numbers = self.dice is None or all(1 <= die <= 6 for die in self.dice)
        _require("dice", self.dice, numbers, "two numbers from 1 to 6")
        _require("resignation", self.resignation, 0 <= self.resignation <= 3, "0 to 3")
        exponent = self.max_cube_exponent
        fits = 0 <= exponent <= MAX_CUBE_EXPONENT
        _require("maximum cube", exponent, fits, f"an exponent from 0 to {MAX_CUBE_EXPONENT}")

    def _check_agreement(self) -> None:
        if self.length and self.state in (GameState.NONE, GameState.PLAYING):
            for player in (0, 1):
                points = self.score[player]
                below = points < self.length
                expected = f"less than the match length {self.length}"
                _require(f"score of player {player}", points, below, expected)
        if self.crawford:
            near, far = sorted(self.away)
            expected = "off unless one side is one point from winning, and the other is not"
            _require("Crawford", "on", near == 1 < far, expected)
            centred = self.cube == 1 and self.cube_owner is None
            _require("cube", self.cube, centred, "a centred 1 in the Crawford game")
        if self.offer:
            offered = self.offer.name.lower()
            _require("offer", offered, self.dice is None, "none once dice are rolled")
            has_cube = not self.crawford and self.length != 1
            _require("offer", offered, has_cube, "none in a game without the cube")
            allowed = self.offer == Offer.DOUBLE or self.length == 0
            _require("offer", offered, allowed, "a plain double in a match")
            owned_by_other = self.length > 0 and self.cube_owner == 1 - self.on_roll
            _require("cube owner", self.cube_owner, not owned_by_other, "the player who doubles")
            if not self.resignation:
                waits_for_other = self.offer != Offer.BEAVER
                answering = (self.turn != self.on_roll) == waits_for_other
                _require("turn", self.turn, answering, "the player who must answer the double")


def _require(field: str, value: object, condition: bool, expected: str) -> None:
    if not condition:
        raise PositionError(f"{field} {value}: expected {expected}")
