"""Which resignations are certain to cost nothing, by the rules alone."""

from engine.backgammon.board import (
    BACKGAMMON,
    GAMMON,
    HOME,
    OFF,
    POINTS,
    SINGLE,
    Boards,
    Phase,
    phases,
)
from engine.backgammon.match import Match, points_at_stake

__all__ = ["greatest_win", "is_certain_gain"]


def is_certain_gain(board: Boards, match: Match) -> bool:
    """Whether the resignation offered brings the most points that the game can still be worth.

    board: int8[2, 26], row 0 the player `on_roll`. In a match points that nobody needs do not
    count. A double to come does not either: who resigns would pass it.
    """
    winner = 0 if match.turn == match.on_roll else 1
    kinds = match.resignation, greatest_win(board, winner)
    offered, most = (points_at_stake(match, kind) for kind in kinds)
    return offered >= (min(most, match.away[winner]) if match.length else most)


def greatest_win(board: Boards, winner: int) -> int:
    """What row `winner` of an int8[2, 26] board could win at most: 1, 2 or 3.

    A loser with a checker off loses a single game; without contact one whose checkers have left
    the bar and the winner's home board loses no backgammon.
    """
    loser = board[1 - winner]
    if loser[OFF]:
        return SINGLE
    far_back = loser[POINTS - HOME + 1 :].any()
    return BACKGAMMON if far_back or phases(board) == Phase.CONTACT else GAMMON
