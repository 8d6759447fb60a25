"""Verdicts in the words that players use, what errors cost, and decisions that others published."""

import json
from pathlib import Path

import numpy as np
import pytest
from cube_strategies import contexts, probabilities
from hypothesis import given
from hypothesis import strategies as st

from engine.backgammon.position import read_id
from engine.cube.context import CubeContext, Owner
from engine.cube.decisions import (
    NOT_AVAILABLE,
    CubeDecision,
    actions_of,
    cube_actions,
    decision_of,
)
from engine.cube.equity import CONTACT, CubeEquities, Timing, cube_equities, timing
from engine.kernels.movegen import pack
from engine.records.decisions import read_cube_decisions, score_cube

GOLDEN = Path(__file__).parents[1] / "golden"
DECISIONS = GOLDEN / "cube_decisions.jsonl"
SOME = np.array([0.6, 0.1, 0, 0.1, 0], np.float32)
MONEY = CubeContext()
OWNED = CubeContext(owner=Owner.ME)
BEAVERS = CubeContext(beavers=True)


def cube_decision(values, context, when=CONTACT):
    """The cube decision of one position, float32[5] for the player on roll."""
    return decision_of(values[None], cube_equities(values[None], context, when), context)


def decided(no_double, take, context=MONEY, passed=1.0):
    beaver = 2 * take if context.beavers else take
    return CubeDecision(context, SOME, no_double, take, passed, beaver)


VERDICTS = {
    "No double, take": decided(0.5, 0.4),
    "No redouble, take": decided(0.5, 0.4, OWNED),
    "Double, take": decided(0.5, 0.7),
    "Redouble, take": decided(0.5, 0.7, OWNED),
    "Double, pass": decided(0.9, 1.2),
    "Redouble, pass": decided(0.9, 1.2, OWNED),
    "Too good to double, pass": decided(1.1, 1.5),
    "Too good to redouble, pass": decided(1.1, 1.5, OWNED),
    "Too good to double, take": decided(1.1, 0.9),
    "Optional double, take": decided(0.6, 0.6),
    "Optional redouble, pass": decided(1.0, 1.3, OWNED),
    "No double, beaver": decided(-0.1, -0.2, BEAVERS),
    "Double, beaver": decided(-0.5, -0.2, BEAVERS),  # Kauder's paradox
    "Optional double, beaver": decided(-0.4, -0.2, BEAVERS),
}


@pytest.mark.parametrize("words", VERDICTS)
def test_verdicts(words):
    decision = VERDICTS[words]

    assert decision.action == words
    assert decision.doubles == words.startswith(("Double", "Redouble"))
    assert decision.takes == words.endswith(("take", "beaver"))
    assert decision.beavers == words.endswith("beaver")
    assert decision.too_good == words.startswith("Too good")
    assert decision.optional == words.startswith("Optional")


@pytest.mark.parametrize(
    "context",
    [
        CubeContext(owner=Owner.OPPONENT),
        CubeContext((2, 1), in_play=False),
        CubeContext(in_play=False),
    ],
)
def test_a_player_without_the_cube_cannot_double(context):
    decision = cube_decision(SOME, context)

    assert decision.action == NOT_AVAILABLE
    assert not decision.doubles
    assert decision.errors == {"no double": 0}


@pytest.mark.parametrize("away", [(2, 2), (1, 1), (1, 5), (2, 7)])
def test_a_dead_cube_is_not_turned(away):
    decision = cube_decision(SOME, CubeContext(away, cube=2))

    assert decision.action.startswith("No double, ")
    assert not decision.optional


def test_with_many_gammons_a_favourite_is_too_good_to_double():
    """Unless gammons do not count before the cube is turned."""
    gammonish = np.array([0.85, 0.6, 0.05, 0.02, 0], np.float32)

    assert cube_decision(gammonish, MONEY).action == "Too good to double, pass"
    assert cube_decision(gammonish, CubeContext(jacoby=True)).action == "Double, pass"


def test_errors_are_what_each_choice_costs_its_side():
    double, pass_, beaver = decided(0.5, 0.7), decided(0.9, 1.2), decided(-0.1, -0.2, BEAVERS)

    assert double.errors == pytest.approx({"no double": 0.2, "double": 0, "take": 0, "pass": 0.3})
    assert pass_.errors == pytest.approx({"no double": 0.1, "double": 0, "take": 0.2, "pass": 0})
    assert beaver.errors == pytest.approx(
        {"no double": 0, "double": 0.3, "take": 0.2, "pass": 1.4, "beaver": 0}
    )


def test_a_beaver_that_is_wrong_is_raccooned():
    assert decided(0.2, 0.3, BEAVERS).raccoons
    assert not decided(-0.1, -0.2, BEAVERS).raccoons
    assert not decided(0.2, 0.3).raccoons


@pytest.mark.parametrize(("win", "beavers"), [(0.45, True), (0.55, False)])
def test_a_beaver_is_right_for_the_favourite(win, beavers):
    """At the last roll, say: nobody turns the cube again."""
    values = np.array([win, 0, 0, 0, 0], np.float32)
    decision = cube_decision(values, BEAVERS, Timing(0.0, 0.0))

    assert decision.beavers == beavers
    assert decision.double_beaver == pytest.approx(2 * decision.double_take)
    assert decision.double_take == pytest.approx(2 * (2 * win - 1))


@given(probabilities(), st.lists(contexts(), min_size=1, max_size=5), st.floats(0, 1))
def test_a_batch_decides_as_one_by_one(values, asked, ready):
    rows = np.repeat(values[None], len(asked), axis=0)
    actions = cube_actions(rows, asked, Timing(ready, 0.0))

    for number, context in enumerate(asked):
        decision = cube_decision(values, context, Timing(ready, 0.0))
        assert tuple(column[number] for column in actions) == (
            decision.no_double,
            decision.double_take,
            decision.double_pass,
            decision.doubles,
            decision.takes,
            decision.beavers,
        )
        assert all(error >= 0 for error in decision.errors.values())
        assert decision.action.split(", ")[-1] in {"take", "pass", "beaver", NOT_AVAILABLE}
        assert not decision.beavers or context.is_money


# Decisions of real matches, analysed by GNU Backgammon at 4-ply


def golden():
    for line in DECISIONS.read_text().splitlines():
        yield json.loads(line)


def test_the_verdict_on_published_equities_is_the_published_one():
    """But where three decimals do not tell which of two choices is better."""
    told = 0
    for row in golden():
        _, match = read_id(f"{row['position']}:{row['match']}")
        no_double, take, passed = (
            row[name] for name in ("no_double", "double_take", "double_pass")
        )
        gaps = abs(no_double - min(take, passed)), abs(take - passed), abs(no_double - passed)
        if min(gaps) < 0.002 and not row["proper"].startswith("Optional"):
            continue
        decision = CubeDecision(CubeContext.of(match), SOME, no_double, take, passed, take)
        assert decision.action == row["proper"].partition(" (")[0], row
        told += 1
    assert told > 250


def test_the_cube_model_loses_little_with_published_probabilities():
    """At most 0.0016 is lost by doubling and 0.0008 by taking, given exact probabilities."""
    decisions = read_cube_decisions(DECISIONS)
    actions = cube_actions(decisions.probabilities, decisions.contexts, timing(decisions.packed))
    score = score_cube(decisions, actions)

    assert score.decisions == 300
    assert score.double_loss < 0.003
    assert score.take_loss < 0.0008


# Rollouts that others published, with the five probabilities of the rollout.

ROLLOUTS = {
    "XGID=-ABBBBBa-----Ba----cBb--h-:0:0:1:00:4:0:0:7:10": (
        (0.7431, 0.2606, 0.0096, 0.0266, 0.0001),
        "Double, take",
    ),
    "tm0BBByz7wYAAA:UQmgAAAAEAAA": ((0.816, 0.436, 0.017, 0, 0), "No redouble, take"),
}


@pytest.mark.parametrize("text", ROLLOUTS)
def test_published_rollouts(text):
    values, verdict = ROLLOUTS[text]
    position, match = read_id(text)
    when = timing(pack(position.board[None]))
    decision = cube_decision(np.array(values, np.float32), CubeContext.of(match), when)

    assert decision.action == verdict


@pytest.mark.parametrize(("gain", "doubles"), [(-0.01, False), (1e-15, False), (1e-6, True)])
def test_a_gain_that_is_rounding_is_no_reason_to_double(gain, doubles):
    decision = decided(0.3, 0.3 + gain)
    equities = CubeEquities(*np.array([[0.3], [0.3 + gain], [1.0], [0.3 + gain]]))

    assert decision.doubles == doubles
    assert list(actions_of(equities, MONEY).doubles) == [doubles]
