"""The cube model: published formulas and facts, and what must hold at every score and cube."""

from dataclasses import replace

import numpy as np
import pytest
from cube_strategies import contexts, matches, money, probabilities
from hypothesis import example, given
from hypothesis import strategies as st

from engine.backgammon.match import Match
from engine.cube.context import CubeContext, Owner, cubes_of
from engine.cube.equity import (
    Timing,
    best_equities,
    cube_equities,
    gammon_prices,
    market,
)
from engine.cube.met import load_table
from engine.evaluation import outcome
from engine.kernels.cubeful import BOTH_SIDES, ONE_SIDE

DEAD, LIVE = 0.0, 1 / ONE_SIDE  # readiness that makes the efficiency of an owned cube 0 or 1
LEADER_AND_TRAILER = [(1, away) for away in range(2, 12)]


def chances(win, gammon=0.0, backgammon=0.0, lost_gammon=0.0, lost_backgammon=0.0):
    return np.array([win, gammon, backgammon, lost_gammon, lost_backgammon], np.float32)


def equity(values, context=None, ready=1.0):
    """The equities of the cube actions of one position."""
    equities = cube_equities(values[None], context or CubeContext(), Timing(ready, 0.0))
    return type(equities)(*(float(each[0]) for each in equities))


def value(values, context, ready=1.0):
    equities = cube_equities(values[None], context, Timing(ready, 0.0))
    return float(best_equities(equities, context)[0])


# Janowski 1993, "Take-Points in Money Games": with W and L the mean points of a win and a loss,
# TP(x) = (L - 0.5) / (W + L + 0.5 x), CP(x) = (L + 0.5 + 0.5 x) / (W + L + 0.5 x).


@pytest.mark.parametrize(
    ("efficiency", "take_point", "cash_point"),
    [(0, 0.25, 0.75), (1, 0.2, 0.8), (2 / 3, 0.2142857, 0.7857143)],
)
def test_take_and_cash_points_without_gammons(efficiency, take_point, cash_point):
    points = market(chances(0.6), CubeContext(), Timing(efficiency / ONE_SIDE, 0.0))

    assert points.cash_point == pytest.approx(cash_point, abs=1e-5)
    assert 1 - points.cash_point == pytest.approx(take_point, abs=1e-5)


@given(st.floats(0, 0.9), st.floats(0, 0.9), st.floats(0, 1))
def test_the_take_point_is_janowskis_with_any_gammons_and_efficiency(won, lost, efficiency):
    """The taker's W is the doubler's L: he sees the gammon shares the other way round."""
    points = market(
        chances(0.5, won / 2, 0, lost / 2), CubeContext(), Timing(efficiency / ONE_SIDE, 0.0)
    )
    taker_wins, taker_loses = 1 + lost, 1 + won
    expected = (taker_loses - 0.5) / (taker_wins + taker_loses + 0.5 * efficiency)

    assert 1 - points.cash_point == pytest.approx(expected, abs=1e-6)


def test_a_live_cube_is_cashed_at_four_fifths_and_worth_a_half_to_its_owner():
    """Keeler and Spencer 1975: with a live cube and no gammons the owner of a 1-cube has p/0.8."""
    owned = CubeContext(owner=Owner.ME)

    assert equity(chances(0.8), owned, LIVE).no_double == pytest.approx(1, abs=1e-5)
    assert equity(chances(0.4), owned, LIVE).no_double == pytest.approx(0, abs=1e-5)


def test_a_cube_at_13_away_13_away():
    """Owning a 4-cube, 76.10 % and no gammons: no double .809; the dead take point is 24.8 %."""
    context = CubeContext((13, 13), 4, Owner.ME)

    assert equity(chances(0.761), context).no_double == pytest.approx(0.809, abs=0.005)
    points = market(chances(0.761), context, Timing(DEAD, 0.0))
    assert points.cash_point == pytest.approx(1 - 0.248, abs=0.001)


@given(probabilities(), matches())
def test_at_double_match_point_equity_is_twice_the_wins_less_one(values, context):
    """To the last digit; gammons and the cube are worth nothing."""
    equities = equity(values, replace(context, away=(1, 1)))

    assert equities.no_double == 2 * float(values[0]) - 1
    assert equities.double_take == equities.no_double


@given(probabilities(), st.floats(0, 1))
def test_a_last_cube_is_worth_the_same_however_it_is_timed(values, ready):
    """Both sides 2 away with the cube at 2: the game is the match."""
    context = CubeContext((2, 2), 2, Owner.ME)

    assert value(values, context, ready) == 2 * float(values[0]) - 1


@given(probabilities(), contexts())
def test_without_the_cube_equity_is_cubeless(values, context):
    equities = equity(values, context.without_cube())

    if context.is_money and not (context.jacoby and context.owner == Owner.CENTRE):
        assert equities.no_double == pytest.approx(float(outcome.equity(values)), abs=1e-5)
    won = equity(chances(1), context.without_cube()).no_double
    assert won == pytest.approx(1)


@given(probabilities(), contexts(), st.floats(0, 1))
@example(chances(0), CubeContext(), 1.0)
@example(chances(1, 1, 1), CubeContext(), 1.0)
@example(chances(1), CubeContext(jacoby=True), 1.0)
@example(chances(0, 0, 0, 1, 1), CubeContext((1, 64), 32768, Owner.OPPONENT), 0.0)
def test_no_equity_is_beyond_the_points_that_can_be_had(values, context, ready):
    """Finite at p exactly 0 and 1, in 0..1 as a match-winning chance, money within 3 points."""
    equities = equity(values, context, ready)

    assert np.isfinite(equities).all()
    assert np.isfinite(value(values, context, ready))
    if context.is_money:
        assert abs(equities.no_double) <= 3 + 1e-6
        assert abs(equities.double_take) <= 6 + 1e-6
        assert equities.double_pass == 1
    else:
        mwc = [context.mwc(each) for each in (*equities, value(values, context, ready))]
        assert min(mwc) >= -1e-9
        assert max(mwc) <= 1 + 1e-9


@given(probabilities(), contexts(), st.floats(0, 1))
def test_the_sides_have_opposite_equities(values, context, ready):
    """A cube that stays where it is: but for doubles that cannot lose, which come at a turn."""
    mine = equity(values, context, ready).no_double
    theirs = equity(outcome.flip(values), context.flipped(), ready).no_double

    if context.is_money or not (_cannot_lose(context) or _cannot_lose(context.flipped())):
        assert mine == pytest.approx(-theirs, abs=2e-5)
    assert context.flipped().flipped() == context


def _cannot_lose(context):
    """Whether the player on roll has nothing to lose by doubling, for gammon shares that occur."""
    return context.may_double and 3 * context.cube >= context.away[1]


@given(
    probabilities(), contexts(), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1), st.floats(0, 1)
)
def test_more_wins_are_worth_more(values, context, ready, win, other, gammons):
    """With the same gammon shares, whatever is done with the cube."""
    rows = np.array([chances(p, p * gammons, 0, (1 - p) * gammons) for p in sorted((win, other))])
    equities = cube_equities(rows, context, Timing(ready, 0.0))

    for each in (*equities, best_equities(equities, context)):
        assert each[0] <= each[1] + 1e-5


@given(probabilities(), contexts(), st.floats(0, 1))
def test_access_to_the_cube_is_never_a_loss(values, context, ready):
    """Owning it is worth at least as much as the opponent's owning it, and in money as none.

    In matches without gammons: where they win the match already, the live cube is turned at the
    other's take point although holding it would bring its owner more.
    """
    context = replace(context, jacoby=False, in_play=True)
    values = values if context.is_money else chances(float(values[0]))
    owned, centred, theirs = (
        equity(values, replace(context, owner=owner), LIVE * min(ready, ONE_SIDE)).no_double
        for owner in (Owner.ME, Owner.CENTRE, Owner.OPPONENT)
    )

    assert owned >= theirs - 1e-6
    if context.is_money:
        assert owned >= equity(values, context.without_cube()).no_double - 1e-6 >= theirs - 2e-6
        assert np.isfinite(centred)


@given(probabilities(), money())
def test_under_jacoby_a_centred_cube_is_worth_no_more_than_a_point(values, context):
    centred = replace(context, jacoby=True, owner=Owner.CENTRE)
    without_gammons = chances(float(values[0]))

    assert abs(equity(values, centred).no_double) <= 1 + 1e-6
    assert equity(values, replace(centred, in_play=False)).no_double == pytest.approx(
        float(outcome.equity(without_gammons)), abs=1e-5
    )


def test_above_the_cash_point_jacoby_leaves_nothing_to_play_on_for():
    gammonish = chances(0.85, 0.6, 0.05, 0.02)

    assert equity(gammonish).no_double > 1
    assert equity(gammonish, CubeContext(jacoby=True)).no_double <= 1


# Gammons at the score


@pytest.mark.parametrize(
    ("context", "mine", "theirs"),
    [
        (CubeContext(), 0.5, 0.5),
        (CubeContext(cube=4, owner=Owner.ME), 0.5, 0.5),
        (CubeContext(jacoby=True), 0, 0),
        (CubeContext(jacoby=True, owner=Owner.OPPONENT), 0.5, 0.5),
        (CubeContext((1, 1)), 0, 0),  # double match point
        (CubeContext((1, 2), in_play=False), 0, 1),  # only the trailer's gammon is the match
        (CubeContext((2, 1), in_play=False), 1, 0),
        (CubeContext((2, 1), cube=2), 0, 0),  # and with the cube turned the game is
        (CubeContext((2, 2), cube=2), 0, 0),
        (CubeContext((3, 3), cube=2), 0.497, 0.497),  # (1 - .75076) / (.75076 - .24924)
    ],
    ids=str,
)
def test_what_a_gammon_is_worth_to_each_side(context, mine, theirs):
    assert gammon_prices(context) == pytest.approx((mine, theirs), abs=1e-4)
    assert gammon_prices(context.flipped()) == pytest.approx((theirs, mine), abs=1e-4)


# After the Crawford game


@pytest.mark.parametrize("away", LEADER_AND_TRAILER)
def test_a_gammon_of_the_leader_has_no_price(away):
    """Nor has one of the trailer for the leader at 1 away: only the trailer's count."""
    plain, gammons = chances(0.6, 0, 0, 0.1), chances(0.6, 0.3, 0.1, 0.1)

    for in_play in (True, False):
        leader = CubeContext(away, in_play=in_play)
        assert equity(plain, leader) == equity(gammons, leader)
        trailer = leader.flipped()
        seen = [equity(outcome.flip(each), trailer).no_double for each in (plain, gammons)]
        assert seen[0] == seen[1]


@pytest.mark.parametrize("away", LEADER_AND_TRAILER)
@given(win=st.floats(0.02, 0.98), gammon=st.floats(0, 0.5))
def test_after_the_crawford_game_the_trailer_doubles_unless_gammons_are_worth_more(
    away, win, gammon
):
    trailer = CubeContext(away[::-1])
    equities = equity(chances(win, win * gammon), trailer)

    assert equities.double_take >= equities.no_double - 1e-9
    assert min(equities.double_take, 1) > equities.no_double or equities.no_double > 1 - 1e-9


@pytest.mark.parametrize(("needed", "free"), [(2, True), (3, False), (4, True), (5, False)])
def test_the_leader_has_a_free_drop_when_the_trailer_needs_an_even_number(needed, free):
    """He then passes as soon as he is a little behind; otherwise a pass costs him a game."""
    points = market(chances(0.5, 0.12, 0, 0.12), CubeContext((needed, 1)))

    assert (points.cash_point < 0.55) == free


def test_the_next_game_after_the_crawford_game_is_looked_up_after_it():
    """A pass at 4 away leaves the trailer 3 away: 0.32264 after, 0.24924 in the Crawford game."""
    trailer = CubeContext((4, 1))
    table = load_table()

    assert trailer.mwc(1.0) == pytest.approx(table.post[3])
    assert CubeContext((4, 1), in_play=False).mwc(1.0) == pytest.approx(table.post[3])
    assert CubeContext((4, 2)).mwc(1.0) == pytest.approx(table.pre[3, 2])
    assert CubeContext((2, 4)).mwc(1.0) == pytest.approx(table.pre[1, 4])


def test_a_taker_redoubles_at_once_when_he_risks_nothing_by_it():
    """A double to 4 at 4 away against 7: the taker, who loses the match with the game, makes it 8.

    He passes to 2 away against 7, and wins the match with a win at 8: his take point is his chance
    at that score. With a dead 4-cube he would need twice as much.
    """
    table = load_table()
    points = market(chances(0.6), CubeContext((4, 7), 2, Owner.ME))

    assert 1 - points.cash_point == pytest.approx(table.pre[7, 2], abs=1e-4)


# What else other programs got wrong


@given(probabilities(), st.lists(contexts(), min_size=1, max_size=6))
def test_what_was_asked_before_changes_nothing(values, asked):
    """Money and match, cube here and there, in one batch as alone."""
    rows = np.repeat(values[None], len(asked), axis=0)
    together = np.array(cube_equities(rows, asked))

    for number, context in enumerate(asked):
        assert tuple(together[:, number]) == equity(values, context)


def test_the_efficiency_of_the_centred_cube_is_that_of_both_sides():
    dead, normal, live = (
        equity(chances(0.6), CubeContext(), ready).no_double for ready in (0, 1, 1 / BOTH_SIDES)
    )

    assert (normal - dead) / (live - dead) == pytest.approx(BOTH_SIDES)


def test_a_cube_that_may_be_turned_once_is_dead_when_it_has_been():
    """As an XGID with a highest cube of 2 has it: a double is worth twice the cubeless equity."""
    once, values = CubeContext(turns_left=1), chances(0.6, 0.1, 0, 0.05)
    without = 2 * 0.6 - 1 + 0.1 - 0.05

    found = equity(values, once)

    assert found.double_take == pytest.approx(2 * without)
    assert found.no_double > without
    assert not once.turned().may_double and not once.turned().flipped().may_double
    assert equity(values, once.turned()).no_double == pytest.approx(without)


@pytest.mark.parametrize("left", [2, 3, 4])
def test_the_more_often_the_cube_may_be_turned_the_nearer_it_is_to_one_without_limit(left):
    for owner in Owner:
        found, before, unlimited = (
            equity(chances(0.62, 0.2), CubeContext(owner=owner, turns_left=turns))
            for turns in (left, left - 1, None)
        )
        for one, less, most in zip(found, before, unlimited, strict=True):
            assert abs(one - most) <= abs(less - most) + 1e-9


@pytest.mark.parametrize(
    ("cube", "highest", "left"),
    [(16, 10, None), (64, 10, 4), (512, 10, 1), (1024, 10, 0), (1, 1, 1), (1, 5, None)],
)
def test_a_limit_counts_where_it_is_near(cube, highest, left):
    """Far from it the exact equities of bearoffs, which know no limit, hold."""
    context = CubeContext.of(Match(cube=cube, cube_owner=1, max_cube_exponent=highest))

    assert context.turns_left == left
    assert context.may_double == (left != 0)
    assert cubes_of([context]).endless[0] == (left is None)
