"""The speed table, on a small sample."""

import json

import numpy as np
import pytest

from engine import Bot
from engine.errors import AcepointError
from engine.interfaces import benchmark
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


@pytest.fixture
def small_sample(monkeypatch):
    for name, value in SMALL.items():
        monkeypatch.setattr(benchmark, name, value)


@pytest.fixture(scope="module")
def sample(small_net):
    return benchmark.sample_games(Bot(small_net), 300, seed=1)


def test_json_has_the_fields_of_the_contract(small_sample, small_net, capsys):
    Bench(net=small_net, as_json=True).run()
    told = json.loads(capsys.readouterr().out)

    assert list(told) == ["machine", "rows"]
    assert len(told["rows"]) == 6
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
    speed, answers = benchmark._ask("gnubg_nn", "results", sample.packed, sample.dice)

    assert speed > 0
    checked = benchmark._checked((speed, answers), sample, "gnubg_nn", benchmark._same_results)
    assert checked == speed


def results_of(sample, index: int) -> list[list[int]]:
    rows = slice(sample.offsets[index], sample.offsets[index + 1])
    return unpack(sample.results[rows]).reshape(-1, 52).tolist()


def test_a_peer_that_misses_a_play_is_not_timed(sample):
    answers = [results_of(sample, index) for index in range(len(sample.packed))]
    right = (1.0, answers)
    several = int(np.argmax(np.diff(sample.offsets) > 1))
    wrong = (1.0, [a[1:] if i == several else a for i, a in enumerate(answers)])

    check = benchmark._same_results
    assert benchmark._checked(right, sample, "peer", check) == 1.0
    with pytest.raises(AcepointError, match="peer disagrees about the plays of"):
        benchmark._checked(wrong, sample, "peer", check)


def test_a_peer_that_plays_illegally_is_not_timed(sample):
    legal = [results_of(sample, index)[-1] for index in range(len(sample.packed))]
    passed = unpack(swap(sample.packed)).reshape(-1, 52).tolist()

    check = benchmark._is_legal
    assert benchmark._checked((2.0, legal), sample, "peer", check) == 2.0
    assert benchmark._checked((2.0, [None, *legal[1:]]), sample, "peer", check) == 2.0
    with pytest.raises(AcepointError, match="peer disagrees"):
        benchmark._checked((2.0, passed), sample, "peer", check)


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
