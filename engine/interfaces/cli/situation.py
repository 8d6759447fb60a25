"""The position that a command is asked about, and the situation in which it is judged."""

from typing import TYPE_CHECKING

from engine.errors import PositionError

if TYPE_CHECKING:
    from engine.backgammon.dice import Dice
    from engine.backgammon.position import Position
    from engine.cube.context import CubeContext

__all__ = ["read_situation"]


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
    from engine.cube.context import CubeContext
    from engine.cube.met import load_table

    position, match = read_id(text, variant(variant_name))
    if position.is_over:
        raise PositionError(f"position {text!r}: the game is over")
    rolled = match.dice if match else None
    if dice is not None:
        rolled = parse_dice(dice)
    return position, rolled, CubeContext.of(match, load_table(table) if table else None)
