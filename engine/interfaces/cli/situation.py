"""The position that a command is asked about, and the situation in which it is judged."""

from typing import TYPE_CHECKING

from engine.errors import PositionError

if TYPE_CHECKING:
    from engine.backgammon.dice import Dice
    from engine.backgammon.position import Position
    from engine.cube.context import CubeContext

__all__ = ["equity_cells", "equity_headings", "print_situation", "read_situation"]


def read_situation(
    text: str, dice: str | None, variant_name: str, table: str | None
) -> "tuple[Position, Dice | None, CubeContext]":
    """The position of an ID, the dice that are given or else the ID's, and the situation.

    dice: such as 31; table: the name or file of a match equity table. Raises AcepointError for
    anything malformed, and PositionError for a game that is over.
    """
    from engine.backgammon.dice import parse_dice
    from engine.backgammon.position import read_id
    from engine.backgammon.variants import variant
    from engine.cube.context import decision_context
    from engine.cube.met import load_table

    position, match = read_id(text, variant(variant_name))
    if position.is_over:
        raise PositionError(f"position {text!r}: the game is over")
    rolled = match.dice if match else None
    if dice is not None:
        rolled = parse_dice(dice)
    try:
        context = decision_context(match, load_table(table) if table else None)
    except PositionError as error:
        raise PositionError(f"position {text!r}: {error}") from None
    return position, rolled, context


def print_situation(position: "Position", context: "CubeContext") -> None:
    """The board, and score, cube and rules in a line; the player on roll is X."""
    from engine.interfaces.board_text import draw
    from engine.interfaces.situation_text import describe

    print(f"\n{draw(position)}\n\n {describe(context)}.")


def equity_headings(context: "CubeContext") -> tuple[str, ...]:
    """Over `equity_cells`."""
    return ("equity", "diff") if context.is_money else ("EMG", "diff", "MWC")


def equity_cells(context: "CubeContext", equity: float, difference: float | None) -> list[str]:
    """An equity, what it is behind the best if that is to be said, and in a match the chance in per
    cent to win it.
    """
    behind = "" if difference is None else f"{difference:+.4f}"
    chance = [] if context.is_money else [f"{100 * context.mwc(equity):.2f}"]
    return [f"{equity:+.4f}", behind, *chance]
