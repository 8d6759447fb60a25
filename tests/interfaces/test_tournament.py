import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.errors import AcepointError
from engine.evaluation.bearoff import tables
from engine.interfaces.cli.tournament import Tournament
from engine.kernels.bearoff import Bearoff
from engine.kernels.dealing import game_seeds
from engine.players.registry import make_player
from engine.players.table import play_games

pytest.importorskip("gnubg_nn")

CONTRACT = ("a", "b", "games", "points_per_game", "ci95", "wins", "gammons", "backgammons")


def report(capsys: pytest.CaptureFixture[str], **options: Any) -> dict[str, Any]:
    Tournament(**options, as_json=True).run()
    printed: dict[str, Any] = json.loads(capsys.readouterr().out)
    return printed


def test_json_of_the_contract(capsys: pytest.CaptureFixture[str]) -> None:
    told = report(capsys, players=("pubeval", "random"), games=40, seed=3, workers=1)

    (pair,) = told["pairs"]
    a, b = make_player("pubeval"), make_player("random")
    points = []
    for seed in game_seeds(3, np.arange(20)):
        points.append(int(play_games(a, b, seed.reshape(1)).points[0]))
        points.append(-int(play_games(b, a, seed.reshape(1)).points[0]))
    a.close()
    b.close()
    assert set(pair) == set(CONTRACT)
    assert (pair["a"], pair["b"], pair["games"]) == ("pubeval", "random", 40)
    assert pair["points_per_game"] == pytest.approx(sum(points) / 40)
    assert pair["ci95"] > 0
    for least, name in enumerate(("wins", "gammons", "backgammons"), start=1):
        assert pair[name] == [
            sum(each >= least for each in points),
            sum(each <= -least for each in points),
        ]
    assert [rated["player"] for rated in told["ratings"]] == ["pubeval", "random"]
    assert told["ratings"][0]["rating"] == pytest.approx(pair["points_per_game"] / 2)


def test_workers_change_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    options: dict[str, Any] = {"players": ("random", "gnubg:0"), "games": 30}

    assert report(capsys, **options, workers=1) == report(capsys, **options, workers=2)


def test_a_finished_tournament_is_shown_again_from_its_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options: dict[str, Any] = {"players": ("random", "pubeval"), "out": tmp_path / "t.db"}
    first = report(capsys, **options, games=20, workers=1)

    assert report(capsys, **options, games=20, workers=2) == first
    with pytest.raises(AcepointError, match="deals 10, not 11"):
        report(capsys, **options, games=22)


def test_json_of_matches(capsys: pytest.CaptureFixture[str]) -> None:
    told = report(capsys, players=("random", "random"), matches=4, length=2, workers=1)

    (pair,) = told["pairs"]
    assert set(pair) == {*CONTRACT, "cube", "matches"}
    assert pair["matches"] == {"played": 4, "won": [2, 2], "share": 0.5, "ci95": 0}
    assert pair["games"] == sum(pair["wins"]) >= 4


def test_json_of_games_with_the_cube(capsys: pytest.CaptureFixture[str]) -> None:
    told = report(capsys, players=("random", "random"), games=40, cube=True, workers=1)

    (pair,) = told["pairs"]
    assert set(pair) == {*CONTRACT, "cube"}
    assert pair["games"] == 40
    assert pair["points_per_game"] == 0
    assert pair["wins"] == [20, 20]
    assert pair["cube"]["turned"][0] == pair["cube"]["turned"][1] > 0
    assert pair["cube"]["passed"][0] == pair["cube"]["passed"][1] > 0
    assert pair["cube"]["mean"] > 1


def test_workers_change_nothing_in_matches(capsys: pytest.CaptureFixture[str]) -> None:
    options: dict[str, Any] = {"players": ("random", "random"), "matches": 12, "length": 3}

    assert report(capsys, **options, workers=1) == report(capsys, **options, workers=2)


@pytest.mark.parametrize(
    ("options", "game"),
    [
        ({}, "money"),
        ({"cube": True}, "money, cube"),
        (
            {"cube": True, "jacoby": True, "beavers": True, "automatic_doubles": 1},
            "money, cube, Jacoby, beavers, 1 automatic doubles",
        ),
        ({"matches": 4}, "match to 7"),
        ({"length": 5}, "match to 5"),
    ],
)
def test_what_is_played_is_said_in_words(options: dict[str, Any], game: str) -> None:
    assert Tournament(("random", "random"), **options)._game == game


def test_the_results_of_another_game_are_not_gone_on_with(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept: dict[str, Any] = {"players": ("random", "random"), "out": tmp_path / "t.db", "workers": 1}
    report(capsys, **kept, games=4, cube=True)

    with pytest.raises(AcepointError, match=r'game "money, cube", not "money, cube, Jacoby"'):
        report(capsys, **kept, games=4, cube=True, jacoby=True)


def test_tables_name_everybody(capsys: pytest.CaptureFixture[str]) -> None:
    Tournament(("pubeval", "random"), games=4, workers=1).run()

    printed = capsys.readouterr().out
    assert "pubeval - random" in printed
    assert "±" in printed
    assert "rating" in printed
    assert "acepoint" not in printed


@pytest.mark.parametrize("found", [True, False])
def test_the_bearoff_databases_in_use_are_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, bearoff: Bearoff,
    small_net: Path, found: bool,
) -> None:  # fmt: skip
    monkeypatch.setattr("engine.evaluation.bearoff.load", lambda: bearoff if found else tables())
    Tournament((f"acepoint:net={small_net}", "random"), games=2, workers=1).run()

    said = capsys.readouterr().out.splitlines()[-1]
    names = "one-sided 6x15, two-sided 6x6" if found else "none (see acepoint bearoff build)"
    assert said == f" Bearoff databases of acepoint: {names}."


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"players": ()}, "players none"),
        ({"players": ("random",)}, "players random: expected two or more"),
        ({"players": ("random", "snowie:3")}, "player 'snowie:3': no such player; expected"),
        ({"players": ("random", "gnubg")}, "player 'gnubg': gnubg plays at 0 to 2 plies"),
        ({"players": ("random", "gnubg:3")}, "player 'gnubg:3'"),
        ({"players": ("random", "pubeval:1")}, "player 'pubeval:1'"),
        ({"players": ("random", "acepoint:x")}, "player 'acepoint:x'"),
        ({"players": ("random", "acepoint:0:net=no.safetensors")}, "no.safetensors"),
        ({"players": ("random", "random"), "games": 7}, "--games 7: expected an even number"),
        ({"players": ("random", "random"), "games": 0}, "--games 0"),
        ({"players": ("random", "random"), "games": -2}, "--games -2: expected an even number"),
        ({"players": ("random", "random"), "games": 10**12}, "--games 1000000000000: expected"),
        ({"players": ("random", "random"), "matches": 3}, "--matches 3: expected an even number"),
        ({"players": ("random", "random"), "matches": 0}, "--matches 0: expected an even number"),
        ({"players": ("random", "random"), "length": 0}, "--length 0: expected 1 to 64"),
        ({"players": ("random", "random"), "length": 65}, "--length 65: expected 1 to 64"),
        ({"players": ("random", "random"), "length": 5, "games": 4}, "no option of money games"),
        ({"players": ("random", "random"), "length": 5, "cube": True}, "no option of money games"),
        ({"players": ("random", "random"), "jacoby": True}, "Jacoby: expected --cube"),
        (
            {"players": ("random", "random"), "cube": True, "automatic_doubles": 11},
            "--automatic-doubles 11: expected 0 to 10",
        ),
        ({"players": ("random", "pubeval"), "cube": True}, "'pubeval' does not play with the cube"),
        ({"players": ("random", "random"), "seed": -1}, "--seed -1"),
        ({"players": ("random", "random"), "workers": 0}, "--workers 0"),
    ],
)
def test_bad_arguments_are_refused_in_one_line(options: dict[str, Any], named: str) -> None:
    with pytest.raises(AcepointError) as caught:
        Tournament(**options).run()
    assert named in str(caught.value)
    assert "\n" not in str(caught.value)
