"""Positions that games really reach."""

from collections.abc import Callable

import numpy as np
import pytest

from engine.backgammon.board import Boards, is_over
from engine.backgammon.dice import ROLLS, WEIGHTS
from engine.backgammon.variants import Variant
from engine.kernels import movegen

PlayedBoards = Callable[[Variant, int], Boards]


@pytest.fixture(scope="session")
def played_boards() -> PlayedBoards:
    """played_boards(variant, N): int8[N, 2, 26] boards of games of random legal plays."""

    def play(variant: Variant, wanted: int) -> Boards:
        generator = np.random.default_rng(wanted)
        games = max(wanted // 100, 20)
        rolls = np.array(ROLLS, np.int8)
        start = movegen.pack(np.tile(variant.start, (games, 1, 1)))
        boards, seen, count = start, [], 0
        while count < wanted:
            dice = rolls[generator.choice(len(ROLLS), size=games, p=WEIGHTS / WEIGHTS.sum())]
            results, offsets = movegen.legal_results(boards, dice)
            boards = results[generator.integers(offsets[:-1], offsets[1:])]
            seen.append(movegen.unpack(boards))
            count += games
            boards = np.where(is_over(movegen.unpack(boards))[:, None, None], start, boards)
        return np.concatenate(seen)[:wanted]

    return play
