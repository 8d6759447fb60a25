"""Plays: the steps of one, how it is written, and all that are legal."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from engine.backgammon.board import BAR, OFF, POINTS, Boards
from engine.backgammon.dice import Dice, rolls_array
from engine.backgammon.position import Position, require_position
from engine.kernels import movegen
from engine.kernels.steps import canonical_steps

__all__ = ["CANNOT_MOVE", "Play", "Step", "legal_plays", "plays_between"]

CANNOT_MOVE = "cannot move"
"""How the play without steps is written."""


class Step(NamedTuple):
    """One checker moved by one die, in the numbering of the player who moves it."""

    source: int  # 1..24, or 25 for the bar
    target: int  # 1..24, or 0 for off
    hit: bool


@dataclass(frozen=True, slots=True)
class Play:
    """What a player does with one roll.

    dice: the roll. steps: in an order in which they can be made; none when nothing is legal.
    result: the position after it, as the next player sees it.
    """

    dice: Dice
    steps: tuple[Step, ...]
    result: Position

    def __str__(self) -> str:
        """Standard notation, rearmost checkers first: `13/7*/5`, `bar/21* 8/4(2)`, `6/off`."""
        return _written(self.steps, max(self.dice)) or CANNOT_MOVE


def legal_plays(position: Position, dice: Dice) -> list[Play]:
    """One play for each distinct position that a legal play of the roll can give.

    When nothing is legal, one play without steps; when the game is over, none. Raises PositionError
    for what is no position, NotationError for dice that are not two numbers from 1 to 6.
    """
    require_position(position)
    packed = movegen.pack(position.board[None])
    rolled = rolls_array([dice])
    results, _ = movegen.legal_results(packed, rolled)
    count = len(results)
    first, second = rolled[0].tolist()
    steps = canonical_steps(packed.repeat(count, 0), rolled.repeat(count, 0), results)
    blots = _blots(position)
    return [
        Play((first, second), _with_hits(moves, blots), Position.trusted(board, position.variant))
        for moves, board in zip(steps.tolist(), _read_only_boards(results), strict=True)
    ]


def plays_between(
    positions: Sequence[Position], dice: Sequence[Dice], results: Boards
) -> list[Play]:
    """The play that leads from each of M positions to the result chosen for it.

    results: int8[M, 2, 32] packed, as the next player sees them; each must come from the move
    generator for its position and dice.
    """
    packed = movegen.pack(np.array([position.board for position in positions]).reshape(-1, 2, 26))
    rolled = rolls_array(dice)
    steps = canonical_steps(packed, rolled, results).tolist()
    boards = _read_only_boards(results)
    return [
        Play(
            (first, second),
            _with_hits(moves, _blots(position)),
            Position.trusted(board, position.variant),
        )
        for position, (first, second), moves, board in zip(
            positions, rolled.tolist(), steps, boards, strict=True
        )
    ]


def _read_only_boards(packed: Boards) -> Boards:
    boards: Boards = movegen.unpack(packed)
    boards.setflags(write=False)
    return boards


def _blots(position: Position) -> list[bool]:
    """Whether a lone checker of the opponent stands on each point 0..24 of the player on roll."""
    return [False, *(count == 1 for count in position.board[1, POINTS:OFF:-1].tolist())]


def _with_hits(moves: list[list[int]], blots: list[bool]) -> tuple[Step, ...]:
    """The steps of (source, target) pairs, which end at a source 0, with the hits they make."""
    steps: list[Step] = []
    for source, target in moves:
        if source == OFF:
            break
        hit = blots[target] and all(target != step.target for step in steps)
        steps.append(Step(source, target, hit))
    return tuple(steps)


def _written(steps: tuple[Step, ...], highest_die: int) -> str:
    """The notation of the steps; the steps of one checker are joined, equal ones counted."""
    pending = sorted(steps, key=lambda step: (-step.source, -step.target, not step.hit))
    chains: dict[tuple[int, int], list[list[Step]]] = {}
    while pending:
        chain = [pending.pop(0)]
        while following := [step for step in pending if step.source == chain[-1].target]:
            pending.remove(following[0])
            chain.append(following[0])
        chains.setdefault((chain[0].source, chain[-1].target), []).append(chain)
    return " ".join(_written_chains(equal, highest_die) for equal in chains.values())


def _written_chains(chains: list[list[Step]], highest_die: int) -> str:
    """The notation of checkers that make the same steps; the first of them makes the hits."""
    first = chains[0]
    source = "bar" if first[0].source == BAR else str(first[0].source)
    # 6/5/off with 61 must not look like a 6 alone.
    stepwise = first[-1].target == OFF and first[0].source <= highest_die
    stops = [
        ("off" if step.target == OFF else str(step.target)) + "*" * step.hit
        for step in first
        if step.hit or stepwise or step is first[-1]
    ]
    times = f"({len(chains)})" if len(chains) > 1 else ""
    return "/".join([source, *stops]) + times
