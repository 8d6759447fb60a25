"""A session of money games between a person at the terminal and a bot."""

from collections.abc import Callable

from engine.backgammon.dice import Dice, Opening, Roller
from engine.backgammon.notation import parse_play
from engine.backgammon.plays import Play, legal_plays
from engine.backgammon.position import Position
from engine.backgammon.variants import Variant
from engine.bot import Bot, Candidate
from engine.cube.context import CubeContext
from engine.errors import AcepointError
from engine.interfaces.board_text import draw

__all__ = ["Session"]

PERSON, BOT = 0, 1
CUBELESS = CubeContext().without_cube()
STAKES = {"single": 1, "gammon": 2, "backgammon": 3}
RESULTS = {1: "a single game", 2: "a gammon", 3: "a backgammon"}
HINTS = 5  # plays shown by `hint`

HELP = """\
 8/5 6/5     a play, in any common notation; bar/20, 6/off, 8/4(2), 13/7*
 hint        the best plays, as Acepoint sees them
 board       the board again
 resign      give up a single game; resign gammon, resign backgammon: give up more
 quit        leave; an unfinished game does not count"""


class _LeaveError(Exception):
    """The person leaves."""


class _ResignedError(Exception):
    """The person has given up, and the bot has accepted."""

    def __init__(self, points: int) -> None:
        super().__init__()
        self.points = points


class Session:
    """Games until the person has had enough; the score is kept in points.

    Args:
        bot: The opponent, and the source of hints.
        variant: What is played.
        roller: Where the dice come from.
        alternate: The house rule that the two sides start by turns.
        show_hints: Prints ranked plays.
    """

    def __init__(
        self,
        bot: Bot,
        variant: Variant,
        roller: Roller,
        alternate: bool,
        show_hints: Callable[[list[Candidate]], None],
    ) -> None:
        self._bot = bot
        self._variant = variant
        self._roller = roller
        self._alternate = alternate
        self._show_hints = show_hints
        self._score = [0, 0]

    def run(self) -> None:
        """Play until the person leaves."""
        print(f"A session of {self._variant.name} against Acepoint. You are X.\n{HELP}")
        first = None
        try:
            while True:
                opening = self._roller.opening(first)
                first = 1 - opening.first if self._alternate else None
                self._count(self._game(opening))
                if _ask("Another game? [Y/n] ") in {"n", "no"}:
                    return
        except _LeaveError:
            print(f"Goodbye. {self._score_line()}")

    def _count(self, points: int) -> None:
        """Announce a result, in points for the person, and add it to the score."""
        winner = PERSON if points > 0 else BOT
        self._score[winner] += abs(points)
        print(f"{('You win', 'Acepoint wins')[winner]} {RESULTS[abs(points)]}.")
        print(self._score_line())

    def _score_line(self) -> str:
        return f"Score: you {self._score[PERSON]}, Acepoint {self._score[BOT]}."

    def _game(self, opening: Opening) -> int:
        """The points of one game for the person, negative when the bot wins."""
        on_roll, dice = opening.first, opening.dice
        position = Position.start(self._variant)
        while not position.is_over:
            try:
                turn = self._person if on_roll == PERSON else self._bot_turn
                position = turn(position, dice).result
            except _ResignedError as resigned:
                return -resigned.points
            on_roll, dice = 1 - on_roll, self._roller.roll()
        return position.outcome_points if on_roll == PERSON else -position.outcome_points

    def _bot_turn(self, position: Position, dice: Dice) -> Play:
        play = self._bot.best(position, dice, CUBELESS)
        print(f"\nAcepoint rolls {_shown(dice)}: {play}")
        return play

    def _person(self, position: Position, dice: Dice) -> Play:
        """The play that the person has entered and confirmed."""
        print(f"\n{_drawn(position)}\n")
        plays = legal_plays(position, dice)
        if not plays[0].steps:
            print(f"You roll {_shown(dice)} and cannot move.")
            return plays[0]
        forced = plays[0] if len(plays) == 1 else None
        if forced:
            print(f"{forced} is the only play: Enter plays it.")
        while True:
            text = _ask(f"You roll {_shown(dice)}: ")
            try:
                play = forced if forced and not text else self._answer(text, position, dice)
            except AcepointError as error:
                print(error)
                continue
            if play and (play is forced or _confirmed(play)):
                return play

    def _answer(self, text: str, position: Position, dice: Dice) -> Play | None:
        """The play that a line of the person asks for; None after doing something else."""
        command, *arguments = text.lower().split() or ["help"]
        match command:
            case "help" | "?":
                print(HELP)
            case "board":
                print(_drawn(position))
            case "hint":
                self._show_hints(self._bot.rank(position, dice, CUBELESS)[:HINTS])
            case "quit" | "exit":
                raise _LeaveError
            case "resign":
                self._resign(" ".join(arguments), position, dice)
            case _:
                return parse_play(text, position, dice)
        return None

    def _resign(self, stake: str, position: Position, dice: Dice) -> None:
        """Raises _ResignedError unless the bot expects to win more than is offered."""
        points = STAKES.get(stake or "single")
        if points is None:
            print(f"resign {stake!r}: expected {', '.join(STAKES)}")
        elif -self._bot.rank(position, dice, CUBELESS)[0].equity > points:
            print(f"Acepoint does not accept {RESULTS[points]}: it expects to win more.")
        else:
            raise _ResignedError(points)


def _confirmed(play: Play) -> bool:
    """Show the board after the person's play and ask whether it stays."""
    print(f"\n{_drawn(play.result.swapped())}\n")
    return _ask(f"{play}: Enter to finish the turn, u to take it back: ") not in {"u", "undo", "n"}


def _drawn(position: Position) -> str:
    return draw(position, ("you", "Acepoint"))


def _shown(dice: Dice) -> str:
    return f"{max(dice)}-{min(dice)}"


def _ask(prompt: str) -> str:
    """A line from the person, stripped. Raises _LeaveError at the end of the input."""
    try:
        return input(prompt).strip()
    except EOFError:
        print()
        raise _LeaveError from None
