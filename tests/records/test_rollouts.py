"""Saved rollouts: they go on bit for bit, and a file that does not fit is refused in one line."""

import json

import numpy as np
import pytest

from engine.backgammon.position import Position
from engine.bot import Bot
from engine.cube.context import CubeContext
from engine.cube.met import load_table
from engine.cube.rollout import Limits, Settings
from engine.errors import FileFormatError
from engine.records.rollouts import resume, save

SHORT = Settings(truncate=2, bearoff=False)


def opening(bot, settings=SHORT, **arguments):
    return bot.rollout(Position.start(), (3, 1), settings=settings, **arguments)


@pytest.fixture(scope="module")
def bot(small_net):
    return Bot(small_net)


@pytest.fixture
def saved(bot, tmp_path):
    rollout = opening(bot)
    rollout.run(Limits(50))
    save(rollout, tmp_path / "rollout.json")
    return tmp_path / "rollout.json"


def test_a_saved_rollout_goes_on_as_if_it_had_never_stopped(bot, saved):
    at_once, extended = opening(bot), opening(bot)
    at_once.run(Limits(100))
    resume(extended, saved)
    assert extended.trials == 50
    extended.run(Limits(100))
    assert all(map(np.array_equal, at_once.samples, extended.samples))


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"settings": Settings(truncate=2, bearoff=False, seed=1)}, "seed"),
        ({"settings": Settings(truncate=3, bearoff=False)}, "truncate"),
        ({"match": CubeContext(away=(3, 3))}, "situation"),
        ({"candidates": 1}, "candidates"),
    ],
)
def test_another_rollout_is_refused_by_what_is_different(bot, saved, changes, name):
    with pytest.raises(FileFormatError, match=rf"rollout\.json': {name} .*: expected"):
        resume(opening(bot, **changes), saved)


def test_another_table_is_refused_and_the_same_elsewhere_is_not(bot, tmp_path):
    def written(name, chance):
        (tmp_path / name).write_text(f"# a table\naway,1,2\n1,0.5,{chance}\n2,{1 - chance},0.5\n"
                                     "post,0.5,0.49\n")  # fmt: skip
        return load_table(str(tmp_path / name))

    def rollout(table):
        return opening(bot, match=CubeContext(away=(2, 2), table=table))

    first = rollout(written("table.csv", 0.68))
    first.run(Limits(36))
    save(first, tmp_path / "rollout.json")

    resume(rollout(written("moved.csv", 0.68)), tmp_path / "rollout.json")
    with pytest.raises(FileFormatError, match="situation"):
        resume(rollout(written("edited.csv", 0.70)), tmp_path / "rollout.json")


def test_another_net_is_refused(saved):
    with pytest.raises(FileFormatError, match="net '"):
        resume(opening(Bot()), saved)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not JSON"),
        ("[]", "expected an object of format"),
        ("[" * 100_000, "not JSON"),
        ('{"format": "acepoint-rollout-0"}', "expected an object of format"),
    ],
)
def test_a_foreign_file_is_refused(bot, saved, text, said):
    saved.write_text(text)
    with pytest.raises(FileFormatError, match=said):
        resume(opening(bot), saved)


@pytest.mark.parametrize(
    "trials",
    [None, [], [[]], [[[1.0]]], *([[[each] * 6]] for each in ("x", float("nan"), 10**400, 1e300))],
)
def test_damaged_trials_are_refused(bot, saved, trials):
    content = json.loads(saved.read_text())
    saved.write_text(json.dumps(content | {"trials": trials}))
    rollout = opening(bot)
    with pytest.raises(FileFormatError, match="trials: expected rows of 6 numbers"):
        resume(rollout, saved)
    assert rollout.trials == 0


def test_a_lost_match_may_be_worth_millions(bot, tmp_path):
    """In EMG, where the leader needs a point and a win of the trailer is next to nothing."""
    at_away = {"match": CubeContext(away=(1, 64))}
    rollout, again = opening(bot, **at_away), opening(bot, **at_away)
    rollout.run(Limits(1))
    rollout.samples[0][0, 0] = -3.2e7
    save(rollout, tmp_path / "rollout.json")
    resume(again, tmp_path / "rollout.json")
    assert again.samples[0][0, 0] == -3.2e7


def test_candidates_in_another_order_are_refused(bot, saved):
    """Their trials stand in that order."""
    content = json.loads(saved.read_text())
    content["candidates"] = content["candidates"][::-1]
    saved.write_text(json.dumps(content))

    assert len(content["candidates"]) > 1
    with pytest.raises(FileFormatError, match="candidates"):
        resume(opening(bot), saved)


def test_files_that_cannot_be_read_or_written_are_named(bot, tmp_path):
    rollout = opening(bot)
    with pytest.raises(FileFormatError, match=r"none\.json': No such file"):
        resume(rollout, tmp_path / "none.json")
    with pytest.raises(FileFormatError, match=r"cannot write .*out\.json"):
        save(rollout, tmp_path / "none" / "out.json")
