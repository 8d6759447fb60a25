import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rules_strategies import dice as any_dice
from rules_strategies import positions

from engine.backgammon.dice import ROLLS
from engine.backgammon.notation import parse_play
from engine.backgammon.plays import legal_plays
from engine.backgammon.position import Position, read_id
from engine.backgammon.variants import VARIANTS
from engine.errors import AcepointError, NotationError, PlayError

START = "4HPwATDgc/ABMA"
ON_THE_BAR = "4HPwATDgc/ABUA"


def parse(text: str, position_id: str = START, dice: tuple[int, int] = (3, 1)) -> str:
    position, _ = read_id(position_id)
    return str(parse_play(text, position, dice))


@pytest.mark.parametrize(
    "text",
    ["8/5 6/5", "6/5 8/5", "8/5,6/5", "8/5, 6/5", "  8/5   6/5 ", "8/5(1) 6/5", "8/5 (1) 6/5"],
)
def test_common_forms_of_one_play(text):
    assert parse(text) == "8/5 6/5"


@pytest.mark.parametrize(
    ("text", "position_id", "dice", "written"),
    [
        ("13/10/9", START, (3, 1), "13/9"),
        ("13/9", START, (3, 1), "13/9"),
        ("13/10 10/9", START, (3, 1), "13/9"),
        ("13/11/5", START, (6, 2), "13/5"),
        ("13/5", START, (6, 2), "13/5"),
        ("24/18/15", START, (6, 3), "24/15"),  # fault B017
        ("8/4 6/4", START, (4, 2), "8/4 6/4"),
        ("13/11(2) 6/4(2)", START, (2, 2), "13/11(2) 6/4(2)"),
        ("13/7(2) 24/18(2)", START, (6, 6), "24/18(2) 13/7(2)"),
        ("13/5(2)", START, (4, 4), "13/5(2)"),
        ("13/9/5 13/9/5", START, (4, 4), "13/5(2)"),
        ("bar/21 24/23", ON_THE_BAR, (4, 1), "bar/21 24/23"),
        ("Bar/21 24/23", ON_THE_BAR, (4, 1), "bar/21 24/23"),
        ("BAR/20", ON_THE_BAR, (4, 1), "bar/20"),
        ("25/21, 24/23", ON_THE_BAR, (4, 1), "bar/21 24/23"),
        ("25/21/20", ON_THE_BAR, (4, 1), "bar/20"),
        ("6/5/off", "4P8PAAAgAAAAAA", (6, 1), "6/5/off"),
        ("6/off", "4P8PAAAgAAAAAA", (6, 1), "6/5/off"),
        ("6/0", "4P8PAAAgAAAAAA", (6, 1), "6/5/off"),
        ("4/OFF 3/0", "MAAAYAEAAAAAAA", (6, 5), "4/off 3/off"),
        ("13/7*/5", "4HPiQSCwZ/ABMA", (6, 2), "13/7*/5"),
        ("bar/21*", "LAAAADgAgAEAAA", (3, 4), "bar/21*"),
        ("bar/21", "LAAAADgAgAEAAA", (3, 4), "bar/21*"),
        ("24/18*/13*", "tm1BAAAAADAAAA", (6, 5), "24/18*/13*"),
        ("24/13", "tm1BAAAAADAAAA", (6, 5), "24/18*/13*"),
        ("24/18/13*", "tm1BAAAAADAAAA", (6, 5), "24/18*/13*"),
        ("24/18* 18/13*", "tm1BAAAAADAAAA", (6, 5), "24/18*/13*"),
        ("7/1* 4/3", "/+YAASD+2xQAAA", (1, 6), "7/1* 4/3"),
        ("5/2 3/off(2) 2/off", "MyZwmwDeBAAAAA", (3, 3), "5/off 3/off(2)"),
        ("bar/22*/19 6/3(2)", "BAbAAJgBAAQAAA", (3, 3), "bar/22*/19 6/3(2)"),
        ("bar/24(4)", "4PsAAHwAAID9fw", (1, 1), "bar/24(4)"),
        ("8/2 24/22", "8N4ZAAbg/xMAIA", (6, 2), "24/22 8/2"),  # fault B001
    ],
)
def test_forms_and_how_they_are_printed(text, position_id, dice, written):
    assert parse(text, position_id, dice) == written


@pytest.mark.parametrize("text", ["", "cannot move", "Cannot Move", "no play", "pass"])
def test_the_play_that_moves_nothing(text):
    assert parse(text, "tm1gAAAAADAAAA", (5, 3)) == "cannot move"
    with pytest.raises(PlayError, match="nobody may pass while a play is legal"):
        parse(text)


# Fault B027: texts refused for want of a hit mark or of a word for the die that cannot be played.
def test_hit_marks_and_unplayable_dice_need_not_be_written():
    position, _ = read_id("LAAAADgAgAEAAA")
    assert str(parse_play("Bar/21", position, (3, 4))) == "bar/21*"
    with pytest.raises(PlayError):
        parse_play("Bar/21/18", position, (3, 4))


def blots_on_the_way() -> Position:
    """A checker on 13 that can reach 10 over a blot on 12 or an empty 11."""
    board = np.zeros((2, 26), int)
    board[0, [13, 1]] = 1, 14
    board[1, [13, 1]] = 1, 14
    return Position(board)


def test_the_marks_choose_the_way():
    position = blots_on_the_way()
    assert str(parse_play("13/10", position, (2, 1))) == "13/10"
    assert str(parse_play("13/12*/10", position, (2, 1))) == "13/12*/10"
    assert str(parse_play("13/12/10", position, (2, 1))) == "13/12*/10"
    assert str(parse_play("13/11/10", position, (2, 1))) == "13/10"


def test_an_ambiguous_play_is_refused():
    board = blots_on_the_way().board.astype(int)
    board[1, [14, 1]] = 1, 13
    with pytest.raises(PlayError, match=r"ambiguous: 13/11\*/10 or 13/12\*/10"):
        parse_play("13/10", Position(board), (2, 1))


@pytest.mark.parametrize(
    ("text", "position_id", "dice", "reason"),
    [
        ("8/5", START, (3, 1), "the 1 is left unplayed, and both dice can be played"),
        ("6/5", START, (3, 1), "the 3 is left unplayed"),
        ("17/16", "bB6mIwDvBQACAA", (1, 4), "the 4 is left unplayed"),  # fault B005
        ("bar/21", "G5SBBD62GwAAAg", (6, 4), "only one die can be played, and it must be the 6"),
        ("13/11(3)", START, (2, 2), "3 steps, and 4 can be made"),
        ("15/13 9/7 6/4", "BgAAICIiAAAAAA", (2, 2), "3 steps, and 4 can be made"),  # fault B009
        ("13/11(4) 6/4", START, (2, 2), "5 steps are written, and the dice give 4"),
        ("8/7 6/5 13/10", START, (3, 1), "3 steps are written, and the dice give 2"),
        ("8/5(2)", START, (3, 1), "the dice do not make these steps together"),
        ("8/6 6/4", START, (3, 1), "the dice do not make the 2 pips from 8 to 6"),
        ("13/8", START, (3, 1), "the dice do not make the 5 pips from 13 to 8"),
        ("6/off", START, (6, 5), "no checker may be borne off while one is on 24"),
        ("24/19 13/7", START, (6, 5), "point 19 is blocked"),
        ("18/7", START, (6, 5), "there is no checker on 18"),
        ("13/1", START, (6, 6), "point 1 is blocked"),
        ("9/6 8/7", START, (3, 1), "there is no checker on 9"),
        ("25/22 8/7", START, (3, 1), "there is no checker on the bar"),
        ("8/5 6/5", ON_THE_BAR, (3, 1), "the checker on the bar must enter first"),
        ("bar/19 8/5", ON_THE_BAR, (6, 3), "point 19 is blocked"),
        (
            "3/off",
            "MAAAYAEAAAAAAA",
            (6, 5),
            "the 6 may not bear off from 3 while a checker is on 4",
        ),
        ("8/5* 6/5", START, (3, 1), r"5\* marks a hit, but no checker is hit there"),
        ("8/5", "tm1gAAAAADAAAA", (5, 3), "nothing can be moved"),
        ("8/5", "AAAADgAAAAAAAA", (3, 1), "the game is over"),
    ],
)
def test_illegal_plays_are_refused_with_the_reason(text, position_id, dice, reason):
    with pytest.raises(PlayError, match=reason) as refusal:
        parse(text, position_id, dice)
    assert repr(text) in str(refusal.value)


NO_PLAYS = """
x 8 8/ /5 8/5/ 5/8 8/8 8//5 8/5(0) 8/5(5) 8/5() (2) 26/25 0/off 13*/8 6/off* 8/5** 8-5 bar/bar off/5
٨/5 8/5) -1/2
"""


@pytest.mark.parametrize("text", NO_PLAYS.split())
def test_what_is_no_play_is_refused(text):
    with pytest.raises(NotationError, match="expected"):
        parse(text)


# Fault B130: the same step applied twice.
def test_a_checker_cannot_move_twice_from_where_it_no_longer_is():
    with pytest.raises(PlayError):
        parse("24/21(3)", START, (3, 3))


def test_every_play_reads_back_from_its_own_text(played_boards):
    generator = np.random.default_rng(4)
    for variant in VARIANTS.values():
        for board in played_boards(variant, 2000)[:: 2000 // 40]:
            position = Position(board, variant)
            dice = ROLLS[generator.integers(len(ROLLS))]
            for play in legal_plays(position, dice)[:30]:
                assert parse_play(str(play), position, dice) == play


@given(positions(), any_dice, st.data())
@settings(deadline=None, max_examples=150)
def test_any_play_reads_back_with_or_without_its_marks(position, dice, data):
    plays = legal_plays(position, dice)
    if not plays:
        return
    play = data.draw(st.sampled_from(plays))
    assert parse_play(str(play), position, dice) == play
    unmarked = [f"{step.source}/{step.target}" for step in play.steps]
    assert parse_play(" ".join(unmarked), position, dice) == play
    marked = [text + "*" * step.hit for text, step in zip(unmarked, play.steps, strict=True)]
    assert parse_play(",".join(marked), position, dice) == play


@given(st.text("0123456789/*()barof ,", max_size=24), positions(), any_dice)
@settings(deadline=None, max_examples=200)
def test_any_text_is_a_legal_play_or_refused(text, position, dice):
    try:
        play = parse_play(text, position, dice)
    except AcepointError:
        return
    assert play in legal_plays(position, dice)


@given(
    st.lists(st.tuples(st.integers(0, 25), st.integers(0, 25)), min_size=1, max_size=4),
    positions(),
    any_dice,
)
@settings(deadline=None, max_examples=200)
def test_any_steps_are_a_legal_play_or_refused(steps, position, dice):
    text = " ".join(f"{source}/{target}" for source, target in steps)
    try:
        play = parse_play(text, position, dice)
    except AcepointError:
        return
    assert play in legal_plays(position, dice)
