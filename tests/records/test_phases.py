"""Which phase a position is in, and what a score by phase adds up."""

import json

import numpy as np
import pytest

from engine.backgammon.board import OFF, swapped
from engine.backgammon.plays import legal_plays
from engine.backgammon.position import Position
from engine.backgammon.variants import BACKGAMMON, NACKGAMMON
from engine.evaluation import outcome
from engine.kernels.movegen import unpack
from engine.records.decisions import CheckerScore, read_checker_decisions
from engine.records.phases import PHASES, by_phase, phases_of


def board(on_roll: dict[int, int], opponent: dict[int, int]) -> np.ndarray:
    """int8[2, 26] from checkers by point, those that are missing to 15 borne off."""
    rows = np.zeros((2, 26), np.int8)
    for row, points in zip(rows, (on_roll, opponent), strict=True):
        row[list(points)] = list(points.values())
        row[OFF] = 15 - row.sum()
    return rows


PLAIN = {6: 5, 8: 3, 13: 5, 24: 2}
FIVE = {4: 2, 5: 2, 6: 2, 7: 2, 8: 2, 13: 5}
FOUR = {5: 2, 6: 2, 7: 2, 8: 2, 13: 7}
CASES = [
    (board({6: 3, 1: 2}, {6: 1}), "bearoff"),
    (board({6: 15}, {7: 1, 1: 3}), "race"),
    (board({18: 15}, {6: 15}), "race"),
    (board({1: 2, 6: 9}, {25: 1, 6: 9}), "late contact"),
    (board({6: 9, 5: 3, 4: 3}, {20: 2, 22: 2, 8: 5, 6: 6}), "late contact"),
    (board({22: 2, 20: 2, 6: 6, 8: 5}, PLAIN), "backgame"),
    (board({22: 2, 25: 2, 6: 6, 8: 5}, PLAIN), "backgame"),
    (board({22: 3, 18: 2, 6: 5, 8: 5}, {13: 7, 6: 5, 8: 3}), "contact"),
    (board(FIVE, {24: 1, 13: 6, 6: 8}), "prime"),
    (board(FIVE, {22: 1, 13: 6, 6: 8}), "prime"),
    (board(FIVE, {25: 1, 13: 6, 6: 8}), "prime"),
    (board(FIVE, {16: 1, 13: 6, 6: 8}), "contact"),
    (board(FOUR, {24: 1, 13: 6, 6: 8}), "contact"),
    (board({25: 1, 6: 6, 8: 3, 13: 5}, PLAIN), "bar"),
    (BACKGAMMON.start, "contact"),
    (NACKGAMMON.start, "backgame"),
]


@pytest.mark.parametrize(("rows", "phase"), CASES)
def test_phases(rows, phase):
    assert PHASES[phases_of(rows[None])[0]] == phase


@pytest.mark.parametrize(("rows", "phase"), CASES)
def test_a_phase_is_the_same_for_both_sides_but_for_the_bar(rows, phase):
    seen = PHASES[phases_of(swapped(rows)[None])[0]]
    assert seen == ("contact" if phase == "bar" else phase)


RACE = Position(board({6: 14, 8: 1}, {6: 15}))
START = Position.start()
GIVEN = [0.6, 0.2, 0.01, 0.1, 0.005]


def decision(position: Position, judged: int) -> dict[str, object]:
    """A decision with all its plays for candidates, the first so many of which have probabilities;
    every place in the list costs 0.01."""
    plays = legal_plays(position, (3, 1))
    candidates = [
        {"result": play.result.id, "equity": -0.01 * place, "ply": 4, "probs": GIVEN}
        for place, play in enumerate(plays)
    ]
    for candidate in candidates[judged:]:
        del candidate["probs"]
    return {"position": position.id, "dice": "31", "candidates": candidates}


@pytest.fixture
def decisions(tmp_path):
    lines = [decision(START, 3), decision(RACE, 0), decision(START, 1)]
    file = tmp_path / "d.jsonl"
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return read_checker_decisions(file)


def test_losses_and_errors_go_to_their_phase(decisions):
    asked = []

    def evaluate(results):
        """For the next player: to the mover 0.05 too much to win, and 0.02 too few gammons lost."""
        asked.append(results)
        off_by = np.array([0.05, 0, 0, -0.02, 0], np.float32)
        return outcome.flip(np.tile(np.array(GIVEN, np.float32) + off_by, (len(results), 1)))

    score = CheckerScore(np.array([0.02, 0.004, 0.0]), 0)
    race, contact, whole = by_phase(decisions, score, evaluate)

    (results,) = asked
    assert [place.tobytes() for place in results] == [
        decisions.results[row].tobytes()
        for row in (0, 1, 2, len(decisions.results) - len(legal_plays(START, (3, 1))))
    ]
    assert (race.phase, race.decisions, race.candidates) == ("race", 1, 0)
    assert race.pr == pytest.approx(2.0)
    assert (race.win, race.win_gammon, race.lose_gammon, race.equity) == (None,) * 4
    assert (contact.phase, contact.decisions, contact.candidates) == ("contact", 2, 4)
    assert contact.pr == pytest.approx(5.0)
    assert (whole.phase, whole.decisions, whole.candidates) == ("all", 3, 4)
    assert whole.pr == pytest.approx(score.pr) == pytest.approx(4.0)
    for row in (contact, whole):
        assert row.win == pytest.approx(0.05, abs=1e-6)
        assert row.win_gammon == pytest.approx(0, abs=1e-6)
        assert row.lose_gammon == pytest.approx(0.02, abs=1e-6)
        assert row.equity == pytest.approx(2 * 0.05 + 0.02, abs=1e-6)


def test_errors_to_both_sides_do_not_cancel(decisions):
    def evaluate(results):
        values = np.tile(np.array(GIVEN, np.float32), (len(results), 1))
        values[:, 0] += np.where(np.arange(len(results)) % 2, 0.1, -0.1)
        return outcome.flip(values)

    *_, whole = by_phase(decisions, CheckerScore(np.zeros(3), 0), evaluate)

    assert whole.win == pytest.approx(0.1, abs=1e-6)
    assert whole.equity == pytest.approx(0.2, abs=1e-6)


def test_a_result_that_ends_the_game_is_not_asked_for(tmp_path):
    last = Position(board({1: 1}, {6: 3}))
    line = decision(last, 1)
    file = tmp_path / "d.jsonl"
    file.write_text(json.dumps(line) + "\n")
    decisions = read_checker_decisions(file)
    assert (unpack(decisions.results)[:, 1, 1:] == 0).all()

    (bearoff, _) = by_phase(decisions, CheckerScore(np.zeros(1), 0), pytest.fail)

    assert (bearoff.phase, bearoff.candidates) == ("bearoff", 0)
