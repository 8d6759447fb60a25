"""A session at the terminal: a scripted person against a scripted bot, with scripted dice."""

import builtins
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from engine.backgammon.dice import Opening
from engine.backgammon.match import GameState, Match
from engine.backgammon.plays import legal_plays
from engine.backgammon.variants import BACKGAMMON, Variant
from engine.cube.context import CubeContext
from engine.cube.decisions import CubeActions, decision_of
from engine.cube.equity import cube_equities
from engine.interfaces.terminal import Session

PERSON, BOT = 0, 1
MONEY = Match(state=GameState.NONE)

# Two checkers each, a roll or two from the end.
ENDING = Variant("ending", ((1, 1), (2, 1)))


class FirstPlayBot:
    """Makes the first legal play, thinks `double_take` of the doubles of either side, and `equity`
    of every play."""

    def __init__(
        self, double_take: float = 0.0, doubles: bool = False, equity: float = 0.0
    ) -> None:
        self.double_take, self.doubles, self.equity = double_take, doubles, equity
        self.matches: list[Match] = []

    def best(self, position, dice, match):
        self.matches.append(match)
        return legal_plays(position, dice)[0]

    def rank(self, position, dice, _match):
        plays = legal_plays(position, dice)
        return [SimpleNamespace(play=each, equity=self.equity) for each in plays]

    def cube(self, _position, match):
        context, values = CubeContext.of(match), np.array([[0.5, 0, 0, 0, 0]], np.float32)
        return decision_of(values, cube_equities(values, context), context)

    def cube_packed(self, _packed, _context):
        take = np.array([self.double_take])
        doubles = np.array([self.doubles])
        return CubeActions(0 * take, take, 0 * take + 1, doubles, take <= 1, take < 0)


class ScriptedRoller:
    def __init__(self, first: int, *rolls: tuple[int, int], ties: int = 0) -> None:
        self.first, self.rolls, self.ties, self.asked = first, list(rolls), ties, []

    def opening(self, first=None):
        self.asked.append(first)
        return Opening(self.first if first is None else first, self.roll(), self.ties)

    def roll(self):
        return self.rolls.pop(0) if self.rolls else (2, 1)


@pytest.fixture
def play(monkeypatch, capsys):
    """Runs a session on typed lines, and gives all that was printed."""

    def run(typed, roller, bot=None, variant=BACKGAMMON, alternate=False, match=MONEY):
        lines = iter(typed)

        def answer(prompt):
            print(prompt)
            try:
                return next(lines)
            except StopIteration:
                raise EOFError from None

        monkeypatch.setattr(builtins, "input", answer)
        shown = lambda ranking, _: print("HINT", *(c.play for c in ranking))  # noqa: E731
        Session(bot or FirstPlayBot(), variant, match, roller, alternate, shown).run()
        return capsys.readouterr().out

    return run


def test_a_play_in_any_notation_is_confirmed_and_answered(play):
    out = play(["6/5, 8/5", ""], ScriptedRoller(PERSON, (3, 1), (6, 4)))

    assert "You roll 3-1" in out
    assert "8/5 6/5: Enter to finish" in out
    assert "Acepoint rolls 6-4" in out


def test_a_play_can_be_taken_back(play):
    out = play(["8/4", "u", "8/5 6/5", ""], ScriptedRoller(PERSON, (3, 1)))

    assert "8/4: Enter to finish" in out
    assert out.index("8/4: Enter") < out.index("8/5 6/5: Enter") < out.index("Acepoint rolls")


@pytest.mark.parametrize("answer", ["U", "undo", "No"])
def test_a_play_is_taken_back_however_that_is_written(play, answer):
    out = play(["8/4", answer, "8/5 6/5", "Y"], ScriptedRoller(PERSON, (3, 1)))

    assert out.index("8/4: Enter") < out.index("8/5 6/5: Enter") < out.index("Acepoint rolls")


def test_an_answer_that_is_none_is_asked_for_again(play):
    out = play(["8/4", "take back", "quit"], ScriptedRoller(PERSON, (3, 1)))

    assert "'take back': expected y, yes, u, undo, n, no or Enter" in out
    assert out.count("8/4: Enter to finish") == 2
    assert "Acepoint rolls" not in out
    assert out.rstrip().endswith("Goodbye. Score: you 0, Acepoint 0.")


@pytest.mark.parametrize("answer", ["N", "no", "quit", "exit"])
def test_no_other_game_is_begun_after_a_no(play, answer):
    out = play(["2/off 1/off", "", answer], ScriptedRoller(PERSON), variant=ENDING)

    assert "Score: you 2, Acepoint 0." in out
    assert out.count("You roll") == 1


def test_an_illegal_play_is_refused_with_the_reason_and_asked_for_again(play):
    out = play(["8/2", "24/22", "8/5 6/5", ""], ScriptedRoller(PERSON, (3, 1)))

    assert out.count("You roll 3-1: ") == 3
    assert "8/2" in out
    assert "Acepoint rolls" in out


def test_hint_board_and_help(play):
    out = play(["hint", "board", "help"], ScriptedRoller(PERSON, (3, 1)))

    assert out.count("HINT") == 1
    assert len(out.partition("HINT")[2].splitlines()[0].split("/")) > 5
    assert out.count("+13-14-15") == 2
    assert out.count("give up a single game") == 2


def test_the_end_of_the_input_leaves_without_a_result(play):
    out = play([], ScriptedRoller(PERSON, (3, 1)))

    assert out.rstrip().endswith("Goodbye. Score: you 0, Acepoint 0.")


def test_a_game_is_counted_in_points(play):
    """Bearing off both checkers with 2-1 wins a gammon: the other side has borne off none."""
    won = play(["2/off 1/off", "", "quit"], ScriptedRoller(PERSON), variant=ENDING)
    lost = play(["n"], ScriptedRoller(BOT), variant=ENDING)

    assert "You win a gammon: 2 points." in won
    assert "Score: you 2, Acepoint 0." in won
    assert "Acepoint wins a gammon: 2 points." in lost
    assert "Score: you 0, Acepoint 2." in lost


def test_a_session_goes_on_until_no(play):
    typed = ["2/off 1/off", "", "y", "2/off 1/off", "", "n", "2/off 1/off"]
    out = play(typed, ScriptedRoller(PERSON), variant=ENDING)

    assert "Score: you 4, Acepoint 0." in out
    assert out.count("Another game?") == 2


def test_sides_start_by_turns_when_asked(play):
    roller = ScriptedRoller(PERSON)
    play(["2/off 1/off", "", "y", "y", "quit"], roller, variant=ENDING, alternate=True)

    assert roller.asked == [None, BOT, PERSON]


def test_nothing_to_play_is_said_and_passed(play):
    """Each side has a checker on the bar and holds all points of its board but the six-point."""
    closed = Variant("closed", ((25, 1), *((point, 2) for point in range(1, 6))))
    out = play([""], ScriptedRoller(PERSON, (3, 1), (5, 4), (6, 2)), variant=closed)

    assert "You roll 3-1 and cannot move." in out
    assert "Acepoint rolls 5-4: cannot move" in out
    assert "You roll 6-2: " in out


def test_the_only_play_needs_no_typing(play):
    last = Variant("last", ((1, 1),))
    out = play(["", "n"], ScriptedRoller(PERSON, (6, 5)), variant=last)

    assert "1/off is the only play" in out
    assert "You win a gammon" in out


@pytest.mark.parametrize(
    ("equity", "typed", "said", "points"),
    [
        (0.0, "resign", "Acepoint wins 1 point.", 1),
        (-1.2, "resign", "does not accept a single game: it hopes to win more", 0),
        (-1.2, "resign gammon", "Acepoint wins 2 points.", 2),
        (-2.1, "resign gammon", "does not accept a gammon: it hopes to win more", 0),
        (-9.0, "resign backgammon", "Acepoint wins 3 points.", 3),
        (0.0, "resign nothing", "resign 'nothing': expected single, gammon, backgammon", 0),
    ],
)
def test_a_resignation_is_accepted_when_it_is_worth_as_much(play, equity, typed, said, points):
    out = play([typed, "n"], ScriptedRoller(PERSON, (3, 1)), FirstPlayBot(equity=equity))

    assert said in out
    assert f"Score: you 0, Acepoint {points}." in out


def test_a_resignation_before_the_roll_is_judged_by_the_cube(play):
    out = play([*OPENED, "resign", "n"], ScriptedRoller(PERSON, (3, 1), (6, 4)))

    assert "Score: you 0, Acepoint 1." in out


def test_a_resignation_in_a_match_is_judged_by_what_the_points_are_worth(play):
    """At 2 away a gammon is the match, so all that anybody could lose."""
    match = Match(length=2, state=GameState.NONE)
    out = play(
        ["resign gammon"], ScriptedRoller(PERSON, (3, 1)), FirstPlayBot(equity=-9), match=match
    )

    assert out.rstrip().endswith("Acepoint wins the match.")


def test_a_refused_resignation_is_played_on_after(play):
    bot = FirstPlayBot(equity=-1.2)
    out = play(["resign", "8/5 6/5", ""], ScriptedRoller(PERSON, (3, 1), (6, 4)), bot)

    assert out.count("You roll 3-1: ") == 2
    assert "Acepoint rolls 6-4" in out


OPENED = ["8/5 6/5", ""]


@pytest.mark.parametrize(
    ("thinks", "said", "score"),
    [(0.2, "Acepoint takes.", 0), (1.2, "Acepoint passes.", 1), (-0.2, "Acepoint takes.", 0)],
)
def test_a_double_is_answered_by_the_bot(play, thinks, said, score):
    roller = ScriptedRoller(PERSON, (3, 1), (6, 4))
    out = play([*OPENED, "double", "n"], roller, FirstPlayBot(thinks))

    assert "roll or double? " in out
    assert said in out
    assert f"Score: you {score}, Acepoint 0." in out
    assert ("Cube at 2, Acepoint's." in out) == (score == 0)


@pytest.mark.parametrize(("thinks", "answer"), [(-0.1, "take"), (-1.2, "pass")])
def test_a_hint_says_how_to_answer_a_beaver(play, thinks, answer):
    rules = replace(MONEY, beavers=True)
    typed = [*OPENED, "double", "hint", "quit"]
    bot = FirstPlayBot(thinks)
    out = play(typed, ScriptedRoller(PERSON, (3, 1), (6, 4)), bot, match=rules)

    assert out.partition("take, pass or raccoon? ")[2].splitlines()[1] == answer


def test_a_beaver_can_be_raccooned_where_agreed(play):
    rules = replace(MONEY, beavers=True)
    typed = [*OPENED, "double", "raccoon"]
    out = play(typed, ScriptedRoller(PERSON, (3, 1), (6, 4)), FirstPlayBot(-0.1), match=rules)

    assert "Acepoint beavers: the cube would be at 4." in out
    assert "take, pass or raccoon? " in out
    assert "Acepoint takes." in out
    assert "Cube at 8, Acepoint's." in out


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["pass", "n"], "Acepoint wins 1 point.\nScore: you 0, Acepoint 1."),
        (["take"], "Cube at 2, yours."),
        (["beaver", "take"], "beaver: beavers are not played; expected take or pass"),
        (["roll", "take"], "roll: expected take or pass"),
        (["resign", "take"], "resign: expected take or pass"),
        (["8/5", "take"], "'8/5': expected take, pass, or help"),
        (["hint", "take"], "No double, take (no double"),
        (["quit"], "Goodbye."),
    ],
)
def test_a_double_of_the_bot_is_answered(play, typed, said):
    bot = FirstPlayBot(0.8, doubles=True)
    out = play([*OPENED, *typed], ScriptedRoller(PERSON, (3, 1), (6, 4)), bot)

    assert "Acepoint doubles to 2." in out
    assert "take or pass? " in out
    assert said in out


def test_who_does_not_own_the_cube_just_rolls(play):
    out = play(
        [*OPENED, "double"], ScriptedRoller(PERSON, (3, 1), (6, 4), (5, 2), (4, 2)), FirstPlayBot()
    )

    assert "Acepoint takes." in out
    assert "You roll 5-2: " in out
    assert out.count("roll or double? ") == 1


def test_a_match_is_played_to_its_end_with_one_crawford_game(play):
    """Bearing off with 2-1 wins a gammon: 2-0 in a match to 3, and then the Crawford game."""
    bot = FirstPlayBot()
    match = Match(length=3, state=GameState.NONE)
    won = ["2/off 1/off", ""]
    out = play([*won, *won], ScriptedRoller(PERSON), bot, variant=ENDING, match=match)

    assert "A match to 3 of ending" in out
    assert "Score: you 2, Acepoint 0 in a match to 3." in out
    assert out.count("The Crawford game: no doubling.") == 1
    assert out.rstrip().endswith("You win the match.")
    assert "Another game?" not in out


def test_no_cube_in_the_crawford_game(play):
    match = Match(length=3, score=(2, 0), crawford=True, state=GameState.NONE)
    bot = FirstPlayBot(0.8, doubles=True)
    out = play(OPENED, ScriptedRoller(PERSON, (3, 1), (6, 4), (5, 2)), bot, match=match)

    assert "You roll 5-2: " in out
    assert "double?" not in out
    assert "Cube at" not in out
    assert bot.matches[0].crawford and bot.matches[0].score == (2, 0)


def test_a_tied_opening_roll_doubles_where_agreed(play):
    roller = ScriptedRoller(PERSON, (3, 1), ties=2)
    out = play([], roller, match=replace(MONEY, automatic_doubles=1))

    assert "The opening roll was tied: the cube is at 2." in out
    assert "Cube at 2, in the centre." in out
