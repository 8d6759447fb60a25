import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from rules_strategies import dice as any_dice
from rules_strategies import positions

from engine.backgammon import reference
from engine.backgammon.board import BAR, OFF
from engine.backgammon.dice import ROLLS
from engine.backgammon.plays import Play, Step, legal_plays, plays_between
from engine.backgammon.position import Position, read_id
from engine.backgammon.variants import HYPERGAMMON, VARIANTS
from engine.errors import NotationError
from engine.kernels import movegen

GOLDEN = Path(__file__).parents[1] / "golden"


def rows(name):
    return [json.loads(line) for line in (GOLDEN / name).read_text().splitlines()]


def replayed(position: Position, play: Play) -> Position:
    """The position after making the steps of a play one after the other on a plain board."""
    mine, theirs = position.board.astype(int)
    for step in play.steps:
        mine[step.source] -= 1
        mine[step.target] += 1
        assert step.hit == (step.target != OFF and theirs[BAR - step.target] == 1)
        if step.hit:
            theirs[BAR - step.target] = 0
            theirs[BAR] += 1
    return Position(np.array([theirs, mine]), position.variant)


def test_golden_positions():
    for row in rows("legal_plays.jsonl"):
        position, _ = read_id(row["position"])
        plays = legal_plays(position, tuple(map(int, row["dice"])))
        assert sorted(play.result.id for play in plays) == sorted(row["results"])


@pytest.mark.parametrize("case", rows("legal_play_cases.jsonl"), ids=lambda case: case["id"])
def test_hard_cases(case):
    position, _ = read_id(case["position"])
    plays = legal_plays(position, tuple(case["dice"]))
    if case["count"] == 0:
        assert [(play.steps, play.result) for play in plays] == [((), position.swapped())]
        return
    assert len(plays) == case["count"]
    hits = {play.result.id: sum(step.hit for step in play.steps) for play in plays}
    assert {result: hits[result] for result in case["results"]} == case["results"]
    assert case.get("truncated") or len(case["results"]) == case["count"]


@pytest.mark.parametrize("fault", rows("play_faults.jsonl"), ids=lambda fault: fault["id"])
def test_faults_of_other_programs(fault):
    position, _ = read_id(fault["position"])
    plays = [str(play) for play in legal_plays(position, tuple(fault["dice"]))]
    assert len(plays) == fault["count"]
    assert set(fault["plays"]) <= set(plays)
    assert len(fault["plays"]) in (0, 1, 2, fault["count"])


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [
        ("backgammon", 447, 202_782),
        ("nackgammon", 547, 324_161),
        ("hypergammon", 195, 38_017),
    ],
)
def test_counts_of_results_after_one_and_two_rolls(name, first, second):
    start = movegen.pack(VARIANTS[name].start[None])
    after_one, _ = movegen.legal_results_all_rolls(start)
    after_two, offsets = movegen.legal_results_all_rolls(after_one)
    assert len(after_one) == first
    assert len(after_two) == offsets[-1, -1] == second


def test_distinct_positions_after_one_and_two_rolls():
    start = movegen.pack(VARIANTS["backgammon"].start[None])
    after_one, _ = movegen.legal_results_all_rolls(start)
    distinct = {board.tobytes(): board for board in after_one}
    assert len(distinct) == 406
    after_two, _ = movegen.legal_results_all_rolls(np.array(list(distinct.values())))
    assert len(after_two) == 183_632
    assert len({board.tobytes() for board in after_two}) == 163_706


def test_the_kernel_agrees_with_the_rules_on_played_positions(played_boards):
    generator = np.random.default_rng(3)
    for variant in VARIANTS.values():
        for board in played_boards(variant, 3000)[:: 3000 // 100]:
            position = Position(board, variant)
            agrees(position, ROLLS[generator.integers(len(ROLLS))])


@given(positions(), any_dice)
@settings(deadline=None, max_examples=150)
def test_the_kernel_agrees_with_the_rules_on_any_position(position, dice):
    agrees(position, dice)


def agrees(position: Position, dice: tuple[int, int]) -> None:
    """Both generators give the same results, and the steps of each play are legal and complete."""
    expected = reference.legal_results(position, dice)
    plays = legal_plays(position, dice)
    assert {play.result for play in plays} == expected
    assert len(plays) == len(expected)
    for play in plays:
        assert replayed(position, play) == play.result
    if plays:
        most = max(len(play.steps) for play in plays)
        assert all(len(play.steps) == most for play in plays)


@given(positions())
@settings(deadline=None, max_examples=30)
def test_all_rolls_at_once(position):
    packed = movegen.pack(position.board[None])
    results, offsets = movegen.legal_results_all_rolls(packed)
    for roll, dice in enumerate(ROLLS):
        one, _ = movegen.legal_results(packed, np.array([dice], np.int8))
        assert (results[offsets[0, roll] : offsets[0, roll + 1]] == one).all()


def test_results_are_seen_by_the_next_player():
    position = Position.start()
    play = next(play for play in legal_plays(position, (3, 1)) if str(play) == "8/5 6/5")
    assert play.result.id == "sGfwATDgc/ABMA"
    assert play.result.board[1, 5] == 2
    assert play.steps == (Step(8, 5, False), Step(6, 5, False))
    assert play.dice == (3, 1)


def test_both_orders_of_the_dice_give_the_same_plays():
    position = Position.start(HYPERGAMMON)
    assert [(play.steps, play.result) for play in legal_plays(position, (6, 2))] == [
        (play.steps, play.result) for play in legal_plays(position, (2, 6))
    ]


def test_nothing_legal_is_one_play_without_steps():
    position, _ = read_id("27YBADgAAAABAA")  # closed out
    (play,) = legal_plays(position, (3, 5))
    assert play.steps == ()
    assert play.result == position.swapped()
    assert str(play) == "cannot move"


# Fault B014: plays offered to a side that cannot be on turn.
def test_a_finished_game_has_no_plays():
    position, _ = read_id("AAAADgAAAAAAAA")
    assert position.swapped().is_over
    assert legal_plays(position, (3, 1)) == []
    assert legal_plays(position.swapped(), (3, 1)) == []


# Faults B138, B140: dice left over at the end, and all four steps of a double.
@pytest.mark.parametrize(
    ("checkers", "dice", "written"),
    [
        ({1: 1}, (2, 2), "1/off"),
        ({1: 3}, (1, 1), "1/off(3)"),
        ({1: 2}, (6, 5), "1/off(2)"),
        ({6: 1}, (6, 1), "6/5/off"),
        ({6: 1}, (5, 1), "6/off"),
        ({2: 2}, (1, 1), "2/off(2)"),
    ],
)
def test_the_last_checkers(checkers, dice, written):
    board = np.zeros((2, 26), int)
    for point, count in checkers.items():
        board[0, point] = count
    board[0, OFF] = 15 - board[0].sum()
    board[1, 1] = 15
    (play,) = legal_plays(Position(board), dice)
    assert str(play) == written
    assert play.result.is_over
    assert play.result.outcome_points == -2


# Fault B021: entering with the 1 must leave the 6.
# Fault B158: once the bar is empty other checkers may move.
def test_entering_uses_one_die_and_frees_the_other():
    position, _ = read_id("4HPwATDgc/ABUA")
    plays = [str(play) for play in legal_plays(position, (6, 1))]
    assert all(written.startswith("bar/24 ") or written == "bar/18" for written in plays)
    assert "bar/24 13/7" in plays


# Fault B155: after either play a checker is off, so that no gammon can be lost.
def test_bearing_off_saves_the_gammon():
    position, _ = read_id("YEYF4TnO7w4AAA")
    plays = {str(play): play.result for play in legal_plays(position, (5, 4))}
    assert plays["5/off 4/off"].board[1, OFF] == position.board[0, OFF] + 2
    assert plays["6/2 5/off"].board[1, OFF] == position.board[0, OFF] + 1


def test_plays_between_positions_and_results():
    position, other = Position.start(), read_id("4HPwATDgc/ABUA")[0]
    packed = movegen.pack(np.array([position.board, other.board]))
    dice = [(3, 1), (6, 1)]
    results, offsets = movegen.legal_results(packed, np.array(dice, np.int8))
    chosen = results[offsets[:-1] + 2]
    first, second = plays_between([position, other], dice, chosen)
    assert first == legal_plays(position, (3, 1))[2]
    assert second == legal_plays(other, (6, 1))[2]


@pytest.mark.parametrize("dice", [(0, 1), (7, 1), (3,), (3, 1, 1), (1.5, 2)])
def test_what_is_no_roll_is_refused(dice):
    with pytest.raises(NotationError, match="expected two numbers from 1 to 6"):
        legal_plays(Position.start(), dice)
