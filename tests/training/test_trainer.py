"""Whole runs: the same twice, stopped and taken up again, killed, out of disk, gone astray."""

import dataclasses
import os
import resource
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from engine.bot import released_net
from engine.errors import AcepointError, FileFormatError, NetError
from engine.evaluation.bearoff import is_exact, probabilities
from engine.evaluation.network import Network
from training.checkpoint import load_checkpoint
from training.config import Learning, Shape
from training.journal import Journal
from training.trainer import Budget, Trainer
from training.yardstick import Yardstick

CHECKPOINT = "checkpoint.safetensors"


@pytest.fixture(scope="module")
def undisturbed(begin, finish) -> Trainer:
    """A run that has gone to its end; to be left as it is."""
    trainer = begin()
    finish(trainer)
    return trainer


def taken_up(folder: Path, budget: Budget | None = None) -> Trainer:
    """The run in this folder, to go on with."""
    return Trainer.of_folder(folder, budget, 1, Yardstick(0, None))


def net_of(trainer: Trainer) -> Network:
    return Network.load(trainer.folder / "net.safetensors")


@contextmanager
def disk_of(size: int):
    """No file may grow beyond this size."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_run_from_a_narrowed_net_is_taken_up_as_it_is(begin, finish, tiny, undisturbed):
    init = str(undisturbed.folder / "net.safetensors")
    settings = dataclasses.replace(tiny, init=init, narrow=8)
    whole, stopped = begin(settings), begin(settings)
    stopped.save()

    again = taken_up(stopped.folder)

    assert again.learner.net.shape.hidden == (8, 8)
    assert Network.load(finish(again)).hash == Network.load(finish(whole)).hash


@pytest.mark.parametrize("workers", [1, 2])
def test_one_seed_gives_one_net(workers, begin, finish, undisturbed):
    assert Network.load(finish(begin(workers=workers))).hash == net_of(undisturbed).hash


def test_positions_of_the_bearoff_databases_have_exact_targets(
    begin, finish, tiny, bearoff, tmp_path, monkeypatch
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # the databases are not there yet
    stages = dataclasses.replace(tiny.stages, td_share=0.0, backup_lambda=0.0, bearoff=True)
    learning = dataclasses.replace(tiny.learning, buffer=6000)  # room for every game
    # A net that can play, so that games end with both sides bearing off; how many do depends on the
    # last bits of its values, which processors round differently.
    settings = dataclasses.replace(tiny, init=str(released_net()), stages=stages, learning=learning)
    trainer = begin(settings, games=100)
    finish(trainer)

    packed = trainer.buffer.boards[: len(trainer.buffer)].view(np.int8).reshape(-1, 2, 32)
    exact, _ = probabilities(bearoff, packed)
    two_sided = np.array([is_exact(bearoff, board) for board in packed])
    assert two_sided.sum() > 20
    np.testing.assert_allclose(
        trainer.buffer.targets[: len(packed)][two_sided], exact[two_sided], atol=1e-6
    )


def test_another_seed_gives_another_net(begin, finish, tiny, undisturbed):
    net = finish(begin(dataclasses.replace(tiny, seed=8)))
    assert Network.load(net).hash != net_of(undisturbed).hash


def test_a_run_goes_through_both_stages_and_the_net_tells_of_it(undisturbed, tiny):
    counters = undisturbed.counters
    assert undisturbed.progress == 1
    assert counters.games >= 120 and counters.positions > 0
    assert counters.backups > tiny.learning.buffer == len(undisturbed.buffer)

    net = net_of(undisturbed)
    assert net.variant == "backgammon"
    assert f"from random weights: {counters.games} games, " in net.origin
    assert tiny.to_json() in net.origin


def test_the_checkpoint_holds_the_whole_state(undisturbed):
    tensors, state = load_checkpoint(undisturbed.folder / CHECKPOINT)

    assert state["counters"]["games"] == undisturbed.counters.games
    assert state["budget"] == {"minutes": None, "games": 120}
    assert {name.split(".")[0] for name in tensors} == {"value", "pruning", "buffer", "player"}
    assert len(tensors["buffer.boards"]) == 1500


@pytest.mark.parametrize("name", ["nackgammon", "hypergammon"])
def test_a_net_for_another_variant(name, begin, finish, tiny):
    settings = dataclasses.replace(tiny, variant=name)
    assert Network.load(finish(begin(settings, games=40)), name).variant == name


class Recorder(Journal):
    """Remembers what every iteration has found."""

    def iteration(self, counters, progress, found, *figures):
        super().iteration(counters, progress, found, *figures)
        self.found = [*getattr(self, "found", []), found]


def test_no_iteration_plays_or_learns_what_another_has(begin, monkeypatch):
    trainer, orders = begin(), []
    learn = trainer.learner.learn

    def remember(boards, targets, order, *how):
        orders.append(order.tolist())
        return learn(boards, targets, order, *how)

    monkeypatch.setattr(trainer.learner, "learn", remember)
    with Recorder(trainer.folder, "", quiet=True) as journal:
        trainer.run(journal, 60, (0.4,))

    first_moves = {found.trajectories.boards[:20].tobytes() for found in journal.found}
    assert len(first_moves) == len(journal.found) == trainer.counters.iteration
    assert len({tuple(order[:20]) for order in orders}) == len(orders)


class Witness(Journal):
    """Notes the share of the games that is done at each measurement."""

    def strength(self, counters, figures):
        super().strength(counters, figures)
        self.measured = [*getattr(self, "measured", []), counters.games / 120]


def test_the_yardstick_is_used_once_each_share_has_gone(begin):
    """An iteration plays 4 games or more, a thirtieth of the run; some shares go in one step."""
    shares = (0.01, 0.02, 0.05, 0.5, 0.9)
    trainer = begin()
    with Witness(trainer.folder, "", quiet=True) as journal:
        trainer.run(journal, 60, shares)

    first, middle, late, end = journal.measured
    assert 0.05 <= first < 0.2
    assert 0.5 <= middle < 0.7
    assert 0.9 <= late < 1 <= end


class Interrupted(Journal):
    """Ctrl-C is pressed in one iteration, once or more."""

    at, times = 0, 1

    def iteration(self, counters, *figures):
        super().iteration(counters, *figures)
        for _ in range(self.times if counters.iteration == self.at else 0):
            signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("at", [1, 4, 5, 11])  # in TD(lambda), at its end, in exact backups
def test_a_run_that_is_stopped_and_taken_up_ends_as_if_it_had_not(
    at, begin, finish, undisturbed, capsys
):
    trainer = begin()
    with Interrupted(trainer.folder, "", quiet=True) as journal:
        journal.at = at
        with pytest.raises(KeyboardInterrupt):
            trainer.run(journal, 60, (0.4,))
    assert trainer.counters.iteration == at
    assert "saving a checkpoint first" in capsys.readouterr().err

    assert Network.load(finish(taken_up(trainer.folder))).hash == net_of(undisturbed).hash


def test_a_second_ctrl_c_does_not_wait_for_anything_to_be_saved(begin):
    trainer = begin()
    with Interrupted(trainer.folder, "", quiet=True) as journal:
        journal.at, journal.times = 2, 2
        with pytest.raises(KeyboardInterrupt):
            trainer.run(journal, 60, (0.4,))
    assert not (trainer.folder / CHECKPOINT).exists()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_another_budget_stretches_a_run(begin, finish):
    trainer = begin(games=40)
    finish(trainer)

    longer = taken_up(trainer.folder, Budget(games=80))

    assert 0.5 <= longer.progress < 0.8
    finish(longer)
    assert longer.counters.games >= 80
    assert taken_up(trainer.folder).budget == Budget(games=80)


def test_a_finished_run_that_is_taken_up_stays_as_it_is(begin, finish):
    trainer = begin(games=40)
    finish(trainer)
    hash_before = net_of(trainer).hash
    assert Network.load(finish(taken_up(trainer.folder))).hash == hash_before


SAVING_ALL_THE_TIME = """
import sys
from pathlib import Path
from training.journal import Journal
from training.trainer import Trainer
from training.yardstick import Yardstick
trainer = Trainer.of_folder(Path(sys.argv[1]), None, 2, Yardstick(0, None))
print("running", flush=True)
with Journal(trainer.folder, "", quiet=True) as journal:
    trainer.run(journal, 0.0, (0.4,))
"""


def test_a_run_that_is_killed_in_the_midst_of_saving_goes_on(begin, finish, undisturbed):
    trainer = begin()
    trainer.save()
    path = trainer.folder / CHECKPOINT
    first = path.stat().st_mtime_ns
    command = [sys.executable, "-c", SAVING_ALL_THE_TIME, trainer.folder]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment()) as process:
        assert process.stdout.readline() == b"running\n"
        while path.stat().st_mtime_ns == first:
            assert process.poll() is None
        process.kill()
    assert process.returncode == -signal.SIGKILL

    survivor = taken_up(trainer.folder)

    assert 0 < survivor.counters.games < 120
    assert Network.load(finish(survivor)).hash == net_of(undisturbed).hash


def environment() -> dict[str, str]:
    """Finds the packages where this process finds them."""
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def test_a_full_disk_leaves_the_checkpoint_before_it(undisturbed):
    folder = undisturbed.folder
    files = {path: path.read_bytes() for path in folder.iterdir()}

    with disk_of(10_000), pytest.raises(FileFormatError) as caught:
        undisturbed.save()

    assert f"cannot write {str(folder / CHECKPOINT)!r}: File too large" in str(caught.value)
    assert "the file before it is untouched" in str(caught.value)
    assert {path: path.read_bytes() for path in folder.iterdir()} == files
    assert taken_up(folder).counters == undisturbed.counters


def test_a_disk_that_fills_up_with_curves_ends_the_run_in_one_line(begin, finish):
    trainer = begin()
    trainer.save()
    saved = (trainer.folder / CHECKPOINT).read_bytes()

    with disk_of(5_000), pytest.raises(FileFormatError, match=r"cannot write .*events") as caught:
        finish(trainer)

    assert len(str(caught.value).splitlines()) == 1
    assert (trainer.folder / CHECKPOINT).read_bytes() == saved


def test_a_folder_that_has_gone_ends_the_run_in_one_line(begin):
    trainer = begin()
    trainer.folder.rmdir()
    with pytest.raises(FileFormatError, match="No such file or directory"):
        trainer.save()


def test_a_run_gone_astray_stops_with_the_checkpoint_before_it_intact(begin, finish, tiny):
    absurd = dataclasses.replace(tiny, learning=Learning(td_rate=1e30, rate=1e30, batch=10_000))
    trainer = begin(absurd)

    with pytest.raises(AcepointError, match=r"the loss is .*: try a smaller rate"):
        finish(trainer, save_minutes=0.0)

    survivor = taken_up(trainer.folder)
    assert survivor.counters.iteration == trainer.counters.iteration - 1 > 0
    assert all(np.isfinite(weight).all() for weight in survivor.learner.tensors().values())


def test_weights_that_are_not_finite_are_never_saved(begin):
    trainer = begin()
    trainer.save()
    saved = (trainer.folder / CHECKPOINT).read_bytes()
    infinite = {"value.net.layer0.bias": np.full(16, np.inf, np.float32)}
    trainer.learner.restore(trainer.learner.tensors() | infinite)

    with pytest.raises(NetError, match="a weight is not a finite number"):
        trainer.save()

    assert (trainer.folder / CHECKPOINT).read_bytes() == saved


@pytest.mark.parametrize("by_plan", [False, True])
def test_a_run_may_begin_with_a_net_and_needs_it_no_more_when_taken_up(
    by_plan, begin, finish, tiny, random_network, tmp_path
):
    given, first = tmp_path / "given.safetensors", random_network(24, by_plan=by_plan)
    first.save(given)
    shape = Shape(hidden=(256,), by_plan=False)
    settings = dataclasses.replace(tiny, init=str(given), shape=shape)
    trainer = begin(settings, games=40)
    assert trainer.learner.net.export("backgammon", "").hash == first.hash
    finish(trainer)
    given.unlink()

    again = taken_up(trainer.folder)

    assert again.settings.shape == Shape("thermometer", (24,), by_plan)
    assert again.settings.init == str(given)
    origin = Network.load(finish(again)).origin
    assert f"self-play from {given.name}: " in origin
    assert str(given.parent) not in origin


def test_a_net_to_begin_with_must_be_for_the_same_variant(begin, tiny, small_net):
    settings = dataclasses.replace(tiny, init=str(small_net), variant="hypergammon")
    with pytest.raises(NetError, match="trained for 'backgammon', expected 'hypergammon'"):
        begin(settings)


def test_a_run_that_draws_every_play_says_why_it_cannot_learn(begin, finish, tiny):
    drawn = dataclasses.replace(tiny.self_play, games=2, explored_share=1.0, random_share=0.0)
    settings = dataclasses.replace(tiny, init=str(released_net()), self_play=drawn)
    with pytest.raises(AcepointError, match=r"explored-share 1\.0, random-share 0\.0: no play"):
        finish(begin(settings))
