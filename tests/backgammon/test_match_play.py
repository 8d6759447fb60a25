"""What may be done in a match and what comes of it. Faults (B0..) are ones that others shipped."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.backgammon.dice import Opening
from engine.backgammon.ids import decode_match, decode_xgid, encode_match, encode_xgid
from engine.backgammon.match import (
    MAX_SCORE,
    Action,
    GameState,
    Match,
    Offer,
    act,
    legal_actions,
    play,
    points_at_stake,
    resign,
    roll,
    start,
)
from engine.backgammon.position import Position
from engine.backgammon.variants import BACKGAMMON
from engine.errors import PlayError, PositionError
from tests.backgammon import rules_strategies as strategies

FIRST, SECOND = Opening(0, (3, 1), 0), Opening(1, (3, 1), 0)
MONEY = Match(state=GameState.NONE)


def begun(match: Match, opening: Opening = FIRST) -> Match:
    """The game begun and its first roll played: the other player is on roll."""
    return play(start(match, opening))


def acted(match: Match, *actions: Action) -> Match:
    for action in actions:
        match = act(match, action)
    return match


def next_turn(match: Match) -> Match:
    return play(roll(match, (2, 1)))


def won_by(player: int, kind: int, match: Match) -> Match:
    """The next game, won by that player with the cube where `match` has it."""
    match = begun(match)
    while match.on_roll != player:
        match = next_turn(match)
    return play(roll(match, (6, 5)), kind)


def doubled_game_won_by(player: int, kind: int, match: Match) -> Match:
    match = begun(match)
    while match.on_roll != player:
        match = next_turn(match)
    match = next_turn(next_turn(acted(match, Action.DOUBLE, Action.TAKE)))
    return play(roll(match, (6, 5)), kind)


def can_double(match: Match) -> bool:
    return Action.DOUBLE in legal_actions(begun(match))


def test_the_example_of_the_rules_replays():
    """Match to 5: 2-0, 2-1, 4-1, 4-2 in the Crawford game, 4-4, 6-4."""
    match = Match(length=5, state=GameState.NONE)
    games = [
        (won_by, 0, 2, (2, 0)),
        (won_by, 1, 1, (2, 1)),
        (doubled_game_won_by, 0, 1, (4, 1)),
        (won_by, 1, 1, (4, 2)),
        (doubled_game_won_by, 1, 1, (4, 4)),
        (doubled_game_won_by, 0, 1, (6, 4)),
    ]
    doubling_allowed = []
    for win, player, kind, score in games:
        assert match.winner is None
        doubling_allowed.append(can_double(match))
        match = win(player, kind, match)
        assert match.score == score

    assert doubling_allowed == [True, True, True, False, True, True]
    assert match.winner == 0
    assert match.away == (0, 1)
    assert legal_actions(match) == ()


def test_a_turn_is_double_or_roll_and_then_play():
    match = start(MONEY, FIRST)
    assert (match.on_roll, match.turn, match.dice) == (0, 0, (3, 1))
    assert legal_actions(match) == (Action.PLAY, Action.RESIGN)

    match = play(match)
    assert (match.on_roll, match.turn, match.dice) == (1, 1, None)
    assert legal_actions(match) == (Action.ROLL, Action.DOUBLE, Action.RESIGN)

    match = roll(match, (6, 6))
    assert match.dice == (6, 6)
    assert legal_actions(match) == (Action.PLAY, Action.RESIGN)


def test_who_takes_a_double_owns_the_cube():
    offered = act(begun(MONEY), Action.DOUBLE)
    assert (offered.on_roll, offered.turn, offered.cube) == (1, 0, 1)
    assert legal_actions(offered) == (Action.TAKE, Action.PASS)

    taken = act(offered, Action.TAKE)
    assert (taken.cube, taken.cube_owner, taken.turn) == (2, 0, 1)
    assert legal_actions(taken) == (Action.ROLL, Action.RESIGN)
    assert Action.DOUBLE in legal_actions(next_turn(taken))


def test_who_passes_loses_what_was_at_stake_before_the_double():
    """Faults B067 and B070: the old value of the cube, and no offer left."""
    assert acted(begun(MONEY), Action.DOUBLE, Action.PASS).score == (0, 1)
    redoubled = act(next_turn(acted(begun(MONEY), Action.DOUBLE, Action.TAKE)), Action.DOUBLE)
    passed = act(redoubled, Action.PASS)

    assert passed.score == (2, 0)
    assert passed.state == GameState.DROPPED
    assert (passed.offer, passed.cube, passed.cube_owner) == (Offer.NONE, 1, None)
    assert legal_actions(passed) == (Action.START,)


def test_beaver_raccoon_and_who_owns_the_cube():
    """Fault B066: the cube at 4 is the beaverer's."""
    doubled = act(begun(replace(MONEY, beavers=True)), Action.DOUBLE)
    assert legal_actions(doubled) == (Action.TAKE, Action.PASS, Action.BEAVER)

    beavered = act(doubled, Action.BEAVER)
    assert beavered.turn == beavered.on_roll == 1
    assert legal_actions(beavered) == (Action.TAKE, Action.PASS, Action.RACCOON)
    accepted = act(beavered, Action.TAKE)
    assert (accepted.cube, accepted.cube_owner, accepted.turn) == (4, 0, 1)
    assert act(beavered, Action.PASS).score == (2, 0)

    raccooned = act(beavered, Action.RACCOON)
    assert legal_actions(raccooned) == (Action.TAKE, Action.PASS)
    accepted = act(raccooned, Action.TAKE)
    assert (accepted.cube, accepted.cube_owner, accepted.turn) == (8, 0, 1)
    assert act(raccooned, Action.PASS).score == (0, 4)


@pytest.mark.parametrize("match", [MONEY, Match(length=7, beavers=True, state=GameState.NONE)])
def test_no_beavers_unless_agreed_and_never_in_a_match(match):
    doubled = act(begun(match), Action.DOUBLE)
    with pytest.raises(PlayError, match=r"^beaver: beavers are not played; expected take or pass$"):
        act(doubled, Action.BEAVER)


def test_the_cube_stops_at_its_limit():
    at_limit = begun(replace(MONEY, beavers=True, max_cube_exponent=2))
    doubled = act(at_limit, Action.DOUBLE)
    assert act(acted(doubled, Action.BEAVER), Action.TAKE).cube == 4
    with pytest.raises(PlayError, match="raccoon: the cube stops at 4"):
        acted(doubled, Action.BEAVER, Action.RACCOON)
    redoubled = acted(next_turn(act(doubled, Action.TAKE)), Action.DOUBLE, Action.TAKE)
    with pytest.raises(PlayError, match="double: the cube stops at 4; expected roll or resign"):
        act(next_turn(redoubled), Action.DOUBLE)


@pytest.mark.parametrize(
    ("match", "reason"),
    [
        (replace(Match(), cube=2, cube_owner=0), "the opponent owns the cube"),
        (Match(length=5, score=(4, 2), crawford=True), "this is the Crawford game"),
        (Match(length=1), "a match to 1 has no cube"),
    ],
)
def test_why_a_double_is_not_allowed_is_said(match, reason):
    assert Action.DOUBLE not in legal_actions(match)
    with pytest.raises(PlayError, match=f"^double: {reason}; expected roll or resign$"):
        act(match, Action.DOUBLE)


def test_a_dead_cube_may_be_turned():
    match = Match(length=3, score=(1, 2), on_roll=0, turn=0, cube=2, cube_owner=0)
    assert acted(match, Action.DOUBLE, Action.TAKE).cube == 4


@pytest.mark.parametrize("kind", [1, 2, 3])
def test_jacoby_counts_gammons_once_the_cube_is_turned(kind):
    jacoby = replace(MONEY, jacoby=True)
    assert won_by(0, kind, jacoby).score == (1, 0)
    assert won_by(0, kind, MONEY).score == (kind, 0)
    assert doubled_game_won_by(0, kind, jacoby).score == (2 * kind, 0)
    assert won_by(0, kind, Match(length=7, jacoby=True, state=GameState.NONE)).score == (kind, 0)


@pytest.mark.parametrize(("ties", "allowed", "cube"), [(0, 1, 1), (1, 0, 1), (3, 1, 2), (2, 5, 4)])
def test_automatic_doubles_as_many_as_agreed(ties, allowed, cube):
    opening = Opening(0, (6, 1), ties)
    match = start(replace(MONEY, automatic_doubles=allowed, jacoby=True), opening)

    assert (match.cube, match.cube_owner) == (cube, None)
    assert play(match, 2).score == (cube, 0)  # nobody has turned the cube: Jacoby holds
    assert start(Match(length=7, automatic_doubles=3, state=GameState.NONE), opening).cube == 1


@pytest.mark.parametrize("opening", [FIRST, SECOND])
def test_the_opening_says_who_starts(opening):
    assert start(MONEY, opening).turn == opening.first


def test_crawford_comes_once():
    match = won_by(0, 3, Match(length=4, state=GameState.NONE))
    assert match.crawford
    match = won_by(1, 1, match)
    assert (match.score, match.crawford) == ((3, 1), False)
    match = won_by(1, 2, match)
    assert (match.score, match.crawford) == ((3, 3), False)


def test_no_crawford_in_a_match_to_one():
    """Fault B044."""
    match = Match(length=1, state=GameState.NONE)
    assert not start(match, FIRST).crawford
    assert won_by(1, 3, match).winner == 1


def test_the_cube_is_centred_in_the_crawford_game():
    """Fault B045."""
    match = doubled_game_won_by(1, 1, Match(length=3, state=GameState.NONE))
    assert (match.crawford, match.cube, match.cube_owner) == (True, 1, None)


def test_a_match_goes_on_until_its_points_are_reached():
    """Fault B076: a resigned game decides the game only."""
    match = act(resign(begun(Match(length=5, state=GameState.NONE)), 1), Action.ACCEPT)
    assert (match.score, match.winner) == ((1, 0), None)
    assert legal_actions(match) == (Action.START,)


def test_gammons_are_doubled_too():
    """Fault B077: a gammon with the cube at 2 is 4 points."""
    assert points_at_stake(Match(cube=2, cube_owner=0), 2) == 4


@pytest.mark.parametrize("kind", [1, 2, 3])
def test_a_resignation_is_offered_and_accepted(kind):
    """Fault B087: with the cube at 4 a gammon is 8 points."""
    match = Match(cube=4, cube_owner=0)
    offered = resign(match, kind)
    assert (offered.turn, legal_actions(offered)) == (0, (Action.ACCEPT, Action.REFUSE))

    over = act(offered, Action.ACCEPT)
    assert (over.score, over.state) == ((4 * kind, 0), GameState.RESIGNED)


@pytest.mark.parametrize("match", [Match(), Match(dice=(5, 2)), Match(cube=2, cube_owner=0)])
def test_a_refused_resignation_changes_nothing(match):
    assert act(resign(match, 2), Action.REFUSE) == match


def test_a_resignation_of_another_kind_is_refused():
    with pytest.raises(PositionError, match="resignation 4: expected 1, 2 or 3"):
        resign(Match(), 4)


def test_nothing_is_done_out_of_turn():
    rolled = roll(Match(), (3, 1))
    for wrong in (
        lambda: start(rolled, FIRST),
        lambda: roll(rolled, (3, 1)),
        lambda: play(Match()),
        lambda: act(rolled, Action.DOUBLE),
        lambda: act(Match(), Action.TAKE),
        lambda: resign(act(Match(), Action.DOUBLE), 1),
        lambda: act(MONEY, Action.START),
    ):
        with pytest.raises(PlayError, match=r"^[a-z]+: .*expected [a-z]+"):
            wrong()


def test_the_score_of_a_session_stays_what_an_id_has_room_for():
    assert won_by(0, 3, replace(MONEY, score=(MAX_SCORE - 1, 0))).score == (MAX_SCORE, 0)


@st.composite
def beginnings(draw) -> Match:
    return Match(
        length=draw(st.sampled_from([0, 0, 1, 2, 3, 5, 7, 64])),
        jacoby=draw(st.booleans()),
        beavers=draw(st.booleans()),
        automatic_doubles=draw(st.integers(0, 15)),
        max_cube_exponent=draw(st.integers(0, 15)),
        state=GameState.NONE,
    )


def step(data: st.DataObject, match: Match) -> tuple[Action, Match]:
    """Any legal action of any state, and the state after it."""
    action = data.draw(st.sampled_from(legal_actions(match)))
    match action:
        case Action.START:
            first, ties = data.draw(st.integers(0, 1)), data.draw(st.integers(0, 20))
            return action, start(match, Opening(first, (5, 2), ties))
        case Action.ROLL:
            return action, roll(match, data.draw(strategies.dice))
        case Action.PLAY:
            return action, play(match, data.draw(st.sampled_from([0, 0, 1, 2, 3])))
        case Action.RESIGN:
            return action, resign(match, data.draw(st.integers(1, 3)))
    return action, act(match, action)


@settings(deadline=None)
@given(beginnings(), st.data())
def test_no_sequence_of_legal_actions_leads_anywhere_illegal(match, data):
    crawford_games = 0
    for _ in range(40):
        if not legal_actions(match):
            break
        before = match
        action, match = step(data, match)

        crawford_games += action == Action.START and match.crawford
        if before.state == GameState.PLAYING < match.state:
            assert max(match.score) == MAX_SCORE or sum(match.score) > sum(before.score)
        else:
            assert match.score == before.score
        assert match.cube <= 1 << match.max_cube_exponent
        if match.length == 1 or match.crawford:
            assert Action.DOUBLE not in legal_actions(match)
        assert_ids_round_trip(match)
    assert crawford_games <= (match.length > 1)
    assert (match.winner is None) == bool(legal_actions(match))


def assert_ids_round_trip(match: Match) -> None:
    money = match.length == 0
    told = replace(match, automatic_doubles=0, beavers=match.beavers and money)
    offer = Offer.DOUBLE if match.offer == Offer.RACCOON else match.offer
    assert decode_match(encode_match(match)) == replace(
        told, beavers=False, offer=offer, max_cube_exponent=10
    )
    if match.state == GameState.PLAYING and not match.resignation:
        board = Position.start().board
        told = replace(told, jacoby=match.jacoby and money)
        assert decode_xgid(encode_xgid(board, match), BACKGAMMON.checkers)[1] == told


@given(strategies.matches())
def test_every_match_of_an_id_has_something_to_do(match):
    for action in legal_actions(match):
        assert action not in (Action.ACCEPT, Action.REFUSE) or match.resignation
    assert legal_actions(match) or match.winner is not None


@given(strategies.matches(), st.sampled_from(Action))
def test_an_action_is_taken_exactly_when_it_is_legal(match, action):
    if action in (Action.START, Action.ROLL, Action.PLAY, Action.RESIGN):
        return
    if action in legal_actions(match):
        assert act(match, action) != match
    else:
        with pytest.raises(PlayError, match=r"^[^\n]+$"):
            act(match, action)
