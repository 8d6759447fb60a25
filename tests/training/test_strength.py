"""Does it learn to play, and is that measured rightly?"""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from engine.backgammon.plays import legal_plays
from engine.backgammon.position import Position
from engine.bot import Bot
from engine.evaluation.network import Network
from engine.kernels.dealing import game_seeds
from engine.players.registry import make_player
from engine.players.table import play_games
from training.config import Learning, SelfPlay, Stages
from training.yardstick import SEED, Yardstick

AGAINST_RANDOM = "points per game against random"


def points_against_random(net: Path, seeds: np.ndarray) -> np.ndarray:
    """Points of the net's 0-ply in two games for each seed, the sides exchanged."""
    trained, other = make_player(f"acepoint:0:net={net}"), make_player("random")
    as_first = play_games(trained, other, seeds).points
    as_second = play_games(other, trained, seeds).points
    return np.concatenate([as_first, -as_second])


# Fault B127: a trained net loses to random play.
@pytest.mark.parametrize("td_share", [1.0, 0.7])
def test_a_few_seconds_of_training_beat_random_play_by_far(td_share, begin, finish, tiny):
    settings = dataclasses.replace(
        tiny,
        self_play=SelfPlay(games=32, backups=256),
        stages=Stages(td_share=td_share, bearoff=False),
        learning=Learning(td_rate=3e-3, td_batch=64, batch=64, replay=2, buffer=5000),
    )
    net = finish(begin(settings, workers=2, games=700))

    points = points_against_random(net, game_seeds(1, np.arange(200)))

    assert (points > 0).mean() > 0.85
    assert points.mean() > 1.3


def test_a_net_of_another_variant_is_not_measured_at_backgammon(random_network):
    network = random_network(16, 8)
    other = Network.of_layers(network.encoder, "hypergammon", network.layers, "")
    yardstick = Yardstick(2, None)
    assert yardstick.measure(other) == {}
    yardstick.close()


def test_the_yardstick_measures_on_the_same_dice_with_sides_exchanged(small_net):
    yardstick = Yardstick(20, None)
    network = Network.load(small_net)

    figures = yardstick.measure(network)

    again = yardstick.measure(network)
    yardstick.close()
    assert figures == again
    points = points_against_random(small_net, game_seeds(SEED, np.arange(20)))
    mean, ci95 = figures[AGAINST_RANDOM]
    assert mean == points.mean()
    by_deal = points.reshape(2, 20).mean(axis=0)
    assert ci95 == pytest.approx(2.093 * by_deal.std(ddof=1) / 20**0.5)


def test_without_deals_and_decisions_nothing_is_measured(small_net):
    assert Yardstick(0, None).measure(Network.load(small_net)) == {}


def test_the_yardstick_scores_reference_decisions(small_net, tmp_path):
    """Every play costs its place in the list: the loss is that of the net's choice."""
    start = Position.start()
    plays = legal_plays(start, (3, 1))
    candidates = [
        {"result": play.result.id, "equity": -0.01 * place} for place, play in enumerate(plays)
    ]
    decision = {"position": start.id, "dice": "31", "candidates": candidates}
    file = tmp_path / "decisions.jsonl"
    file.write_text(json.dumps(decision) + "\n")

    figures = Yardstick(0, file).measure(Network.load(small_net))

    place = plays.index(Bot(small_net).best(start, (3, 1)))
    assert place > 0
    assert figures == {"cubeless checker PR": (pytest.approx(500 * 0.01 * place), None)}
