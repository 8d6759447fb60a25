"""The bot: a net, and what it thinks of positions and plays."""

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.backgammon.board import BAR, OFF
from engine.backgammon.dice import Dice, rolls_array
from engine.backgammon.match import Match
from engine.backgammon.plays import Play, legal_plays, plays_between
from engine.backgammon.position import Position, require_position
from engine.backgammon.variants import VARIANTS
from engine.cube.bearoff import with_exact_equities
from engine.cube.context import Contexts, CubeContext, cubes_of, distinct
from engine.cube.decisions import CubeActions, CubeDecision, actions_of, decision_of
from engine.cube.equity import (
    CubeEquities,
    Market,
    best_equities,
    cube_equities,
    market,
    readiness,
)
from engine.cube.search import DEFAULT_FILTER, Progress, Search, filter_named, tell_nobody
from engine.errors import AcepointError, NetError, PositionError
from engine.evaluation import outcome
from engine.evaluation.bearoff import load
from engine.evaluation.network import Network
from engine.kernels import announce_compilation
from engine.kernels.bearoff import MAX_POINTS
from engine.kernels.choice import choose_cubeful_results
from engine.kernels.movegen import pack, words_of

if TYPE_CHECKING:
    from engine.cube.rollout import Rollout, Settings

__all__ = ["Bot", "Candidate", "released_net"]

Array = np.ndarray[Any, Any]

DEFAULT_VARIANT = "backgammon"
CANDIDATES = 5  # plays that are rolled out unless another number is asked for,
FAR_BEHIND = 0.16  # and the equity by which they may be worse than the best


@dataclass(frozen=True, slots=True)
class Candidate:
    """A play and what the bot thinks of it."""

    play: Play
    equity: float
    """For the player who makes the play: points per unit of the cube in money games, EMG in
    matches; cubeful, unless the cube is out of play."""
    probabilities: Array
    """float32[5] after the play, for the player who makes it (see `engine.evaluation.outcome`)."""
    plies: int
    """How many rolls it was looked ahead: fewer than the bot's if the filter left it out."""


def released_net(variant: str = DEFAULT_VARIANT) -> Path:
    """The file of the net that is shipped for a variant; NetError when there is none."""
    package = Path(__file__).parent
    folders = [folder for folder in (package / "models", package.parent / "models")
               if (folder / "manifest.json").exists()]  # fmt: skip
    if not folders:
        raise NetError("manifest.json of the released nets is missing: install Acepoint again")
    manifest: dict[str, str] = json.loads((folders[0] / "manifest.json").read_text())
    if variant not in manifest:
        raise NetError(
            f"no net is released for {variant}: train one (acepoint train --variant {variant}) "
            "and name it with --net"
        )
    return folders[0] / manifest[variant]


class Bot:
    """Ranks plays and evaluates positions with one net.

    Args:
        net: A net file; None is the released net for backgammon.
        plies: Rolls to look ahead, as gnubg counts them: 0 is the static evaluation.
        moves: The name of the filter that says which plays are looked at deeper.
        threads: How many look ahead at once; the results are the same for any number.
        progress: Told, while looking ahead, what is done.

    Raises NetError for a file that is not a sound net, AcepointError for the other arguments.
    """

    def __init__(
        self,
        net: str | os.PathLike[str] | None = None,
        plies: int = 0,
        *,
        moves: str = DEFAULT_FILTER,
        threads: int = 1,
        progress: Progress = tell_nobody,
    ) -> None:
        filters = filter_named(moves, plies)
        self._net = Network.load(released_net() if net is None else net)
        announce_compilation()
        if self.variant not in VARIANTS:
            raise NetError(f"net {str(net)!r}: unknown variant {self.variant!r}")
        self._search = Search(self._network.quick, filters, threads, progress) if plies else None

    @property
    def variant(self) -> str:
        """The name of the variant that the net was trained for."""
        return self._net.variant

    @property
    def net_hash(self) -> str:
        """SHA-256 of the net's weights."""
        return self._net.hash

    def evaluate(self, positions: Sequence[Position]) -> Array:
        """float32[N, 5] probabilities of N positions, for the player on roll before the roll."""
        return self.evaluate_packed(self._pack(positions))

    def evaluate_packed(self, packed: Array) -> Array:
        """`evaluate` of int8[N, 2, 32] packed boards."""
        if self._search:
            return self._search.evaluate(packed)
        return self._network_for(packed).evaluate(packed)

    def rank(
        self, position: Position, dice: Dice, match: Match | CubeContext | None = None
    ) -> list[Candidate]:
        """All legal plays, best first by cubeful equity, then cubeless equity, then checkers off.

        Plays that the filter leaves out come behind those that are looked at deeper.

        match: the match, or the situation of the mover; None is a money game, cube centred.
        Raises PositionError for a finished game, NetError when the net is for another variant.
        """
        self._refuse_finished([position])
        context = _context(match)
        plays = legal_plays(position, dice)
        packed = self._pack([play.result for play in plays])
        if self._search:
            order, equities, probabilities, plies = self._search.rank(packed, context)
        else:
            theirs = context.flipped()
            cubeful, values = self._static(packed, theirs)
            equities = -best_equities(cubeful, theirs)
            probabilities = outcome.flip(values)
            off = packed[:, 1, OFF]
            order = np.lexsort((-off, -outcome.equity(probabilities), -equities))
            plies = np.zeros(len(plays), np.int64)
        return [
            Candidate(plays[row], float(equities[row]), probabilities[row], int(plies[row]))
            for row in order
        ]

    def best(
        self, position: Position, dice: Dice, match: Match | CubeContext | None = None
    ) -> Play:
        """The play that `rank` puts first, without building the others."""
        return self.best_many([position], [dice], match)[0]

    def best_many(
        self,
        positions: Sequence[Position],
        dice: Sequence[Dice],
        match: Match | CubeContext | None = None,
    ) -> list[Play]:
        """The best play of each of N positions with a roll each, in one batch."""
        self._refuse_finished(positions)
        rolled = rolls_array(dice)
        if len(positions) != len(rolled):
            raise AcepointError(
                f"{len(positions)} positions, {len(rolled)} rolls: expected as many"
            )
        packed = self._pack(positions)
        return plays_between(positions, dice, self.best_packed(packed, rolled, _context(match)))

    def best_packed(self, packed: Array, dice: Array, contexts: Contexts | None = None) -> Array:
        """The best results, int8[N, 2, 32] as the next player sees them.

        packed: int8[N, 2, 32], none finished; dice: int8[N, 2], 1..6 in any order; contexts: the
        situation of the mover, one or N of them, or None for money games without the cube.
        """
        if self._search:
            return self._search.choose(packed, dice, contexts or CubeContext().without_cube())
        if contexts is None:
            results, _ = self._network.choose(packed, dice)
            return results
        situations, index = distinct(contexts, len(packed))
        cubes = cubes_of([situation.flipped() for situation in situations])
        boards = words_of(packed)
        chosen = np.empty((len(packed), 8), np.uint64)
        values = np.empty((len(packed), 5), np.float32)
        rolled = np.ascontiguousarray(dice, np.int8)
        choose_cubeful_results(self._network.kernel, boards, rolled, cubes, index, chosen, values)
        return chosen.view(np.int8).reshape(-1, 2, 32)

    def cube(self, position: Position, match: Match | CubeContext | None = None) -> CubeDecision:
        """The cube decision of the player on roll, before he rolls.

        match: as in `rank`; while a double is offered, the player on roll is the doubler.
        Raises PositionError for a finished game, NetError when the net is for another variant.
        """
        self._refuse_finished([position])
        context = _context(match)
        equities, probabilities = self._cube(self._pack([position]), context)
        return decision_of(probabilities, equities, context)

    def market(self, position: Position, decision: CubeDecision) -> Market:
        """The winning chances at which the cube actions change, with the gammons of a decision."""
        (ready,) = readiness(self._pack([position]))
        return market(decision.probabilities, decision.context, float(ready))

    def cube_packed(self, packed: Array, contexts: Contexts) -> CubeActions:
        """The cube decisions of N positions before the roll.

        packed: int8[N, 2, 32], none finished; contexts: the situation of the player on roll, one
        or N of them.
        """
        equities, _ = self._cube(packed, contexts)
        return actions_of(equities, contexts)

    def rollout(
        self,
        position: Position,
        dice: Dice | None = None,
        match: Match | CubeContext | None = None,
        settings: "Settings | None" = None,
        candidates: int | None = None,
    ) -> "Rollout":
        """A rollout about to begin: of the plays of a roll or, without dice, of the cube decision.

        candidates: how many of the best plays by `rank`; None is those that are not far behind.
        The other arguments and errors as in `rank`.
        """
        from engine.cube.rollout import Rollout, Settings, cube_starts, play_start

        if candidates is not None and candidates < 1:
            raise AcepointError(f"candidates {candidates}: expected a number from 1")
        self._refuse_finished([position])
        settings = settings or Settings()
        context = _context(match)
        if not settings.cubeful:
            context = context.without_cube()
        if dice is None:
            starts = cube_starts(self._pack([position])[0], context)
            return Rollout(self._network, context, starts, settings, alternatives=False)
        ranking = self.rank(position, dice, context)
        if candidates is None:
            least = ranking[0].equity - FAR_BEHIND
            ranking = [play for play in ranking[:CANDIDATES] if play.equity >= least]
        starts = [
            play_start(str(candidate.play), self._pack([candidate.play.result])[0], context)
            for candidate in ranking[:candidates]
        ]
        return Rollout(self._network, context, starts, settings, alternatives=True)

    def _cube(self, packed: Array, contexts: Contexts) -> tuple[CubeEquities, Array]:
        """What the uses of the cube are worth, and float32[N, 5] probabilities before the roll."""
        if self._search:
            return self._search.cube(packed, contexts)
        return self._static(packed, contexts)

    def _static(self, packed: Array, contexts: Contexts) -> tuple[CubeEquities, Array]:
        """`_cube` at 0-ply; exact where a bearoff database says it."""
        network = self._network_for(packed)
        values = network.evaluate(packed)
        modelled = cube_equities(values, contexts, readiness(packed))
        return with_exact_equities(modelled, network.kernel.bearoff, packed, contexts), values

    @cached_property
    def _network(self) -> Network:
        """The net with the bearoff databases. They are 55 MB to read, so not before it is used."""
        return self._net.with_bearoff(load())

    def _network_for(self, packed: Array) -> Network:
        """What evaluates these positions: without the databases when none could be there."""
        beyond = packed[:, :, MAX_POINTS + 1 : BAR + 1].any(axis=(1, 2))
        return self._net if beyond.all() else self._network

    def _pack(self, positions: Sequence[Position]) -> Array:
        checkers = VARIANTS[self.variant].checkers
        for position in _each(positions):
            if position.variant.checkers != checkers:
                raise NetError(
                    f"position {position.id!r} is of {position.variant.name}: "
                    f"the net plays {self.variant}"
                )
        return pack(np.array([position.board for position in positions]).reshape(-1, 2, 26))

    @staticmethod
    def _refuse_finished(positions: Sequence[Position]) -> None:
        for position in _each(positions):
            if position.is_over:
                raise PositionError(f"position {position.id!r}: the game is over")


def _each(positions: Sequence[Position]) -> Iterator[Position]:
    """One after the other. Raises PositionError when it is no list of positions."""
    if not isinstance(positions, Sequence):
        raise PositionError(f"positions {positions!r:.60}: expected a list of them")
    for position in positions:
        require_position(position)
        yield position


def _context(match: Match | CubeContext | None) -> CubeContext:
    return match if isinstance(match, CubeContext) else CubeContext.of(match)
