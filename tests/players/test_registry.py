from pathlib import Path

import numpy as np
import pytest

from engine.bot import Bot
from engine.errors import AcepointError, NetError, NotationError
from engine.evaluation.bearoff import tables
from engine.evaluation.network import Network
from engine.kernels.bearoff import Bearoff
from engine.kernels.dealing import game_seeds
from engine.players.acepoint import AcepointPlayer
from engine.players.contests import MoneyTable
from engine.players.random import RandomPlayer
from engine.players.registry import (
    PLAYER_NAMES,
    make_cubeful_player,
    make_player,
    try_cubeful_player,
    try_player,
)
from engine.players.table import play_games


def test_acepoint_with_a_net_of_its_own(small_net: Path) -> None:
    for name in (f"acepoint:net={small_net}", f"acepoint:0:net={small_net}"):
        player = make_player(name)
        assert isinstance(player, AcepointPlayer)
        assert player.name == name
        assert player.fingerprint.startswith(Network.load(small_net).hash)


@pytest.mark.parametrize("name", ["acepoint", "acepoint:0"])
def test_acepoint_plays_the_released_net_by_default(name: str) -> None:
    assert make_player(name).fingerprint.startswith(Bot().net_hash)


def test_acepoint_with_bearoff_databases_is_another_player(
    monkeypatch: pytest.MonkeyPatch, small_net: Path, bearoff: Bearoff
) -> None:
    name, net_hash = f"acepoint:net={small_net}", Network.load(small_net).hash
    monkeypatch.setattr("engine.players.acepoint.load", tables)
    assert make_player(name).fingerprint == net_hash
    monkeypatch.setattr("engine.players.acepoint.load", lambda: bearoff)
    assert make_player(name).fingerprint == f"{net_hash} one-sided 6x15 two-sided 6x6"


def test_acepoint_chooses_what_the_bot_does_whatever_the_batch(small_net: Path) -> None:
    bot, player = Bot(small_net), make_player(f"acepoint:net={small_net}")
    seeds = game_seeds(8, np.arange(30))

    together = play_games(player, RandomPlayer(), seeds)
    alone = [play_games(player, RandomPlayer(), seed.reshape(1)) for seed in seeds]

    assert together.points.tolist() == [int(games.points[0]) for games in alone]
    assert together.turns.tolist() == [int(games.turns[0]) for games in alone]
    assert together.turns.tolist() == play_games(bot, RandomPlayer(), seeds).turns.tolist()  # type: ignore[arg-type]


def test_acepoint_against_itself_scores_nothing(small_net: Path) -> None:
    name = f"acepoint:net={small_net}"

    scores = MoneyTable(1)(name, f"acepoint:0:net={small_net}", np.arange(100))[:, :, 0]

    assert set(np.unique(np.abs(scores))) >= {1, 2}
    assert not scores.sum(axis=1).any()


def test_a_net_for_other_checkers_is_refused(small_net: Path, tmp_path: Path) -> None:
    net = Network.load(small_net)
    path = tmp_path / "three.safetensors"
    Network.of_layers(net.encoder, "hypergammon", net.layers, net.origin).save(path)

    with pytest.raises(NetError, match="hypergammon"):
        make_player(f"acepoint:net={path}")


@pytest.mark.parametrize(
    "name",
    [
        "",
        ":",
        "Random",
        "random:1",
        "pubeval:",
        "gnubg",
        "gnubg:",
        "gnubg:03",
        "gnubg:-1",
        "gnubg:0:net=x",
        "sage",
        "sage:5",
        "acepoint:",
        "acepoint:two",
        "acepoint:-1",
        "acepoint:0:net=",
        "acepoint:net",
        "acepoint0",
        "snowie",
        "rändom\n",
    ],
)
def test_a_bad_name_is_refused_in_one_line_that_quotes_it(name: str) -> None:
    with pytest.raises(NotationError) as caught:
        make_player(name)
    assert f"player {name!r}: " in str(caught.value)
    assert PLAYER_NAMES in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_net_is_named() -> None:
    with pytest.raises(NetError, match=r"nowhere\.safetensors"):
        make_player("acepoint:0:net=nowhere.safetensors")


def test_plies_that_are_not_offered_are_refused() -> None:
    with pytest.raises(AcepointError, match="plies 9"):
        make_player("acepoint:9")


def test_gnubg_and_pubeval_are_others_with_the_cube() -> None:
    with pytest.raises(NotationError, match=r"^player 'pubeval' does not play with the cube$"):
        make_cubeful_player("pubeval")
    with pytest.raises(NotationError, match="player 'gnubg:7': gnubg plays at 0 to 2 plies"):
        make_cubeful_player("gnubg:7")
    with pytest.raises(NotationError, match="player 'sage:0': sage plays at 1 to 4 levels"):
        make_cubeful_player("sage:0")
    pytest.importorskip("gnubg")
    assert try_cubeful_player("gnubg:0").startswith("gnubg 1.")


def test_trying_a_player_tells_what_it_is() -> None:
    assert try_player("random") == ""
    pytest.importorskip("gnubg_nn")
    assert try_player("pubeval") == try_player("gnubg:0")
    assert try_player("pubeval").startswith("gnubg-nn 1.")
