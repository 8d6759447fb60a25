"""A match or a money session between a person at the terminal and a bot."""

from collections.abc import Callable

from engine.backgammon.dice import Dice, Roller
from engine.backgammon.match import (
    Action,
    GameState,
    Match,
    Offer,
    act,
    legal_actions,
    play,
    resign,
    roll,
    start,
)
from engine.backgammon.notation import parse_play
from engine.backgammon.plays import Play, legal_plays
from engine.backgammon.position import Position
from engine.backgammon.resignation import is_certain_gain
from engine.backgammon.variants import Variant
from engine.bot import Bot, Candidate
from engine.cube.context import CubeContext
from engine.errors import AcepointError, PlayError
from engine.interfaces.board_text import draw
from engine.kernels.movegen import pack
from engine.players.acepoint import chosen_actions

__all__ = ["Session"]

PERSON, BOT = 0, 1
STAKES = {"single": 1, "gammon": 2, "backgammon": 3}
RESULTS = {1: "a single game", 2: "a gammon", 3: "a backgammon"}
QUIT = {"quit", "exit"}
UNDO = ("u", "undo", "n", "no")
ANOTHER = {"": True, "y": True, "yes": True, "n": False, "no": False}
HINTS = 5  # plays shown by `hint`

HELP = """\
 8/5 6/5     a play, in any common notation; bar/20, 6/off, 8/4(2), 13/7*
 roll        the dice, as does Enter; double: offer to double instead
 take        a double; pass: lose the game; beaver, raccoon: turn the cube again, where agreed
 hint        the best plays, or what to do with the cube, as Acepoint sees it
 board       the board again
 resign      give up a single game; resign gammon, resign backgammon: give up more
 quit        leave; an unfinished game does not count"""

ACTIONS = {
    "": Action.ROLL,
    "roll": Action.ROLL,
    "double": Action.DOUBLE,
    "redouble": Action.DOUBLE,
    "take": Action.TAKE,
    "pass": Action.PASS,
    "drop": Action.PASS,
    "beaver": Action.BEAVER,
    "raccoon": Action.RACCOON,
}
SAID = {
    Action.TAKE: "Acepoint takes.",
    Action.PASS: "Acepoint passes.",
    Action.BEAVER: "Acepoint beavers: the cube would be at {}.",
    Action.RACCOON: "Acepoint raccoons: the cube would be at {}.",
    Action.DOUBLE: "Acepoint doubles to {}.",
}


class _LeaveError(Exception):
    """The person leaves."""


class Session:
    """Games until the match is over, or the person has had enough.

    Args:
        bot: The opponent, and the source of hints.
        variant: What is played.
        match: The match before its first game; player 0 is the person.
        roller: Where the dice come from.
        alternate: The house rule that the two sides start by turns.
        show_hints: Prints ranked plays.
    """

    def __init__(
        self,
        bot: Bot,
        variant: Variant,
        match: Match,
        roller: Roller,
        alternate: bool,
        show_hints: Callable[[list[Candidate], CubeContext], None],
    ) -> None:
        self._bot = bot
        self._variant = variant
        self._match = match
        self._position = Position.start(variant)
        self._roller = roller
        self._alternate = alternate
        self._show_hints = show_hints

    def run(self) -> None:
        """Play until the match is over or the person leaves."""
        kind = f"match to {self._match.length}" if self._match.length else "session"
        print(f"A {kind} of {self._variant.name} against Acepoint. You are X.\n{HELP}")
        first = None
        try:
            while self._match.winner is None:
                opening = self._roller.opening(first)
                first = 1 - opening.first if self._alternate else None
                before = self._match
                self._match = start(before, opening)
                self._position = Position.start(self._variant)
                self._announce_game()
                while self._match.state == GameState.PLAYING:
                    self._step()
                self._announce_result(before)
                if not self._match.length and not _choose("Another game? [Y/n] ", ANOTHER):
                    return
            print(f"{('You win', 'Acepoint wins')[self._match.winner]} the match.")
        except _LeaveError:
            print(f"Goodbye. {self._score_line()}")

    def _announce_game(self) -> None:
        if self._match.crawford:
            print("\nThe Crawford game: no doubling.")
        if self._match.cube > 1:
            print(f"\nThe opening roll was tied: the cube is at {self._match.cube}.")

    def _announce_result(self, before: Match) -> None:
        gains = [self._match.score[side] - before.score[side] for side in (PERSON, BOT)]
        winner = PERSON if gains[PERSON] else BOT
        points = gains[winner]
        won = f"{points} point{'s' if points > 1 else ''}"
        if self._match.state == GameState.OVER:
            won = f"{RESULTS[abs(self._position.outcome_points)]}: {won}"
        print(f"{('You win', 'Acepoint wins')[winner]} {won}.")
        print(self._score_line())

    def _score_line(self) -> str:
        you, acepoint = self._match.score
        to = f" in a match to {self._match.length}" if self._match.length else ""
        return f"Score: you {you}, Acepoint {acepoint}{to}."

    def _step(self) -> None:
        """Whatever is to be done next, by either side."""
        legal = legal_actions(self._match)
        if Action.PLAY in legal:
            self._play()
        elif Action.ACCEPT in legal:
            self._judge_resignation()
        elif legal == (Action.ROLL, Action.RESIGN):
            self._do(Action.ROLL)
        elif self._match.turn == PERSON:
            self._ask_for_action()
        else:
            self._let_bot_act()

    def _do(self, action: Action) -> None:
        if action == Action.ROLL and action in legal_actions(self._match):
            self._match = roll(self._match, self._roller.roll())
        else:
            self._match = act(self._match, action)

    def _let_bot_act(self) -> None:
        packed = pack(self._position.board[None])
        action = Action(chosen_actions(self._bot, packed, self._match)[0])
        if action in SAID:
            offered = 2 if action == Action.DOUBLE else 4
            print(f"\n{SAID[action].format(offered * self._match.cube)}")
        self._do(action)

    def _ask_for_action(self) -> None:
        """Let the person roll or turn the cube, or answer a double; or resign."""
        print(f"\n{self._drawn()}\n")
        before = self._match
        choices = [str(each) for each in legal_actions(before) if each != Action.RESIGN]
        prompt = f"{', '.join(choices[:-1])} or {choices[-1]}? "
        while self._match is before:
            text = _ask(prompt).lower()
            try:
                if text in ACTIONS:
                    self._do(ACTIONS[text])
                elif not self._obeyed(text):
                    print(f"{text!r}: expected {', '.join(choices)}, or help")
            except PlayError as error:
                print(error)

    def _obeyed(self, text: str) -> bool:
        """Do what a line asks for that is neither a play nor an action; whether it was that."""
        command, *arguments = text.lower().split() or [""]
        match command:
            case "help" | "?":
                print(HELP)
            case "board":
                print(self._drawn())
            case "hint":
                self._hint()
            case leave if leave in QUIT:
                raise _LeaveError
            case "resign":
                self._resign(" ".join(arguments))
            case _:
                return False
        return True

    def _hint(self) -> None:
        if self._match.dice is not None:
            ranking = self._bot.rank(self._position, self._match.dice, self._match)
            self._show_hints(ranking[:HINTS], CubeContext.of(self._match))
            return
        if self._match.offer in (Offer.BEAVER, Offer.RACCOON):
            packed = pack(self._position.board[None])
            print(Action(chosen_actions(self._bot, packed, self._match)[0]))
            return
        cube = self._bot.cube(self._position, self._match)
        print(
            f"{cube.action} (no double {cube.no_double:+.3f}, double and take "
            f"{cube.double_take:+.3f}, double and pass {cube.double_pass:+.3f})"
        )

    def _resign(self, stake: str) -> None:
        """Offer it; raises PlayError where that is not allowed."""
        kind = STAKES.get(stake or "single")
        if kind is None:
            print(f"resign {stake!r}: expected {', '.join(STAKES)}")
        else:
            self._match = resign(self._match, kind)

    def _judge_resignation(self) -> None:
        """The bot's answer to the person's offer."""
        kind = self._match.resignation
        if is_certain_gain(self._position.board, self._match) or self._is_worth_it(kind):
            self._match = act(self._match, Action.ACCEPT)
        else:
            print(f"Acepoint does not accept {RESULTS[kind]}: it hopes to win more.")
            self._match = act(self._match, Action.REFUSE)

    def _is_worth_it(self, kind: int) -> bool:
        """Whether the person, who is on roll, could do better than to lose so much."""
        if self._match.dice:
            equity = self._bot.rank(self._position, self._match.dice, self._match)[0].equity
        else:
            equity = self._bot.cube(self._position, self._match).equity
        return equity >= CubeContext.of(self._match).loss(kind)

    def _play(self) -> None:
        dice = self._match.dice
        assert dice is not None
        chosen = self._persons_play(dice) if self._match.turn == PERSON else self._bots_play(dice)
        if chosen is not None:
            self._position = chosen.result
            self._match = play(self._match, -chosen.result.outcome_points)

    def _bots_play(self, dice: Dice) -> Play:
        chosen = self._bot.best(self._position, dice, self._match)
        print(f"\nAcepoint rolls {_shown(dice)}: {chosen}")
        return chosen

    def _persons_play(self, dice: Dice) -> Play | None:
        """The play that the person has entered and confirmed; None after a resignation."""
        print(f"\n{self._drawn()}\n")
        plays = legal_plays(self._position, dice)
        if not plays[0].steps:
            print(f"You roll {_shown(dice)} and cannot move.")
            return plays[0]
        forced = plays[0] if len(plays) == 1 else None
        if forced:
            print(f"{forced} is the only play: Enter plays it.")
        while self._match.turn == PERSON:
            text = _ask(f"You roll {_shown(dice)}: ")
            if forced and not text:
                return forced
            try:
                if self._obeyed(text or "help"):
                    continue
                entered = parse_play(text, self._position, dice)
            except AcepointError as error:
                print(error)
                continue
            if self._confirmed(entered):
                return entered
        return None

    def _confirmed(self, entered: Play) -> bool:
        """Show the board after the person's play and ask whether it stays."""
        print(f"\n{draw(entered.result.swapped(), ('you', 'Acepoint'))}\n")
        prompt = f"{entered}: Enter to finish the turn, u to take it back: "
        return _choose(prompt, {"": True, "y": True, "yes": True} | dict.fromkeys(UNDO, False))

    def _drawn(self) -> str:
        """The board as the person sees it, and the cube."""
        mine = self._match.on_roll == PERSON
        board = draw(self._position if mine else self._position.swapped(), ("you", "Acepoint"))
        if self._match.crawford or self._match.length == 1:
            return board
        owners = {None: "in the centre", PERSON: "yours", BOT: "Acepoint's"}
        return f"{board}\n Cube at {self._match.cube}, {owners[self._match.cube_owner]}."


def _shown(dice: Dice) -> str:
    return f"{max(dice)}-{min(dice)}"


def _choose(prompt: str, answers: dict[str, bool]) -> bool:
    """What an answer of the person means, asked for until it is one. Raises _LeaveError."""
    while True:
        text = _ask(prompt).lower()
        if text in answers:
            return answers[text]
        if text in QUIT:
            raise _LeaveError
        print(f"{text!r}: expected {', '.join(filter(None, answers))} or Enter")


def _ask(prompt: str) -> str:
    """A line from the person, stripped. Raises _LeaveError at the end of the input."""
    try:
        return input(prompt).strip()
    except EOFError:
        print()
        raise _LeaveError from None
