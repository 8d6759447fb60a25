import pytest

from engine.backgammon.variants import BACKGAMMON, HYPERGAMMON, NACKGAMMON, VARIANTS, variant
from engine.errors import NotationError


def test_the_three_variants():
    assert list(VARIANTS) == ["backgammon", "nackgammon", "hypergammon"]
    assert [each.checkers for each in VARIANTS.values()] == [15, 15, 3]
    assert [each.jacoby for each in VARIANTS.values()] == [False, False, True]


def test_the_starting_positions():
    def counts(each):
        return {point: int(count) for point, count in enumerate(each.start[0]) if count}

    assert counts(BACKGAMMON) == {24: 2, 13: 5, 8: 3, 6: 5}
    assert counts(NACKGAMMON) == {24: 2, 23: 2, 13: 4, 8: 3, 6: 4}
    assert counts(HYPERGAMMON) == {24: 1, 23: 1, 22: 1}
    assert all((each.start[0] == each.start[1]).all() for each in VARIANTS.values())


def test_a_start_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        BACKGAMMON.start[0, 6] = 4


def test_names():
    assert variant("nackgammon") is NACKGAMMON
    with pytest.raises(NotationError, match=r"'chess'.*backgammon, nackgammon, hypergammon"):
        variant("chess")
