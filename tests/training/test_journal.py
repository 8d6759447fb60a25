"""What a run writes for tensorboard."""

from itertools import pairwise

import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.util.tensor_util import make_ndarray

from engine.errors import FileFormatError
from training.events import EventFile
from training.journal import Counters, Found, Journal
from training.pruning import Rolls
from training.selfplay import Trajectories
from training.trainer import Budget, Trainer
from training.yardstick import Yardstick

EVERY_ITERATION = {
    "loss",
    "rate",
    "games per second",
    "positions per second",
    "backups per second",
    "evaluations per second",
    "gammons",
    "backgammons",
    "turns",
}
STRENGTH = "strength/points per game against random"
INTERVAL = "interval/points per game against random"


def read(folder) -> EventAccumulator:
    events = EventAccumulator(str(folder), size_guidance={"tensors": 0})
    events.Reload()
    return events


def curve(events: EventAccumulator, name: str) -> dict[int, float]:
    """Iteration -> value."""
    return {point.step: float(make_ndarray(point.tensor_proto)) for point in events.Tensors(name)}


@pytest.fixture(scope="module")
def run(tiny, tmp_path_factory):
    """A whole run that is measured twice on the way and at its end; what it wrote."""
    folder = tmp_path_factory.mktemp("journal")
    yardstick = Yardstick(4, None)
    trainer = Trainer(tiny, Budget(games=120), folder, 1, yardstick)
    with Journal(folder, tiny.to_json(), quiet=True) as journal:
        trainer.run(journal, 60.0, measure_at=(0.4, 0.8))
    yardstick.close()
    return trainer, read(folder)


def test_every_promised_curve_has_a_point_an_iteration(run):
    trainer, events = run
    names = set(events.Tags()["tensors"])
    assert names >= EVERY_ITERATION | {"lambda", STRENGTH, "settings"}
    for name in EVERY_ITERATION:
        points = curve(events, name)
        assert list(points) == list(range(1, trainer.counters.iteration + 1)), name
        assert np.isfinite(list(points.values())).all(), name


def test_the_step_size_and_lambda_go_as_the_stages_want(run, tiny):
    _, events = run
    rates = list(curve(events, "rate").values())
    decays = list(curve(events, "lambda").values())
    assert len(decays) == len(rates)
    (turn,) = [row for row, (old, new) in enumerate(pairwise(decays)) if new > old]
    exact = turn + 1  # exact backups begin

    assert decays[0] == pytest.approx(0.7)
    assert decays[exact] == pytest.approx(0.9, abs=0.15)
    assert decays[-1] < 0.2
    assert rates[0] == pytest.approx(tiny.learning.td_rate)
    assert rates[exact - 1] == pytest.approx(0.75 * tiny.learning.td_rate, rel=0.15)
    assert sorted(rates[:exact], reverse=True) == rates[:exact]
    top = int(np.argmax(rates))
    assert top in (exact, exact + 1)
    assert rates[top] == pytest.approx(tiny.learning.rate, rel=0.3)
    assert sorted(rates[top:], reverse=True) == rates[top:] and rates[-1] < 0.01


def test_shares_are_shares_and_games_have_turns(run):
    _, events = run
    for name in ("gammons", "backgammons"):
        assert all(0 <= share <= 1 for share in curve(events, name).values())
    assert all(turns > 10 for turns in curve(events, "turns").values())


def test_strength_and_weights_are_noted_on_the_way(run):
    trainer, events = run
    measured = curve(events, STRENGTH)
    assert len(measured) == 3
    assert list(curve(events, INTERVAL)) == list(measured)
    for name in ("minutes", "games", "backups"):
        spent = curve(events, f"spent/{name}")
        assert list(spent) == list(measured)
        assert sorted(spent.values()) == list(spent.values())
    assert curve(events, "spent/games")[trainer.counters.iteration] == trainer.counters.games
    assert curve(events, "spent/backups")[trainer.counters.iteration] == trainer.counters.backups
    seconds = 60 * curve(events, "spent/minutes")[trainer.counters.iteration]
    assert seconds == pytest.approx(trainer.counters.seconds)
    for name in ("layer0.weight", "layer0.bias", "layer2.weight"):
        (first, *_) = events.Tensors(name)
        buckets = make_ndarray(first.tensor_proto)  # left edge, right edge, count
        assert buckets[:, 2].sum() == dict(trainer.learner.net.named_parameters())[name].numel()


def test_the_settings_are_written_down(run, tiny):
    _, events = run
    (text,) = events.Tensors("settings")
    assert make_ndarray(text.tensor_proto).item().decode() == tiny.to_json()


def found(ends: list[list[float]], turns: int) -> Found:
    """Games of so many turns that end with these values for the player on roll."""
    values = np.full((len(ends) * turns, 5), 0.5, np.float32)
    values[turns - 1 :: turns] = ends
    offsets = np.arange(len(ends) + 1) * turns
    boards = np.zeros((len(values), 8), np.uint64)
    played = Trajectories(boards, values, offsets, np.ones(len(values), bool), 1000)
    rolls = Rolls(
        np.zeros((0, 2, 32), np.int8), np.zeros((0, 5), np.float32), np.zeros(1, np.int64)
    )
    return Found(played, boards, values, np.arange(len(values)), rolls, 1000, True, 0.5, 0.001, 2.0)


def test_shares_of_outcomes_and_figures_per_second_by_hand(tmp_path):
    """Of four games one is a gammon, one a backgammon, one single and one unfinished."""
    ends = [[0, 0, 0, 1, 0], [0, 0, 0, 1, 1], [0, 0, 0, 0, 0], [0.4, 0.1, 0, 0.2, 0]]
    counters = Counters(iteration=1, games=4, positions=40, backups=8, seconds=4.0)

    with Journal(tmp_path, "", quiet=True) as journal:
        journal.iteration(counters, 0.5, found(ends, turns=10), 0.1, 1.7)
        counters.iteration, counters.games, counters.seconds = 2, 9, 5.0
        journal.iteration(counters, 0.6, found(ends, turns=10), 0.1, 1.7)

    events = read(tmp_path)
    for name, value in {
        "gammons": 2 / 3,
        "backgammons": 1 / 3,
        "turns": 10,
        "evaluations per second": 500,
        "lambda": 0.5,
        "pruning loss": 1.7,
    }.items():
        assert curve(events, name)[1] == pytest.approx(value), name
    assert curve(events, "games per second") == pytest.approx({1: 1, 2: 5})
    assert curve(events, "positions per second") == pytest.approx({1: 10, 2: 0})
    assert curve(events, "backups per second") == pytest.approx({1: 2, 2: 0})


def test_what_is_written_can_be_read_before_the_end(tmp_path):
    """A run that is killed leaves what it has told so far."""
    events = EventFile(tmp_path)
    events.scalar("loss", 0.25, 7)
    assert curve(read(tmp_path), "loss") == {7: 0.25}
    events.close()


def test_a_folder_that_is_none(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileFormatError, match=r"cannot write .*: Not a directory"):
        EventFile(tmp_path / "file")
