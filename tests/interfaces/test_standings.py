"""The figures of a tournament, from results written by hand."""

from typing import Any

import numpy as np
import pytest

from engine.arena.results import Results
from engine.arena.schedule import Chunk, RoundRobin
from engine.interfaces.cli.standings import print_standings, standings
from engine.players.tally import TALLY_COLUMNS

# Two deals of two matches each: score, games, points, sum of cubes; then wins, gammons,
# backgammons, cubes turned and passed, of a and of b.
MATCHES = [
    [[1, 4, 3, 7, 3, 1, 1, 0, 0, 0, 2, 1, 0, 1], [-1, 2, -5, 6, 0, 2, 0, 1, 0, 0, 1, 2, 0, 0]],
    [[1, 1, 4, 4, 1, 0, 1, 0, 0, 0, 1, 1, 0, 0], [1, 3, 2, 3, 2, 1, 0, 0, 0, 0, 0, 0, 1, 1]],
]
SCHEDULE = RoundRobin(("anna", "bert"), 2)


def told(cube: bool, matches: bool) -> dict[str, Any]:
    with Results(SCHEDULE, TALLY_COLUMNS, {}) as results:
        results.add(Chunk((0, 1), np.arange(2)), np.array(MATCHES, np.int32))
        return standings(SCHEDULE, results, cube, matches)


def test_matches_are_shares_and_games_points() -> None:
    (pair,) = told(cube=True, matches=True)["pairs"]

    assert (pair["a"], pair["b"], pair["games"]) == ("anna", "bert", 10)
    assert (pair["wins"], pair["gammons"], pair["backgammons"]) == ([6, 4], [2, 1], [0, 0])
    assert pair["points_per_game"] == pytest.approx(0.4)
    # Points less 0.4 a game: -4.4 and 4.4 in the two deals, of five games each.
    assert pair["ci95"] == pytest.approx(12.706 * 4.4 / 5)
    assert pair["cube"] == {"turned": [4, 4], "passed": [1, 2], "mean": pytest.approx(2.0)}
    matches = pair["matches"]
    assert (matches["played"], matches["won"], matches["share"]) == (4, [3, 1], 0.75)
    assert matches["ci95"] == pytest.approx(12.706 * 0.25)


def test_a_difference_of_ratings_is_the_share_above_one_half() -> None:
    ratings = told(cube=True, matches=True)["ratings"]

    assert [rated["player"] for rated in ratings] == ["anna", "bert"]
    assert ratings[0]["rating"] - ratings[1]["rating"] == pytest.approx(0.25)


def test_money_games_without_the_cube_have_neither() -> None:
    report = told(cube=False, matches=False)
    assert not {"cube", "matches"} & set(report["pairs"][0])
    assert report["ratings"][0]["rating"] == pytest.approx(0.25)


def test_the_tables_say_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    print_standings(told(cube=True, matches=True))

    printed = capsys.readouterr().out
    for shown in ("+0.400 ± 11.181", "6 - 4", "4 - 4", "2.00", "3 - 1", "0.750 ± 3.176"):
        assert shown in printed
    assert "share of matches above one half against the field" in printed
