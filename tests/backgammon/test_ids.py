import contextlib
import csv
import itertools
import string
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rules_strategies import matches, positions

from engine.backgammon.ids import (
    decode_match,
    decode_position,
    decode_positions,
    decode_xgid,
    encode_match,
    encode_position,
    encode_positions,
    encode_xgid,
)
from engine.backgammon.match import GameState, Match, Offer
from engine.backgammon.position import Position, match_id, read_id
from engine.backgammon.variants import BACKGAMMON, HYPERGAMMON, VARIANTS
from engine.errors import PositionError

GOLDEN = Path(__file__).parents[1] / "golden"
PAIRS = list(csv.DictReader((GOLDEN / "id_pairs.csv").read_text().splitlines()))
START = "4HPwATDgc/ABMA"


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair["gnubg_id"])
def test_the_same_position_as_xgid_and_gnubg_id(pair):
    xgid, gnubg_id = pair["xgid"], pair["gnubg_id"]
    position, match = read_id(xgid)
    assert position.xgid(match) == xgid
    assert f"{position.id}:{match_id(match)}" == gnubg_id
    same_position, same_match = read_id(gnubg_id)
    assert same_position == position
    assert f"{same_position.id}:{match_id(same_match)}" == gnubg_id


def test_the_starts():
    assert encode_position(BACKGAMMON.start) == START
    assert encode_position(HYPERGAMMON.start) == "AACgAgAAKgAAAA"
    assert (decode_position("AACgAgAAKgAAAA", 3) == HYPERGAMMON.start).all()


# Fault B030: the halves swapped and the bar on the wrong side, hidden at the symmetric start.
def test_the_opponent_comes_first_and_the_player_on_roll_second():
    board = decode_position("4HPwATDgc/ABUA", 15)
    assert (board[0] != BACKGAMMON.start[0]).nonzero()[0].tolist() == [24, 25]
    assert board[0, 25] == 1
    assert (board[1] == BACKGAMMON.start[1]).all()


# Fault B031: an ID made from a fixed colour instead of the player on roll.
def test_the_other_side_on_roll_has_another_id():
    position = Position(decode_position("4HPwATDgc/ABUA", 15))
    assert position.swapped().id == "4HPwAVDgc/ABMA"


# Fault B144: an XGID read with colours and places swapped.
def test_checkers_of_an_xgid_stand_where_they_should():
    position, match = read_id("XGID=-aa---EBB---dDa--c-e----B-:0:0:1:16:0:0:3:0:8")
    mine, theirs = position.board
    assert {point: int(mine[point]) for point in mine.nonzero()[0]} == {
        6: 5,
        7: 2,
        8: 2,
        13: 4,
        24: 2,
    }
    assert int(theirs[24]) == 1
    assert position.pips == (160, 164)
    assert match.dice == (1, 6)
    assert (match.jacoby, match.beavers) == (True, True)


# Fault B033: scores and cube owner swapped when the top player is on roll.
def test_the_top_player_on_roll():
    _, match = read_id("XGID=-BDB-------------a------e-:1:-1:-1:42:0:0:0:5:8")
    assert (match.on_roll, match.length, match.cube, match.cube_owner) == (0, 5, 2, 0)
    position, match = read_id("XGID=-b----E-C---eE---c-e----B-:0:0:-1:00:4:1:0:7:10")
    assert match.score == (1, 4)
    assert match.away == (6, 3)
    assert position.xgid(match).endswith(":0:0:-1:00:4:1:0:7:10")


# Fault B035: a centred cube with the top player on roll.
def test_a_centred_cube_stays_centred():
    _, match = read_id("XGID=-b----E-C---eE---c-e----B-:0:0:-1:00:0:0:0:7:10")
    assert match.cube_owner is None


# Fault B041: the cube owner ignored.
def test_the_cube_owner_of_an_xgid():
    _, match = read_id("XGID=--CBCBC------B--b--cabbcb-:1:1:1:21:0:0:0:0:8")
    assert (match.cube, match.cube_owner, match.on_roll, match.dice) == (2, 1, 1, (2, 1))


# Fault B038: old match IDs have no Jacoby bit.
def test_old_match_ids_differ_in_jacoby_only():
    old, new = decode_match("cAkAAAAAAAAA"), decode_match("cAkAAAAAAAAE")
    assert (old.jacoby, new.jacoby) == (True, False)
    assert encode_match(old) == "cAkAAAAAAAAA"
    assert encode_match(new) == "cAkAAAAAAAAE"


@pytest.mark.parametrize(
    ("dice_field", "offer", "turn"),
    [("D", Offer.DOUBLE, 0), ("B", Offer.BEAVER, 1), ("R", Offer.RACCOON, 0)],
)
def test_offers_in_an_xgid(dice_field, offer, turn):
    text = f"XGID=-b----E-C---eE---c-e----B-:0:0:1:{dice_field}:0:0:2:0:10"
    position, match = read_id(text)
    assert (match.offer, match.turn, match.on_roll) == (offer, turn, 1)
    assert position.xgid(match) == text


def test_a_double_and_a_resignation_in_a_match_id():
    doubled = decode_match("cBGgABAAEAAE")
    assert (doubled.offer, doubled.on_roll, doubled.turn) == (Offer.DOUBLE, 1, 0)
    resigning = Match(length=3, resignation=2, turn=0)
    assert decode_match(encode_match(resigning)) == resigning
    over = Match(length=3, score=(3, 1), state=GameState.OVER)
    assert decode_match(encode_match(over)) == over


def test_a_hundred_thousand_positions(played_boards):
    boards = np.concatenate([played_boards(BACKGAMMON, 100_000), boards_from_anywhere(20_000)])
    texts = encode_positions(boards)
    assert (decode_positions(texts, BACKGAMMON.checkers) == boards).all()
    assert len(set(texts)) == len(np.unique(boards.reshape(len(boards), -1), axis=0))


def boards_from_anywhere(count: int) -> np.ndarray:
    """int8[N, 2, 26] boards with the checkers of either side on points that are its own."""
    generator = np.random.default_rng(5)
    side_of_point = generator.integers(0, 2, (count, 24))
    boards = np.zeros((count, 2, 26), np.int8)
    for row, own in enumerate((side_of_point == 0, (side_of_point == 1)[:, ::-1])):
        chances = np.concatenate([np.ones((count, 1)), own, np.ones((count, 1))], axis=1)
        boards[:, row] = generator.multinomial(15, chances / chances.sum(1, keepdims=True))
    return boards[boards[:, :, 1:].any(axis=(1, 2))]


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=lambda variant: variant.name)
def test_xgids_of_played_positions(variant, played_boards):
    for on_roll, board in zip(itertools.cycle((0, 1)), played_boards(variant, 3000)):
        match = Match(length=7, score=(3, 5), dice=(5, 2), on_roll=on_roll, turn=on_roll)
        same_board, same_match = decode_xgid(encode_xgid(board, match), variant.checkers)
        assert (same_board == board).all()
        assert same_match == match


@given(positions(), matches())
@settings(deadline=None, max_examples=200)
def test_any_position_and_match_come_back(position, match):
    checkers = position.variant.checkers
    assert (decode_position(position.id, checkers) == position.board).all()
    assert read_id(position.id, position.variant) == (position, None)
    text = f"{position.id}:{match_id(match)}"
    same_position, same_match = read_id(text, position.variant)
    assert same_position == position
    assert f"{same_position.id}:{match_id(same_match)}" == text
    xgid = position.xgid(match)
    same_position, same_match = read_id(xgid, position.variant)
    assert same_position == position
    assert same_position.xgid(same_match) == xgid


@given(matches())
@settings(deadline=None, max_examples=200)
def test_a_match_id_keeps_every_field_it_has_room_for(match):
    same = decode_match(encode_match(match))
    for field in ("length", "score", "cube", "cube_owner", "on_roll", "turn", "crawford", "jacoby"):
        assert getattr(same, field) == getattr(match, field)
    for field in ("dice", "resignation", "state"):
        assert getattr(same, field) == getattr(match, field)
    assert bool(same.offer) == bool(match.offer)


BASE64 = st.sampled_from(string.ascii_letters + string.digits + "+/")


@given(positions(BACKGAMMON), st.integers(0, 13), BASE64)
@settings(deadline=None, max_examples=300)
def test_whatever_decodes_as_a_position_encodes_to_the_same_text(position, place, character):
    text = position.id[:place] + character + position.id[place + 1 :]
    with contextlib.suppress(PositionError):
        assert encode_position(decode_position(text, BACKGAMMON.checkers)) == text


@given(matches(), st.integers(0, 11), BASE64)
@settings(deadline=None, max_examples=300)
def test_whatever_decodes_as_a_match_encodes_to_the_same_text(match, place, character):
    text = match_id(match)
    text = text[:place] + character + text[place + 1 :]
    with contextlib.suppress(PositionError):
        assert encode_match(decode_match(text)) == text


@given(st.sampled_from(PAIRS), st.integers(0, 60), st.sampled_from("0123456789-:abABpP DRB"))
@settings(deadline=None, max_examples=500)
def test_whatever_decodes_as_an_xgid_encodes_to_the_same_text(pair, place, character):
    text = pair["xgid"][:place] + character + pair["xgid"][place + 1 :]
    try:
        position, match = read_id(text)
    except PositionError:
        return
    again = position.xgid(match) if match else position.id
    assert again == text.strip()


@given(st.text())
@settings(deadline=None, max_examples=100)
def test_any_other_text_is_refused_with_a_position_error(text):
    with pytest.raises(PositionError):
        read_id(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "expected a gnubg ID"),
        ("4HPwATDgc/ABM", "expected a gnubg ID"),
        ("4HPwATDgc/ABM:cAkAAAAAAAAE", "13 characters: expected 14"),
        ("4HPwATDgc/AB!A", "character '!'"),
        ("4HPwATDgc/ABäA", "character 'ä'"),
        ("4HPwATDgc/ABMB", "spare bits"),
        ("//8AAAAAAAAAAA", "the opponent has more than 15 checkers"),
        ("AAAA/v8BAAAAAA", "the player on roll has more than 15 checkers"),
        ("////////////Pw", "more than 15 checkers"),
        ("AAAAAAAAAAAAAI", "spare bits"),
        ("AAAAAAAAAAAAAA", "both sides cannot have borne off"),
        ("AAAEgAAAAAAAAA", "both sides have checkers on the same point"),
        ("cAkAAAAAAAAE", "expected a gnubg ID"),
        (f"{START}:", "match ID '': 0 characters: expected 12"),
        (f"{START}:cAkAAAAAAA", "match ID 'cAkAAAAAAA': 10 characters: expected 12"),
        (f"{START}:cAkAAAAAAA*E", r"character '\*'"),
        (f"{START}:YAkAAAAAAAAE", "cube owner 2"),
        (f"{START}:cA0AAAAAAAAE", "game state 5"),
        (f"{START}:cIkAAAAAAAAE", "dice"),
        (f"{START}:cAk/AAAAAAAE", "dice"),
        (f"{START}:cAkAAAAAAAAI", "spare bits"),
        (f"{START}:8AkAAAAAAAAE", "Crawford on"),
        (f"{START}:cAmgAFAAAAAE", "score of player 0 5"),
        (f"{START}:cAngDwAAAAAE", "match length 127"),
    ],
)
def test_malformed_gnubg_ids_are_refused_by_naming_the_part(text, reason):
    with pytest.raises(PositionError, match=reason):
        read_id(text)


CELLS = "-b----E-C---eE---c-e----B-"


def test_an_older_xgid_says_nothing_of_the_limit_of_the_cube():
    older, newer = (read_id(f"XGID={CELLS}:1:1:1:31:2:3:0:7{end}") for end in ("", ":10"))
    assert older == newer


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("XGID=", "1 fields: expected XGID= and 10"),
        (f"XGID={CELLS}:0:0:1:00:0:0:0", "8 fields"),
        (f"XGID {CELLS}:0:0:1:00:0:0:0:0:10", "31 characters: expected 14"),
        (f"XGID={CELLS}-:0:0:1:00:0:0:0:0:10", "position"),
        ("XGID=-b----E-C---eE---c-e----Q-:0:0:1:00:0:0:0:0:10", "position"),
        ("XGID=-b----E-C---eE---c-e----b-:0:0:1:00:0:0:0:0:10", "the top player has 17"),
        ("XGID=-b----E-C---eE---c-e----H-:0:0:1:00:0:0:0:0:10", "the bottom player has 21"),
        ("XGID=Ab----E-C---eE---c-e----A-:0:0:1:00:0:0:0:0:10", "bottom player's wrong bar"),
        ("XGID=-b----E-C---eE---c-e----Aa:0:0:1:00:0:0:0:0:10", "top player's wrong bar"),
        (f"XGID={'-' * 26}:0:0:1:00:0:0:0:0:10", "both sides"),
        (f"XGID={CELLS}:01:0:1:00:0:0:0:0:10", "cube '01'"),
        (f"XGID={CELLS}:16:0:1:00:0:0:0:0:10", "cube 65536"),
        (f"XGID={CELLS}:0:2:1:00:0:0:0:0:10", "cube owner '2'"),
        (f"XGID={CELLS}:0:0:0:00:0:0:0:0:10", "turn '0'"),
        (f"XGID={CELLS}:0:0:1:70:0:0:0:0:10", "dice '70'"),
        (f"XGID={CELLS}:0:0:1:03:0:0:0:0:10", "dice '03'"),
        (f"XGID={CELLS}:0:0:1:d:0:0:0:0:10", "dice 'd'"),
        (f"XGID={CELLS}:0:0:1:00:-1:0:0:0:10", "score of the bottom player '-1'"),
        (f"XGID={CELLS}:0:0:1:00:0:x:0:0:10", "score of the top player 'x'"),
        (f"XGID={CELLS}:0:0:1:00:7:0:0:5:10", "score of player 1 7"),
        (f"XGID={CELLS}:0:0:1:00:0:0:4:0:10", "Crawford/Jacoby '4'"),
        (f"XGID={CELLS}:0:0:1:00:0:0:2:5:10", "Crawford 2"),
        (f"XGID={CELLS}:0:0:1:00:0:0:1:5:10", "Crawford on"),
        (f"XGID={CELLS}:0:0:1:00:0:0:0:99:10", "match length 99"),
        (f"XGID={CELLS}:0:0:1:00:0:0:0:0:16", "maximum cube 16"),
        (f"XGID={CELLS}:0:0:1:B:0:0:0:5:10", "offer beaver"),
        (f"XGID={CELLS}:0:0:1:00:٠:0:0:0:10", "score of the bottom player"),
    ],
)
def test_malformed_xgids_are_refused_by_naming_the_field(text, reason):
    with pytest.raises(PositionError, match=reason):
        read_id(text)


def test_a_position_id_may_begin_like_an_xgid():
    position, match = read_id("XGIDAAAAAAAAAA")
    assert position.id == "XGIDAAAAAAAAAA"
    assert match is None


def test_the_variant_decides_how_many_checkers_are_too_many():
    with pytest.raises(PositionError, match="more than 3 checkers"):
        read_id(START, HYPERGAMMON)
