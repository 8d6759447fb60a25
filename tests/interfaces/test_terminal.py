"""A session at the terminal: a scripted person against a scripted bot, with scripted dice."""

import builtins
from types import SimpleNamespace

import pytest

from engine.backgammon.dice import Opening
from engine.backgammon.plays import legal_plays
from engine.backgammon.variants import BACKGAMMON, Variant
from engine.interfaces.terminal import Session

PERSON, BOT = 0, 1

# Two checkers each, a roll or two from the end.
ENDING = Variant("ending", ((1, 1), (2, 1)))


class FirstPlayBot:
    """Makes the first legal play, and expects `equity` for the side on roll."""

    def __init__(self, equity: float = 0.0) -> None:
        self.equity = equity

    def best(self, position, dice, context):
        return legal_plays(position, dice)[0]

    def rank(self, position, dice, context):
        return [SimpleNamespace(play=p, equity=self.equity) for p in legal_plays(position, dice)]


class ScriptedRoller:
    def __init__(self, first: int, *rolls: tuple[int, int]) -> None:
        self.first, self.rolls, self.asked = first, list(rolls), []

    def opening(self, first=None):
        self.asked.append(first)
        return Opening(self.first if first is None else first, self.roll(), 0)

    def roll(self):
        return self.rolls.pop(0) if self.rolls else (2, 1)


@pytest.fixture
def play(monkeypatch, capsys):
    """Runs a session on typed lines, and gives all that was printed."""

    def run(typed, roller, bot=None, variant=BACKGAMMON, alternate=False):
        lines = iter(typed)

        def answer(prompt):
            print(prompt)
            try:
                return next(lines)
            except StopIteration:
                raise EOFError from None

        monkeypatch.setattr(builtins, "input", answer)
        shown = lambda ranking: print("HINT", *(c.play for c in ranking))  # noqa: E731
        Session(bot or FirstPlayBot(), variant, roller, alternate, shown).run()
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

    assert "You win a gammon" in won
    assert "Score: you 2, Acepoint 0." in won
    assert "Acepoint wins a gammon" in lost
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
    out = play([], ScriptedRoller(PERSON, (3, 1), (5, 4), (6, 2)), variant=closed)

    assert "You roll 3-1 and cannot move." in out
    assert "Acepoint rolls 5-4: cannot move" in out
    assert "You roll 6-2: " in out


def test_the_only_play_needs_no_typing(play):
    last = Variant("last", ((1, 1),))
    out = play(["", "n"], ScriptedRoller(PERSON, (6, 5)), variant=last)

    assert "1/off is the only play" in out
    assert "You win a gammon" in out


@pytest.mark.parametrize(
    ("typed", "equity", "said"),
    [
        ("resign", -0.9, "Acepoint wins a single game."),
        ("resign", -1.1, "does not accept a single game"),
        ("resign gammon", -1.1, "Acepoint wins a gammon."),
        ("resign gammon", -2.1, "does not accept a gammon"),
        ("resign backgammon", -2.9, "Acepoint wins a backgammon."),
        ("resign nothing", 0.0, "resign 'nothing': expected single, gammon, backgammon"),
    ],
)
def test_a_resignation_is_accepted_when_it_offers_enough(play, typed, equity, said):
    out = play([typed, "n"], ScriptedRoller(PERSON, (3, 1)), FirstPlayBot(equity))

    assert said in out
    points = {"single": 1, "gammon": 2, "backgammon": 3}
    won = next((p for name, p in points.items() if f"wins a {name}" in out), 0)
    assert f"Score: you 0, Acepoint {won}." in out
