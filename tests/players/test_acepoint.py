"""What Acepoint does to the cube, given what its bot thinks of it."""

from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from engine.backgammon.match import Action, Match, Offer, act, legal_actions
from engine.backgammon.variants import BACKGAMMON
from engine.bot import Bot
from engine.cube.context import CubeContext
from engine.cube.decisions import CubeActions
from engine.kernels.dealing import game_seeds
from engine.kernels.movegen import pack
from engine.players.acepoint import AcepointPlayer, chosen_actions
from engine.players.base import Array
from engine.players.cubeful import play_matches
from engine.players.random import RandomPlayer

BOARDS = np.repeat(pack(BACKGAMMON.start[None]), 5, axis=0)


class Oracle:
    """Thinks of five positions what it is told to."""

    def __init__(self, double_take: list[float]) -> None:
        self._take = np.array(double_take)
        self.contexts: list[CubeContext] = []

    def cube_packed(self, packed: Array, context: CubeContext) -> CubeActions:
        self.contexts.append(context)
        one = np.ones(len(packed))
        doubles = self._take > 0.5
        return CubeActions(0 * one, self._take, one, doubles, self._take <= 1, self._take < 0)


def decided(match: Match, *double_take: float) -> list[Action]:
    oracle = Oracle([*double_take, *[0.0] * (5 - len(double_take))])
    actions = chosen_actions(cast(Bot, oracle), BOARDS, match).tolist()
    return [Action(action) for action in actions[: len(double_take)]]


DOUBLED = act(Match(beavers=True), Action.DOUBLE)


def test_before_the_roll() -> None:
    assert decided(Match(), 0.4, 0.6) == [Action.ROLL, Action.DOUBLE]


def test_a_double_is_taken_passed_or_beavered() -> None:
    assert decided(DOUBLED, -0.2, 0.9, 1.2) == [Action.BEAVER, Action.TAKE, Action.PASS]
    plain = act(Match(), Action.DOUBLE)
    assert decided(plain, -0.2, 0.9, 1.2) == [Action.TAKE, Action.TAKE, Action.PASS]


def test_a_beaver_is_answered_by_what_the_doubled_stake_is_worth() -> None:
    beavered = act(DOUBLED, Action.BEAVER)
    assert decided(beavered, 0.1, -0.4, -1.2) == [Action.RACCOON, Action.TAKE, Action.PASS]
    at_limit = replace(beavered, max_cube_exponent=2)
    assert decided(at_limit, 0.1) == [Action.TAKE]


def test_a_raccoon_is_taken_or_passed_by_the_beaverer() -> None:
    raccooned = act(act(DOUBLED, Action.BEAVER), Action.RACCOON)
    assert decided(raccooned, -0.5, 0.9, 1.1) == [Action.TAKE, Action.TAKE, Action.PASS]


def test_the_bot_is_asked_as_the_doubler() -> None:
    oracle = Oracle([0.0] * 5)
    match = Match(length=7, score=(2, 4), on_roll=0, turn=0, cube=2, cube_owner=0)
    chosen_actions(cast(Bot, oracle), BOARDS, act(match, Action.DOUBLE))

    assert oracle.contexts == [CubeContext.of(match)]


class Watching(AcepointPlayer):
    """Makes sure that every cube action is legal, and notes at which offers it was asked."""

    def __init__(self, net: Path) -> None:
        super().__init__("acepoint", net, 0)
        self.offers: set[Offer] = set()

    def act_packed(self, packed: Array, match: Match) -> Array:
        self.offers.add(match.offer)
        actions = super().act_packed(packed, match)
        assert set(actions.tolist()) <= set(legal_actions(match))
        return actions


@pytest.mark.parametrize("length", [0, 3])
def test_with_a_net_it_plays_by_the_rules(small_net: Path, length: int) -> None:
    player = Watching(small_net)
    beginning = Match(length=length, beavers=True, state=0)  # type: ignore[arg-type]

    together = play_matches(player, RandomPlayer(), game_seeds(4, np.arange(30)), beginning)
    alone = play_matches(player, RandomPlayer(), game_seeds(4, np.arange(3)), beginning)

    assert together.score[:3].tolist() == alone.score.tolist()
    assert {Offer.NONE, Offer.DOUBLE} <= player.offers
