import math

import pytest

from engine.errors import AcepointError, FileFormatError
from training.config import Learning, SelfPlay, Settings, Shape, Stages


def test_settings_survive_json():
    settings = Settings(
        variant="hypergammon",
        seed=2**63,
        init="some.safetensors",
        shape=Shape("thermometer", (64, 8)),
        self_play=SelfPlay(10, 20, 30, 0.1, 3),
        stages=Stages(0.5, 1.0, 0.25, 0.75),
        learning=Learning(0.25, 2, 0.125, 0.5, 3, 4, 5),
    )
    assert Settings.from_json(settings.to_json()) == settings
    assert len(settings.to_json().splitlines()) == 1


WHOLE = Settings().to_json()


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", "null", WHOLE[:-1], WHOLE.replace("rate", "tempo")]
)
def test_settings_that_are_none_are_refused_in_one_line(text):
    with pytest.raises(FileFormatError) as caught:
        Settings.from_json(text)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ({"self_play": SelfPlay(games=0)}, "games 0"),
        ({"self_play": SelfPlay(backups=-1)}, "backups -1"),
        ({"learning": Learning(buffer=10**20)}, "buffer 100000000000000000000"),
        ({"self_play": SelfPlay(random_plays=10**20)}, "random-plays 100000000000000000000"),
        ({"self_play": SelfPlay(random_share=1.5)}, "random-share 1.5"),
        ({"self_play": SelfPlay(random_share=math.nan)}, "random-share nan"),
        ({"self_play": SelfPlay(random_plays=-1)}, "random-plays -1"),
        ({"stages": Stages(td_share=-0.1)}, "td-share -0.1"),
        ({"stages": Stages(first_lambda=2)}, "first-lambda 2"),
        ({"stages": Stages(last_lambda=math.inf)}, "last-lambda inf"),
        ({"learning": Learning(rate=0)}, "rate 0"),
        ({"learning": Learning(rate=math.nan)}, "rate nan"),
        ({"learning": Learning(rate=math.inf)}, "rate inf"),
        ({"learning": Learning(td_rate=0)}, "td-rate 0"),
        ({"learning": Learning(td_batch=0)}, "td-batch 0"),
        ({"learning": Learning(warm_up=1.5)}, "warm-up 1.5"),
        ({"learning": Learning(batch=0)}, "batch 0"),
        ({"learning": Learning(replay=0)}, "replay 0"),
        ({"learning": Learning(buffer=0)}, "buffer 0"),
        ({"shape": Shape(hidden=())}, "hidden ()"),
        ({"shape": Shape(hidden=(64, 12))}, "hidden 64 12"),
        ({"shape": Shape(hidden=(-8,))}, "hidden -8"),
        ({"shape": Shape(hidden=(80_000_000_000,))}, "hidden 80000000000"),
        ({"narrow": 8}, "narrow 8"),
        ({"narrow": 12, "init": "net"}, "narrow 12"),
        ({"narrow": -8, "init": "net"}, "narrow -8"),
        ({"widen": (16, 8)}, "widen 16 8"),
        ({"seed": -1}, "seed -1"),
        ({"seed": 2**64}, "seed 18446744073709551616"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused_by_name_and_value(setting, said):
    with pytest.raises(AcepointError) as caught:
        Settings(**setting)
    assert str(caught.value).startswith(f"{said}: expected ")


def test_lambda_falls_linearly_in_each_stage():
    stages = Stages(td_share=0.5, first_lambda=0.8, last_lambda=0.2, backup_lambda=0.6)
    assert [stages.decay(progress) for progress in (0.0, 0.25)] == pytest.approx([0.8, 0.5])
    assert stages.decay(0.499) == pytest.approx(0.2, abs=0.01)
    later = [stages.decay(progress) for progress in (0.5, 0.75, 1.0)]
    assert later == pytest.approx([0.6, 0.3, 0.0])


def test_one_stage_alone():
    assert Stages(td_share=1.0, last_lambda=0.1).decay(1.0) == pytest.approx(0.0, abs=0.1)
    assert Stages(td_share=0.0, backup_lambda=0.6).decay(0.0) == pytest.approx(0.6)


def test_the_step_size_ends_at_zero_whatever_the_stages():
    both = Settings(stages=Stages(td_share=0.2), learning=Learning(0.1, rate=0.4, warm_up=0.25))
    told = [both.rate_at(progress) for progress in (0.0, 0.1, 0.2, 0.3, 0.4, 0.6, 1.0)]
    assert told == pytest.approx([0.1, 0.09, 0.0, 0.175, 0.3, 0.2, 0.0])

    td_only = Settings(stages=Stages(td_share=1.0), learning=Learning(0.1))
    assert td_only.rate_at(0.999) == pytest.approx(0.0001)

    exact_only = Settings(stages=Stages(td_share=0.0), learning=Learning(rate=0.4, warm_up=0.0))
    assert [exact_only.rate_at(progress) for progress in (0.0, 0.5)] == pytest.approx([0.4, 0.2])
