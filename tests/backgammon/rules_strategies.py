"""Hypothesis strategies for boards and matches."""

import numpy as np
from hypothesis import strategies as st

from engine.backgammon.board import BAR, COLUMNS, OFF
from engine.backgammon.dice import ROLLS
from engine.backgammon.match import GameState, Match, Offer
from engine.backgammon.position import Position
from engine.backgammon.variants import VARIANTS, Variant

dice = st.one_of(st.sampled_from(ROLLS), st.tuples(st.integers(1, 6), st.integers(1, 6)))


@st.composite
def positions(draw: st.DrawFn, variant: Variant | None = None) -> Position:
    """Any possible position, likely or not: checkers anywhere, many on the bar or borne off."""
    variant = variant or draw(st.sampled_from(list(VARIANTS.values())))
    highest = draw(st.sampled_from([6, 12, 24, BAR]))
    column = st.integers(OFF, highest)
    board = np.zeros((2, COLUMNS), np.int64)
    for row in board:
        for place in draw(st.lists(column, min_size=variant.checkers, max_size=variant.checkers)):
            row[place] += 1
    for point in range(1, BAR):
        if board[0, point] and board[1, BAR - point]:  # it cannot be both's: off with the opponent
            board[1, OFF] += board[1, BAR - point]
            board[1, BAR - point] = 0
    for row in board:
        if not row[OFF + 1 :].any():
            row[OFF] -= 1
            row[BAR] += 1
    return Position(board, variant)


@st.composite
def matches(draw: st.DrawFn) -> Match:
    """Any match or money session that may come up."""
    length = draw(st.one_of(st.just(0), st.integers(1, 64)))
    top = length - 1 if length else 40
    score = draw(st.tuples(st.integers(0, top), st.integers(0, top)))
    near, far = sorted(length - points for points in score)
    crawford = length > 0 and near == 1 < far and draw(st.booleans())
    on_roll = draw(st.integers(0, 1))
    offers = [Offer.NONE]
    if not crawford and length != 1:
        offers += [Offer.DOUBLE] if length else [Offer.DOUBLE, Offer.BEAVER, Offer.RACCOON]
    offer = draw(st.sampled_from(offers))
    owners = [None] if crawford else [None, on_roll] if offer else [None, 0, 1]
    return Match(
        length=length,
        score=score,
        cube=1 if crawford else 1 << draw(st.integers(0, 14 if offer else 15)),
        cube_owner=draw(st.sampled_from(owners)),
        on_roll=on_roll,
        turn=1 - on_roll if offer in (Offer.DOUBLE, Offer.RACCOON) else on_roll,
        crawford=crawford,
        jacoby=draw(st.booleans()),
        beavers=length == 0 and draw(st.booleans()),
        dice=None if offer else draw(st.one_of(st.none(), dice)),
        offer=offer,
        resignation=draw(st.integers(0, 3)) if not offer else 0,
        state=GameState.PLAYING if offer else draw(st.sampled_from(GameState)),
        max_cube_exponent=draw(st.integers(0, 15)),
    )
