"""The net's own estimates with the cube, no roll looked ahead; bearoffs are exact."""

from functools import cached_property
from typing import Any

import numpy as np

from engine.backgammon.board import BAR, OFF
from engine.cube.bearoff import with_exact_equities
from engine.cube.context import Contexts, CubeContext, cubes_of, distinct
from engine.cube.equity import CubeEquities, best_equities, cube_equities, timing
from engine.cube.evaluator import Ranking
from engine.evaluation import outcome
from engine.evaluation.bearoff import load
from engine.evaluation.network import Network
from engine.kernels.bearoff import MAX_POINTS
from engine.kernels.choice import choose_cubeful_results
from engine.kernels.movegen import boards_of, words_of

__all__ = ["Static"]

Array = np.ndarray[Any, Any]


class Static:
    """0-ply: the `engine.cube.evaluator.Evaluator` that asks a net, and bearoff databases first.

    network: the net without them; they are 55 MB to read, so not before a position may be in them.
    """

    def __init__(self, network: Network) -> None:
        self._bare = network

    def evaluate(self, packed: Array) -> Array:
        """See `Evaluator`."""
        return self._network_for(packed).evaluate(packed)

    def choose(self, packed: Array, dice: Array, contexts: Contexts | None) -> Array:
        """See `Evaluator`."""
        if contexts is None:
            results, _ = self.network.choose(packed, dice)
            return results
        situations, index = distinct(contexts, len(packed))
        cubes = cubes_of([situation.flipped() for situation in situations])
        words = words_of(packed)
        chosen = np.empty((len(packed), 8), np.uint64)
        values = np.empty((len(packed), 5), np.float32)
        rolled = np.ascontiguousarray(dice, np.int8)
        choose_cubeful_results(self.network.kernel, words, rolled, cubes, index, chosen, values)
        return boards_of(chosen)

    def rank(self, results: Array, context: CubeContext) -> Ranking:
        """See `Evaluator`."""
        theirs = context.flipped()
        cubeful, values = self.cube(results, theirs)
        equities = best_equities(cubeful, theirs)
        order = np.lexsort((-results[:, 1, OFF], outcome.equity(values), equities))
        plies = np.zeros(len(results), np.int64)
        return Ranking(order, -equities, outcome.flip(values), plies)

    def cube(self, packed: Array, contexts: Contexts) -> tuple[CubeEquities, Array]:
        """See `Evaluator`; here finished games may be among the positions."""
        network = self._network_for(packed)
        values = network.evaluate(packed)
        modelled = cube_equities(values, contexts, timing(packed))
        return with_exact_equities(modelled, network.kernel.bearoff, packed, contexts), values

    @cached_property
    def network(self) -> Network:
        """The net with the databases."""
        return self._bare.with_bearoff(load())

    def _network_for(self, packed: Array) -> Network:
        """What evaluates these positions: without the databases when none could be there."""
        beyond = packed[:, :, MAX_POINTS + 1 : BAR + 1].any(axis=(1, 2))
        return self._bare if beyond.all() else self.network
