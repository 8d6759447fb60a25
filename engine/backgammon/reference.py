"""The rules of moving, slow and literal: the twin of `engine.kernels.movegen`.

Each rule stands in the docstring of the function that applies it. Nothing here is shared with the
kernel, and nothing but tests and perft uses it.
"""

from collections.abc import Iterator

import numpy as np

from engine.backgammon.dice import ROLLS, Dice
from engine.backgammon.position import Position

__all__ = ["legal_results", "perft"]

_Row = tuple[int, ...]  # 26 columns of one side: off, points 1..24, bar
_State = tuple[_Row, _Row]  # the mover and the opponent, each in his own numbering
_OFF, _BAR = 0, 25
_HOME = range(1, 7)


def legal_results(position: Position, dice: Dice) -> set[Position]:
    """The distinct positions that the legal plays of a roll give, as the next player sees them.

    When nothing is legal that is the same position, seen from the other side. When the game is
    over there is none.
    """
    mover, opponent = (tuple(row) for row in position.board.tolist())
    if not any(mover[1:]) or not any(opponent[1:]):
        return set()
    return {
        Position(np.array([theirs, mine], np.int8), position.variant)
        for mine, theirs in _after_legal_plays((mover, opponent), dice)
    }


def perft(position: Position, depth: int) -> int:
    """How many results there are after so many rolls, summed over the 21 rolls at each."""
    if depth == 0:
        return 1
    return sum(
        perft(result, depth - 1) for dice in ROLLS for result in legal_results(position, dice)
    )


def _after_legal_plays(start: _State, dice: Dice) -> set[_State]:
    """Every state that a legal play can lead to.

    Rule: who rolls a double plays its number four times.
    Rule: a play uses both dice if any order of them allows it.
    Rule: of a double it uses as many of the four numbers as possible.
    Rule: if either die can be played but not both, it must be the larger; if only one of them can
    be played at all, that one.
    Rule: nobody may pass while a legal play exists; when none does, the turn is lost.
    """
    first, second = dice
    orders = [[first] * 4] if first == second else [[first, second], [second, first]]
    ways = [way for order in orders for way in _ways(start, order)]
    most = max(len(used) for used, _ in ways)
    longest = {used: states for used, states in ways if len(used) == most}
    larger_alone = (max(dice),)
    if larger_alone in longest:
        return longest[larger_alone]
    return set().union(*longest.values())


def _ways(start: _State, order: list[int]) -> Iterator[tuple[tuple[int, ...], set[_State]]]:
    """The dice used and the states reached by none, one, two ... of the dice in this order."""
    states = {start}
    for count in range(len(order) + 1):
        if states:
            yield tuple(order[:count]), states
        if count < len(order):
            states = {after for state in states for after in _moves(state, order[count])}


def _moves(state: _State, die: int) -> Iterator[_State]:
    """Every way to move one checker by one die.

    Rule: each die is a move of its own; one checker may make several, and may then stop on the
    points between only if they are open.
    """
    mover, _ = state
    for source in range(1, _BAR + 1):
        if mover[source] and _may_leave(mover, source):
            if source - die >= 1:
                if _is_open(state, source - die):
                    yield _moved(state, source, source - die)
            elif _may_bear_off(mover, source, die):
                yield _moved(state, source, _OFF)


def _may_leave(mover: _Row, source: int) -> bool:
    """Rule: every checker on the bar enters before anything else moves."""
    return source == _BAR or mover[_BAR] == 0


def _is_open(state: _State, target: int) -> bool:
    """Rule: a checker may not land on a point held by two or more opposing checkers.

    Rule: a checker on the bar enters by the same rule in the opponent's home board; a 1 brings it
    to the 24-point, a 6 to the 19-point.
    """
    _, opponent = state
    return opponent[25 - target] < 2


def _may_bear_off(mover: _Row, source: int, die: int) -> bool:
    """Rule: bearing off needs all checkers in the home board.

    Rule: a checker that is hit during the bear-off must come round again first.
    Rule: a die bears off a checker from its own number, or a larger one from the highest occupied
    point when no checker stands higher.
    """
    occupied = [point for point in range(1, _BAR + 1) if mover[point]]
    if not all(point in _HOME for point in occupied):
        return False
    return die == source or (die > source and source == max(occupied))


def _moved(state: _State, source: int, target: int) -> _State:
    """Rule: a single checker on the point where another side's checker lands goes to the bar.

    Rule: hit and run is legal: the checker that has hit may go on.
    """
    mover, opponent = list(state[0]), list(state[1])
    mover[source] -= 1
    mover[target] += 1
    if target != _OFF and opponent[25 - target] == 1:
        opponent[25 - target] = 0
        opponent[_BAR] += 1
    return tuple(mover), tuple(opponent)
