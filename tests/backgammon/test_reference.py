import pytest

from engine.backgammon.position import Position, read_id
from engine.backgammon.reference import legal_results, perft
from engine.backgammon.variants import HYPERGAMMON, VARIANTS

# Distinct results of each roll from the start, as two other programs count them.
START_COUNTS = {
    (1, 1): 42, (2, 1): 15, (2, 2): 75, (3, 1): 16, (3, 2): 17, (3, 3): 73, (4, 1): 14,
    (4, 2): 18, (4, 3): 17, (4, 4): 52, (5, 1): 8, (5, 2): 8, (5, 3): 9, (5, 4): 9, (5, 5): 4,
    (6, 1): 10, (6, 2): 14, (6, 3): 14, (6, 4): 14, (6, 5): 7, (6, 6): 11,
}  # fmt: skip


@pytest.mark.parametrize(("dice", "count"), START_COUNTS.items())
def test_results_of_each_opening_roll(dice, count):
    assert len(legal_results(Position.start(), dice)) == count


@pytest.mark.parametrize(
    ("name", "count"), [("backgammon", 447), ("nackgammon", 547), ("hypergammon", 195)]
)
def test_perft_of_one_roll(name, count):
    assert perft(Position.start(VARIANTS[name]), 1) == count


def test_perft_counts_nothing_after_the_end():
    position, _ = read_id("AAAADgAAAAAAAA")
    assert perft(position, 0) == 1
    assert perft(position, 1) == 0


def test_perft_adds_up():
    start = Position.start(HYPERGAMMON)
    after = legal_results(start, (6, 6))
    assert after == {start.swapped()} or len(after) > 1
    assert sum(perft(result, 1) for result in after) > 0


def test_only_the_rules_of_the_mover_matter():
    """Given a closed board, the side on the bar stays where it is."""
    position, _ = read_id("27YBADgAAAABAA")
    assert legal_results(position, (3, 5)) == {position.swapped()}
