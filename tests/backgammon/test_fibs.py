import pytest
from hypothesis import given, settings
from rules_strategies import matches, positions

from engine.backgammon.fibs import FibsBoard, parse_fibs
from engine.backgammon.match import GameState, Match, Offer
from engine.backgammon.position import Position, read_id
from engine.errors import PositionError

# From the FIBS client protocol specification.
PUBLISHED = (
    "board:You:someplayer:3:0:0:0:-2:0:0:0:0:5:0:3:0:0:0:-5:5:0:0:0:-3:0:-5:0:0:0:0:2:0:"
    "1:6:2:0:0:1:1:1:0:1:-1:0:25:0:0:0:0:2:0:0:0"
)
FIELDS = PUBLISHED.split(":")


def with_field(index: int, value: object) -> str:
    return ":".join([*FIELDS[:index], str(value), *FIELDS[index + 1 :]])


def read(text: str) -> tuple[Position, Match]:
    position, match = read_id(text)
    assert match is not None
    return position, match


def test_the_published_example():
    position, match = read(PUBLISHED)
    assert position == Position.start()
    assert match == Match(length=3, dice=(6, 2))
    assert str(parse_fibs(PUBLISHED)) == PUBLISHED


def test_colours_and_directions_are_only_a_way_to_look_at_it():
    """Given the same position seen by the four kinds of player, the board is the same."""
    position, match = read_id("4HPwATDgc/ABUA:cImmAAAAAAAE")
    straight = FibsBoard.of(position.board, match)
    for colour in (1, -1):
        for direction in (1, -1):
            places = [colour * count for count in straight.places]
            seen = parse_fibs(str(straight).replace("board:You", "board:X"))
            fields = {name: getattr(seen, name) for name in seen.__slots__}
            fields |= {
                "places": tuple(places if direction == -1 else places[::-1]),
                "colour": colour,
                "turn": colour * straight.turn,
                "direction": direction,
                "home": 0 if direction == -1 else 25,
                "bar": 25 if direction == -1 else 0,
            }
            text = str(FibsBoard(**fields))
            assert read(text) == (position, match)
            assert str(parse_fibs(text)) == text


def test_the_opponent_on_roll():
    position, match = read_id("4HPwATDgc/ABUA:MIGmAAAAAAAE")
    assert match.on_roll == 0
    fibs = FibsBoard.of(position.board, match)
    assert fibs.turn == -1
    assert fibs.player_dice == (0, 0)
    assert fibs.opponent_on_bar == 1
    assert read(str(fibs)) == (position, match)


# Fault B040: match length 9999 is money.
def test_unlimited_matches_are_money():
    _, match = read(with_field(3, 9999))
    assert match.length == 0
    position, match = read(with_field(52, 2).replace(":3:0:0:0:-2", ":9999:4:0:0:-2"))
    assert (match.length, match.score, match.beavers) == (0, (0, 4), True)
    assert str(FibsBoard.of(position.board, match)).startswith("board:You:Opponent:9999:4:0:")


@pytest.mark.parametrize(
    ("scores", "last_fields", "crawford"),
    [
        ("2:0", "0:0", True),
        ("0:2", "0:0", True),
        ("2:0", "0:1", False),  # after the Crawford game
        ("2:0", "3:0", False),  # without the rule
        ("2:2", "0:0", False),
        ("1:1", "0:0", False),
    ],
)
def test_the_crawford_game(scores, last_fields, crawford):
    text = PUBLISHED.replace(":3:0:0:0:-2", f":3:{scores}:0:-2")[: -len("0:0")] + last_fields
    position, match = read(text)
    assert match.crawford == crawford
    assert read(str(FibsBoard.of(position.board, match))) == (position, match)


@pytest.mark.parametrize(
    ("cube", "turn", "flags", "owner", "offer"),
    [
        (1, 1, "1:1:0", None, Offer.NONE),
        (2, 1, "1:0:0", 1, Offer.NONE),
        (2, 1, "0:1:0", 0, Offer.NONE),
        (1, 1, "0:0:0", None, Offer.DOUBLE),  # so the doubler is told of his own double
        (2, 1, "0:0:0", 1, Offer.DOUBLE),
        (1, -1, "1:1:1", None, Offer.DOUBLE),
        (2, -1, "0:1:1", 0, Offer.DOUBLE),
        (2, -1, "0:0:1", 0, Offer.DOUBLE),
    ],
)
def test_the_cube(cube, turn, flags, owner, offer):
    text = PUBLISHED.replace(":1:6:2:0:0:1:1:1:0:", f":{turn}:0:0:0:0:{cube}:{flags}:")
    _, match = read(text)
    assert (match.cube, match.cube_owner, match.offer) == (cube, owner, offer)
    assert match.on_roll == (1 if turn == 1 else 0)
    assert match.turn == (match.on_roll if not offer else 1 - match.on_roll)
    assert str(parse_fibs(text)) == text


def test_a_match_to_one_point_has_no_cube_to_turn():
    text = with_field(3, 1).replace(":1:1:1:0:1:-1:", ":1:0:0:0:1:-1:")
    assert read(text)[1].offer == Offer.NONE


def test_the_game_is_over():
    _, match = read(with_field(32, 0).replace(":0:6:2:", ":0:0:0:"))
    assert match.state == GameState.OVER


def test_gnubg_writes_the_dice_twice_and_no_checkers_on_the_bar():
    position, match = read_id("4HPwATDgc/ABUA:cImmAAAAAAAE")
    text = str(FibsBoard.of(position.board, match))
    lax = text.replace(":1:3:1:0:0:", ":1:3:1:3:1:").replace(":0:0:1:0:0:0:0:0", ":0:0:0:0:0:0:0:0")
    assert lax != text
    assert read(lax) == (position, match)


@given(positions(), matches())
@settings(deadline=None, max_examples=200)
def test_any_position_and_match_come_back(position, match):
    text = str(FibsBoard.of(position.board, match, "Anna", ""))
    fibs = parse_fibs(text)
    assert str(fibs) == text
    assert (fibs.player, fibs.opponent) == ("Anna", "")
    if match.state != GameState.PLAYING:
        return
    same_position, same_match = read_id(text, position.variant)
    assert same_position == position
    same = {name: getattr(same_match, name) for name in FIBS_KEEPS}
    assert same == {name: getattr(match, name) for name in FIBS_KEEPS}


FIBS_KEEPS = ("length", "score", "cube", "on_roll", "crawford", "beavers", "dice")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("board:", "1 fields after board: expected 52"),
        (PUBLISHED + ":0", "53 fields after board"),
        (with_field(3, "x"), "match length 'x'"),
        (with_field(3, "03"), "match length '03'"),
        (with_field(3, 0), "match length 0"),
        (with_field(3, 100), "match length 100"),
        (with_field(4, 3), "score of player 1 3"),
        (with_field(7, 1.5), "places '1.5'"),
        (with_field(7, -3), "opponent off 0: expected 15 checkers less the 16"),
        (with_field(6, 1), "no checker of the player at 0"),
        (with_field(31, -1), "no checker of the opponent at 25"),
        (with_field(32, 2), "turn 2"),
        (with_field(33, 7), "dice"),
        (with_field(35, 3), "opponent dice"),
        (with_field(37, 3), "cube 3"),
        (with_field(38, 2), "player may double 2"),
        (with_field(40, 1), "was doubled 1"),
        (with_field(41, 0), "colour 0"),
        (with_field(42, 0), "direction 0"),
        (with_field(43, 25), "home 25"),
        (with_field(44, 0), "bar 0"),
        (with_field(45, 1), "player off 1"),
        (with_field(48, 1), "opponent on bar 1"),
    ],
)
def test_malformed_boards_are_refused_by_naming_the_field(text, reason):
    with pytest.raises(PositionError, match=reason):
        read_id(text)


def test_what_is_at_odds_with_the_rules_of_a_match_is_quoted_with_the_board():
    text = PUBLISHED.replace(":1:6:2:0:0:1:1:1:0:", ":1:6:2:0:0:3:1:1:0:")

    with pytest.raises(PositionError, match=r"FIBS board 'board:.*: cube 3: expected a power"):
        read(text)
