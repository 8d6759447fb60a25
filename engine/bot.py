"""The bot: a net, and what it thinks of positions and plays."""

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.backgammon.dice import Dice, rolls_array
from engine.backgammon.match import Match
from engine.backgammon.plays import Play, legal_plays, plays_between
from engine.backgammon.position import Position, require_position
from engine.backgammon.variants import VARIANTS, Variant, require_variant
from engine.cube.context import Contexts, CubeContext, decision_context
from engine.cube.decisions import CubeActions, CubeDecision, actions_of, decision_of
from engine.cube.equity import Market, market, timing
from engine.cube.evaluator import Evaluator
from engine.cube.search import DEFAULT_FILTER, Progress, Search, filter_named, tell_nobody
from engine.cube.static import Static
from engine.errors import AcepointError, NetError, NotationError, PositionError
from engine.evaluation.network import Network
from engine.kernels.movegen import pack

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
        if self.variant not in VARIANTS:
            raise NetError(f"net {str(net)!r}: unknown variant {self.variant!r}")
        self._static = Static(self._net)
        self._evaluator: Evaluator = self._static
        if plies:
            self._evaluator = Search(self._static.network.quick, filters, threads, progress)

    @property
    def variant(self) -> str:
        """The name of the variant that the net was trained for."""
        return self._net.variant

    @property
    def net_hash(self) -> str:
        """SHA-256 of the net's weights."""
        return self._net.hash

    def require(self, variant: Variant) -> None:
        """Raises NetError when the net cannot play a variant: it has another number of checkers."""
        require_variant(variant)
        if variant.checkers != VARIANTS[self.variant].checkers:
            raise NetError(f"{variant.name}: the net plays {self.variant}")

    def evaluate(self, positions: Sequence[Position]) -> Array:
        """float32[N, 5] probabilities of N positions, for the player on roll before the roll."""
        self._require_positions(positions)
        return self.evaluate_packed(_packed(positions))

    def evaluate_packed(self, packed: Array) -> Array:
        """`evaluate` of int8[N, 2, 32] packed boards."""
        _require_packed(packed)
        return self._evaluator.evaluate(packed)

    def rank(
        self, position: Position, dice: Dice, match: Match | CubeContext | None = None
    ) -> list[Candidate]:
        """All legal plays, best first by cubeful equity, then cubeless equity, then checkers off.

        Plays that the filter leaves out come behind those that are looked at deeper.

        match: the match, or the situation of the mover; None is a money game, cube centred.
        Raises PositionError for a finished game, NetError when the net is for another variant.
        """
        self._require_positions([position], unfinished=True)
        plays = legal_plays(position, dice)
        results = _packed([play.result for play in plays])
        order, equities, probabilities, plies = self._evaluator.rank(results, _context(match))
        return [
            Candidate(plays[row], float(equities[row]), probabilities[row], int(plies[row]))
            for row in order
        ]

    def best(
        self, position: Position, dice: Dice, match: Match | CubeContext | None = None
    ) -> Play:
        """The play that `rank` puts first, without building the others.

        Of plays that differ by no more than rounding it may be another.
        """
        return self.best_many([position], [dice], match)[0]

    def best_many(
        self,
        positions: Sequence[Position],
        dice: Sequence[Dice],
        match: Match | CubeContext | None = None,
    ) -> list[Play]:
        """The best play of each of N positions with a roll each, in one batch."""
        self._require_positions(positions, unfinished=True)
        rolled = rolls_array(dice)
        if len(positions) != len(rolled):
            raise AcepointError(
                f"{len(positions)} positions, {len(rolled)} rolls: expected as many"
            )
        results = self.best_packed(_packed(positions), rolled, _context(match))
        return plays_between(positions, dice, results)

    def best_packed(self, packed: Array, dice: Array, contexts: Contexts | None = None) -> Array:
        """The best results, int8[N, 2, 32] as the next player sees them.

        packed: int8[N, 2, 32], none finished; dice: int8[N, 2], 1..6 in any order; contexts: the
        situation of the mover, one or N of them, or None for money games without the cube.
        """
        _require_packed(packed)
        if dice.shape != (len(packed), 2) or not ((dice >= 1) & (dice <= 6)).all():
            raise NotationError(
                f"dice of shape {dice.shape}: expected [{len(packed)}, 2] numbers from 1 to 6"
            )
        return self._evaluator.choose(packed, dice, contexts)

    def cube(self, position: Position, match: Match | CubeContext | None = None) -> CubeDecision:
        """The cube decision of the player on roll, before he rolls.

        match: as in `rank`; while a double is offered, the player on roll is the doubler.
        Raises PositionError for a finished game, NetError when the net is for another variant.
        """
        self._require_positions([position], unfinished=True)
        context = _context(match)
        equities, probabilities = self._evaluator.cube(_packed([position]), context)
        return decision_of(probabilities, equities, context)

    def market(self, position: Position, decision: CubeDecision) -> Market:
        """The winning chances at which the cube actions change, with the gammons of a decision."""
        return market(decision.probabilities, decision.context, timing(_packed([position])))

    def cube_packed(self, packed: Array, contexts: Contexts) -> CubeActions:
        """The cube decisions of N positions before the roll.

        packed: int8[N, 2, 32], none finished; contexts: the situation of the player on roll, one
        or N of them.
        """
        _require_packed(packed)
        equities, _ = self._evaluator.cube(packed, contexts)
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
        self._require_positions([position], unfinished=True)
        settings = settings or Settings()
        context = _context(match)
        if not settings.cubeful:
            context = context.without_cube()
        if dice is None:
            starts = cube_starts(_packed([position])[0], context)
            return Rollout(self._static.network, context, starts, settings, alternatives=False)
        ranking = self.rank(position, dice, context)
        if candidates is None:
            least = ranking[0].equity - FAR_BEHIND
            ranking = [play for play in ranking[:CANDIDATES] if play.equity >= least]
        starts = [
            play_start(str(candidate.play), _packed([candidate.play.result])[0], context)
            for candidate in ranking[:candidates]
        ]
        return Rollout(self._static.network, context, starts, settings, alternatives=True)

    def _require_positions(self, positions: Sequence[Position], unfinished: bool = False) -> None:
        """Raises PositionError or NetError for one that the bot cannot judge."""
        for position in _each(positions):
            try:
                self.require(position.variant)
            except NetError as error:
                raise NetError(f"position {position.id!r} is of {error}") from None
            if unfinished and position.is_over:
                raise PositionError(f"position {position.id!r}: the game is over")


def _require_packed(packed: Array) -> None:
    """Raises PositionError when these are no packed boards."""
    if packed.dtype != np.int8 or packed.shape[1:] != (2, 32):
        raise PositionError(
            f"boards of shape {packed.shape} and type {packed.dtype}: expected int8 [N, 2, 32]"
        )


def _packed(positions: Sequence[Position]) -> Array:
    return pack(np.array([position.board for position in positions]).reshape(-1, 2, 26))


def _each(positions: Sequence[Position]) -> Iterator[Position]:
    """One after the other. Raises PositionError when it is no list of positions."""
    if not isinstance(positions, Sequence):
        raise PositionError(f"positions {positions!r:.60}: expected a list of them")
    for position in positions:
        require_position(position)
        yield position


def _context(match: Match | CubeContext | None) -> CubeContext:
    return match if isinstance(match, CubeContext) else decision_context(match)
