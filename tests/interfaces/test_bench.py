"""The speed table, on a small sample."""

import json
from functools import partial

import numpy as np
import pytest

from engine import Bot
from engine.backgammon.position import Position
from engine.backgammon.variants import BACKGAMMON
from engine.cube.rollout import Settings
from engine.errors import AcepointError
from engine.interfaces import benchmark, peers, rollout_benchmark
from engine.interfaces.cli.bench import Bench
from engine.kernels.movegen import swap, unpack

SMALL = {
    "POSITIONS": 200,
    "GAMES": 20,
    "PASSES": 1,
    "CALLS": 5,
    "COMMANDS": 1,
    "EVALUATIONS": 100,
    "LOOKED_AT": {2: 2},
    "CHECKED": 1,
}
FEW_TRIALS = {
    "REDUCED": 12,
    "PLAIN": 36,
    "LEVELS": {"truncated1": rollout_benchmark.Level(1, 36, Settings(truncate=2))},
}


@pytest.fixture
def small_sample(monkeypatch):
    for name, value in SMALL.items():
        monkeypatch.setattr(benchmark, name, value)
    for name, value in FEW_TRIALS.items():
        monkeypatch.setattr(rollout_benchmark, name, value)


@pytest.fixture(scope="module")
def sample(small_net):
    return benchmark.sample_games(Bot(small_net), 300, seed=1)


def test_json_has_the_fields_of_the_contract(small_sample, small_net, capsys):
    Bench(net=small_net, as_json=True).run()
    told = json.loads(capsys.readouterr().out)

    assert list(told) == ["machine", "rows"]
    assert len(told["rows"]) == 9
    for row in told["rows"]:
        assert list(row) == ["what", "acepoint", "gnubg", "sage", "unit"]
        assert row["acepoint"] > 0
        assert row["gnubg"] is row["sage"] is None


def test_the_sample_is_distinct_positions_with_all_their_results(sample):
    assert len(np.unique(sample.packed, axis=0)) == 300
    assert (np.diff(sample.offsets) > 0).all()
    assert len(sample.results) == sample.offsets[-1]


def test_gnubg_nn_agrees_about_every_play_and_is_timed(sample):
    pytest.importorskip("gnubg_nn")
    speed, answers = peers.ask_peer("gnubg_nn", "results", sample.packed, sample.dice)

    assert speed > 0
    checked = peers.checked((speed, answers), sample, "gnubg_nn", peers.same_results)
    assert checked == speed


def results_of(sample, index: int) -> list[list[int]]:
    rows = slice(sample.offsets[index], sample.offsets[index + 1])
    return unpack(sample.results[rows]).reshape(-1, 52).tolist()


def test_a_peer_that_misses_a_play_is_not_timed(sample):
    answers = [results_of(sample, index) for index in range(len(sample.packed))]
    right = (1.0, answers)
    several = int(np.argmax(np.diff(sample.offsets) > 1))
    wrong = (1.0, [a[1:] if i == several else a for i, a in enumerate(answers)])

    check = peers.same_results
    assert peers.checked(right, sample, "peer", check) == 1.0
    with pytest.raises(AcepointError, match="peer disagrees about the plays of"):
        peers.checked(wrong, sample, "peer", check)


def test_a_peer_that_plays_illegally_is_not_timed(sample):
    legal = [results_of(sample, index)[-1] for index in range(len(sample.packed))]
    passed = unpack(swap(sample.packed)).reshape(-1, 52).tolist()

    check = peers.is_legal
    assert peers.checked((2.0, legal), sample, "peer", check) == 2.0
    assert peers.checked((2.0, [None, *legal[1:]]), sample, "peer", check) == 2.0
    with pytest.raises(AcepointError, match="peer disagrees"):
        peers.checked((2.0, passed), sample, "peer", check)


def test_a_bot_whose_fast_choice_is_not_its_best_is_found_out(sample, small_net):
    class Careless(Bot):
        def best_packed(self, packed, dice):
            chosen = super().best_packed(packed, dice)
            index = int(np.argmax(np.diff(sample.offsets) > 5))
            options = sample.results[sample.offsets[index] : sample.offsets[index + 1]]
            values = self.evaluate_packed(options)[:, 0]
            chosen[index] = options[values.argmax()]
            return chosen

    benchmark._check_choices(Bot(small_net), sample)
    with pytest.raises(AcepointError, match="is not the best"):
        benchmark._check_choices(Careless(small_net), sample)


def test_a_bot_that_looks_ahead_wrongly_is_found_out(sample, small_net):
    one, static = Bot(small_net, 1), Bot(small_net)
    benchmark._check_lookahead(one, static, static, sample.packed[:2])
    with pytest.raises(AcepointError, match="is not the mean over the rolls"):
        benchmark._check_lookahead(static, static, static, sample.packed[:2])


def answered(answer, *_):
    return 2.0, [answer]


def test_truncated_rollouts_tell_in_how_many_decisions_the_play_is_the_same(
    small_sample, sample, small_net
):
    bot = Bot(small_net)
    drawn = benchmark._drawn(sample, 1, least_plays=2)
    position = Position(unpack(drawn.packed)[0], BACKGAMMON)
    high, low = drawn.dice[0].tolist()
    same = rollout_benchmark._best_truncated(bot, position, (high, low), "truncated1")
    other = next(result for result in results_of(drawn, 0) if result != same)

    for answer, count in ((same, 1), (other, 0)):
        (row,) = rollout_benchmark.truncated_rollouts(bot, drawn, partial(answered, answer))
        assert row.sage == 2.0
        assert row.what == f"best play, rollout like truncated1, {count} of 1 the same"


EXPORTED = """\
     1. Rollout          8/5 6/5                      Eq.: +0.131
       0.544 0.164 0.000 - 0.456 0.129 0.006 CL +0.116 CF +0.131
      [0.011 0.007 0.034 - 0.011 0.009 0.001 CL  0.031 CF  0.065]
        Full cubeful rollout with variance reduction
     2. Rollout          24/23 13/10                  Eq.: -0.065 (-0.196)
       0.481 0.141 0.006 - 0.519 0.141 0.004 CL -0.035 CF -0.065
      [0.012 0.007 0.001 - 0.012 0.008 0.006 CL  0.031 CF  0.064]
        Full cubeful rollout with variance reduction
     3. Cubeful 0-ply    24/20                        Eq.: -0.020 (-0.151)
       0.497 0.125 0.005 - 0.503 0.135 0.004
"""  # GNU Backgammon 1.07.001, export position text


def test_what_the_program_has_rolled_out_is_read():
    assert rollout_benchmark._read_export(EXPORTED) == {
        "8/5 6/5": (0.131, 0.065),
        "24/23 13/10": (-0.065, 0.064),
    }
    with pytest.raises(AcepointError, match="has rolled out 0 plays: expected 2"):
        rollout_benchmark._read_export("")


def test_rollouts_that_disagree_are_not_timed():
    worth = rollout_benchmark.Worth
    sure = {"8/5 6/5": worth(0.2, 0.03), "13/9": worth(0.0, 0.03)}
    check = rollout_benchmark._check_agreement

    check(sure, {"8/5 6/5": worth(0.44, 0.04), "24/20": worth(9.0, 0.04)}, "plain dice")
    with pytest.raises(AcepointError, match=r"8/5 6/5 is worth \+0.460 instead of \+0.200"):
        check(sure, {"8/5 6/5": worth(0.46, 0.04)}, "plain dice")
    with pytest.raises(AcepointError, match="24/20 instead of 8/5 6/5, 13/9"):
        check(sure, {"24/20": worth(0.0, 0.04)}, "plain dice")


@pytest.mark.parametrize("name", ["move", "cube"])
def test_a_command_that_answers_something_else_is_not_timed(sample, small_net, name):
    """The command is asked with the released net, the bot has another one."""
    dice, is_right = {
        "move": (["31"], benchmark._is_best),
        "cube": ([], benchmark._is_decision),
    }[name]
    bot = Bot(small_net)

    assert benchmark._command(bot, small_net, sample, name, dice, is_right).acepoint > 0
    with pytest.raises(AcepointError, match=f"acepoint {name} .*: not what the bot answers"):
        benchmark._command(bot, None, sample, name, dice, is_right)
