"""The game around the board: score, cube, rules agreed, who may do what, and what comes of it.

A `Match` is one moment. `legal_actions` says what the player whose turn it is may do, and `start`,
`roll`, `play`, `resign` and `act` give the match after it. Dice and board stay outside.
"""

from dataclasses import dataclass, replace
from enum import IntEnum

from engine.backgammon.dice import Dice, Opening
from engine.backgammon.variants import BACKGAMMON, Variant
from engine.errors import PlayError, PositionError

__all__ = [
    "MAX_CUBE_EXPONENT",
    "MAX_LENGTH",
    "MAX_SCORE",
    "Action",
    "GameState",
    "Match",
    "Offer",
    "act",
    "legal_actions",
    "play",
    "points_at_stake",
    "require_match",
    "resign",
    "roll",
    "start",
]

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


class Action(IntEnum):
    """What a player can do."""

    START = 0  # throw for the opening roll
    ROLL = 1
    DOUBLE = 2
    TAKE = 3  # a double, or accept a beaver or raccoon
    PASS = 4  # a double, beaver or raccoon, and lose the game
    BEAVER = 5
    RACCOON = 6
    PLAY = 7
    RESIGN = 8
    ACCEPT = 9  # a resignation
    REFUSE = 10

    def __str__(self) -> str:
        return self.name.lower()


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

    Once a game is over its points are in the score, and cube and Crawford are those of the next.

    Raises PositionError, naming the field, for a value out of range or at odds with another.
    """

    length: int = 0  # points to win; 0 is a money session
    score: tuple[int, int] = (0, 0)  # of players 0 and 1; the winner's may pass the length
    cube: int = 1  # what a single game is worth now: an open offer is for twice as much
    cube_owner: int | None = None  # player, or None while it is centred
    on_roll: int = 1  # player whose roll it is, or who has just doubled
    turn: int = 1  # player who must act next: the other one while an offer is open
    crawford: bool = False  # this is the Crawford game
    jacoby: bool = False  # of meaning in money sessions only
    beavers: bool = False  # beavers and raccoons; of meaning in money sessions only
    automatic_doubles: int = 0  # how often a tied opening roll turns the cube; money only
    dice: Dice | None = None  # rolled and not yet played
    offer: Offer = Offer.NONE
    resignation: int = 0  # offered: 1 single game, 2 gammon, 3 backgammon
    state: GameState = GameState.PLAYING
    max_cube_exponent: int = 10  # the cube stops at 2 to this power (XGID)

    def __post_init__(self) -> None:
        self._check_kinds()
        self._check_ranges()
        self._check_agreement()

    @classmethod
    def money(cls, variant: Variant = BACKGAMMON) -> "Match":
        """A money game about to begin, with the rules usual in that variant."""
        return cls(jacoby=variant.jacoby)

    @property
    def away(self) -> tuple[int, int]:
        """Points that the player on roll and his opponent still need; (0, 0) for money."""
        return (
            max(0, self.length - self.score[self.on_roll]),
            max(0, self.length - self.score[1 - self.on_roll]),
        )

    @property
    def winner(self) -> int | None:
        """The player who has won the match; None before that, and in a money session."""
        if self.length == 0 or max(self.score) < self.length:
            return None
        return int(self.score[1] > self.score[0])

    def _check_kinds(self) -> None:
        for field in ("length", "cube", "resignation", "max_cube_exponent", "automatic_doubles"):
            number = getattr(self, field)
            whole = isinstance(number, int)
            _require(field.replace("_", " "), repr(number), whole, "a whole number")
        pairs = {"score": self.score} | ({} if self.dice is None else {"dice": self.dice})
        for field, pair in pairs.items():
            whole = isinstance(pair, tuple) and all(isinstance(each, int) for each in pair)
            _require(field, repr(pair), whole and len(pair) == 2, "two whole numbers")

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
        fits = 0 <= self.automatic_doubles <= MAX_CUBE_EXPONENT
        expected = f"0 to {MAX_CUBE_EXPONENT}"
        _require("automatic doubles", self.automatic_doubles, fits, expected)

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
            turnable = self.cube < 1 << MAX_CUBE_EXPONENT
            _require("offer", offered, turnable, f"none with the cube at {self.cube}")
            owned_by_other = self.length > 0 and self.cube_owner == 1 - self.on_roll
            _require("cube owner", self.cube_owner, not owned_by_other, "the player who doubles")
            if not self.resignation:
                waits_for_other = self.offer != Offer.BEAVER
                answering = (self.turn != self.on_roll) == waits_for_other
                _require("turn", self.turn, answering, "the player who must answer the double")


def legal_actions(match: Match) -> tuple[Action, ...]:
    """What the player `turn` may do; START is both players', and nothing is left after a match."""
    if match.state != GameState.PLAYING:
        return () if match.winner is not None else (Action.START,)
    if match.resignation:
        return Action.ACCEPT, Action.REFUSE
    if match.offer:
        turn_again = Action.RACCOON if match.offer == Offer.BEAVER else Action.BEAVER
        open_to = (Action.TAKE, Action.PASS)
        return open_to if _reason_not_to_turn_again(match) else (*open_to, turn_again)
    if match.dice is not None:
        return Action.PLAY, Action.RESIGN
    if _reason_not_to_double(match):
        return Action.ROLL, Action.RESIGN
    return Action.ROLL, Action.DOUBLE, Action.RESIGN


def require_match(value: object) -> None:
    """Raises PositionError when it is no `Match`."""
    if not isinstance(value, Match):
        raise PositionError(f"match {value!r:.60}: expected a Match, such as read_id gives")


def points_at_stake(match: Match, kind: int) -> int:
    """Points of a game that ends now, `kind` 1 for a single game, 2 a gammon, 3 a backgammon."""
    unturned = match.length == 0 and match.jacoby and match.cube_owner is None
    return match.cube * (1 if unturned else kind)


def start(match: Match, opening: Opening) -> Match:
    """The first game, or the next one, after the opening roll.

    Raises PlayError while a game is being played and once the match is over.
    """
    _require_legal(match, Action.START)
    doubles = 0 if match.length else min(opening.ties, match.automatic_doubles)
    return replace(
        match,
        cube=1 << min(doubles, match.max_cube_exponent),
        cube_owner=None,
        on_roll=opening.first,
        turn=opening.first,
        dice=opening.dice,
        state=GameState.PLAYING,
    )


def roll(match: Match, dice: Dice) -> Match:
    """After the player on roll has thrown these dice. Raises PlayError when he must not roll."""
    _require_legal(match, Action.ROLL)
    return replace(match, dice=dice)


def play(match: Match, kind: int = 0) -> Match:
    """Switches sides: after the player on roll has played his dice.

    kind: 1, 2 or 3 when he has thereby won a single game, a gammon or a backgammon; 0 when the game
    goes on. Raises PlayError when no dice are waiting to be played.
    """
    _require_legal(match, Action.PLAY)
    if kind:
        points = points_at_stake(match, kind)
        return _game_over(match, match.on_roll, points, GameState.OVER)
    other = 1 - match.on_roll
    return replace(match, on_roll=other, turn=other, dice=None)


def resign(match: Match, kind: int) -> Match:
    """After the player `turn` has offered to lose 1 a single game, 2 a gammon, 3 a backgammon.

    Raises PlayError when it is not allowed, PositionError for another kind.
    """
    _require("resignation", kind, kind in (1, 2, 3), "1, 2 or 3")
    _require_legal(match, Action.RESIGN)
    return replace(match, resignation=kind, turn=1 - match.turn)


def act(match: Match, action: Action) -> Match:
    """After the player `turn` has doubled, or answered an offer of the cube or a resignation.

    Raises PlayError when that is not allowed now.
    """
    _require_legal(match, action)
    other = 1 - match.turn
    match action:
        case Action.DOUBLE:
            return replace(match, offer=Offer.DOUBLE, turn=other)
        case Action.BEAVER | Action.RACCOON:
            offer = Offer.BEAVER if action == Action.BEAVER else Offer.RACCOON
            return _cube_turned(match, offer, other)
        case Action.TAKE:
            return _cube_turned(match, Offer.NONE, match.on_roll)
        case Action.PASS:
            return _game_over(match, other, match.cube, GameState.DROPPED)
        case Action.ACCEPT:
            points = points_at_stake(match, match.resignation)
            return _game_over(match, match.turn, points, GameState.RESIGNED)
        case Action.REFUSE:
            return replace(match, resignation=0, turn=other)
        case _:
            raise PlayError(f"{action}: expected an action that is complete by its name")


def _cube_turned(match: Match, offer: Offer, turn: int) -> Match:
    """Whoever beavers keeps the cube, also after a raccoon: it never is the first doubler's."""
    owner = 1 - match.on_roll
    return replace(match, cube=2 * match.cube, cube_owner=owner, offer=offer, turn=turn)


def _game_over(match: Match, winner: int, points: int, state: GameState) -> Match:
    score = list(match.score)
    score[winner] = min(score[winner] + points, MAX_SCORE)
    first_to_stand_there = match.length > 1 and 1 not in match.away
    return replace(
        match,
        score=(score[0], score[1]),
        cube=1,
        cube_owner=None,
        turn=match.on_roll,
        crawford=first_to_stand_there and score[winner] == match.length - 1,
        dice=None,
        offer=Offer.NONE,
        resignation=0,
        state=state,
    )


def _reason_not_to_double(match: Match) -> str | None:
    """Why the player on roll may not double before he rolls; None when he may."""
    if match.crawford:
        return "this is the Crawford game"
    if match.length == 1:
        return "a match to 1 has no cube"
    if match.cube_owner == 1 - match.on_roll:
        return "the opponent owns the cube"
    return _reason_at_limit(match, 2 * match.cube)


def _reason_not_to_turn_again(match: Match) -> str | None:
    """Why a double may not be beavered, or a beaver raccooned; None when it may."""
    if match.length or not match.beavers:
        return "beavers are not played"
    if match.offer == Offer.RACCOON:
        return "a raccoon can only be taken or passed"
    return _reason_at_limit(match, 4 * match.cube)


def _reason_at_limit(match: Match, cube: int) -> str | None:
    limit = 1 << match.max_cube_exponent
    return f"the cube stops at {limit}" if cube > limit else None


def _require_legal(match: Match, action: Action) -> None:
    legal = legal_actions(match)
    if action in legal:
        return
    reason = None
    if action == Action.DOUBLE and Action.ROLL in legal:
        reason = _reason_not_to_double(match)
    elif action in (Action.BEAVER, Action.RACCOON) and Action.TAKE in legal:
        reason = _reason_not_to_turn_again(match)
    expected = " or ".join(map(str, legal)) or "nothing: the match is over"
    raise PlayError(f"{action}: {reason + '; ' if reason else ''}expected {expected}")


def _require(field: str, value: object, condition: bool, expected: str) -> None:
    if not condition:
        raise PositionError(f"{field} {value}: expected {expected}")
