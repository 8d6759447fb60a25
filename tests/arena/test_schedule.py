import numpy as np
import pytest

from engine.arena.schedule import Chunks, RoundRobin


def test_every_two_players_meet_once() -> None:
    assert RoundRobin(("a", "b", "c"), 5).meetings == [(0, 1), (0, 2), (1, 2)]
    assert RoundRobin(("same", "same"), 5).meetings == [(0, 1)]


@pytest.mark.parametrize("seconds_a_deal", [0.0, 0.01, 60.0])
def test_every_missing_deal_is_in_one_chunk(seconds_a_deal: float) -> None:
    missing = {(0, 1): np.arange(5000), (0, 2): np.array([], np.int64), (1, 2): np.array([3, 9])}
    chunks = Chunks(missing)
    given: dict[tuple[int, int], list[int]] = {meeting: [] for meeting in missing}

    for chunk in chunks:
        assert len(chunk.deals)
        given[chunk.meeting].extend(chunk.deals.tolist())
        chunks.took(chunk, seconds_a_deal * len(chunk.deals))

    assert given == {meeting: deals.tolist() for meeting, deals in missing.items()}


def test_chunks_grow_to_some_seconds_of_work_and_no_further() -> None:
    chunks = Chunks({(0, 1): np.arange(4000)})
    sizes = []
    for chunk in chunks:
        sizes.append(len(chunk.deals))
        chunks.took(chunk, 0.01 * len(chunk.deals))

    assert sizes[0] == Chunks.FIRST
    assert all(size == 100 * Chunks.SECONDS for size in sizes[6:-1])


def test_slow_players_get_one_deal_at_a_time() -> None:
    chunks = Chunks({(0, 1): np.arange(10)})
    sizes = []
    for chunk in chunks:
        sizes.append(len(chunk.deals))
        chunks.took(chunk, 60.0 * len(chunk.deals))

    assert set(sizes[1:]) == {1}
