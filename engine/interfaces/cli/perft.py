"""`acepoint perft`: how many positions there are, counted by the move generator."""

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import tyro

from engine.interfaces.cli.options import AsJson, VariantName, require_range
from engine.interfaces.cli.output import print_json, print_table

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["Perft", "count_positions"]

CHUNK = 64  # positions expanded at once: few enough that the memory of their results is used again


@dataclass(frozen=True)
class Perft:
    """Count the positions that the rules allow from the start, to check the move generator.

    A depth is one roll and its play: the distinct results of each of the 21 rolls are added up. A
    finished game has none. (A depth is not a ply of --plies, which are counted as gnubg counts.)

    Example: acepoint perft 2 --variant nackgammon
    """

    depth: tyro.conf.Positional[int]
    """How many plays deep; 2 takes no time, 3 a minute."""
    variant: VariantName = "backgammon"
    as_json: AsJson = False

    def run(self) -> None:
        """Count and print each depth."""
        from engine.backgammon.variants import variant
        from engine.kernels.movegen import pack

        require_range("depth", self.depth, 1)
        start = pack(variant(self.variant).start[None])
        rows = []
        for depth in range(1, self.depth + 1):
            began = time.perf_counter()
            rows.append((depth, count_positions(start, depth), time.perf_counter() - began))
        if self.as_json:
            print_json(
                {
                    "variant": self.variant,
                    "depth": self.depth,
                    "counts": [count for _, count, _ in rows],
                    "seconds": sum(seconds for *_, seconds in rows),
                }
            )
        else:
            print_table(
                ("depth", "positions", "seconds"),
                ((depth, f"{count:,}", f"{seconds:.2f}") for depth, count, seconds in rows),
            )


def count_positions(packed: "npt.NDArray[np.int8]", depth: int) -> int:
    """How many positions come after `depth` plays (at least 1) from int8[N, 2, 32] packed ones."""
    from engine.kernels.movegen import legal_results_all_rolls

    count = 0
    for start in range(0, len(packed), CHUNK):
        results, _ = legal_results_all_rolls(packed[start : start + CHUNK])
        count += len(results) if depth == 1 else count_positions(results, depth - 1)
    return count
