"""A board drawn in text, numbered from the side that looks at it."""

from collections.abc import Sequence

from engine.backgammon.position import Position

__all__ = ["draw"]

ROWS = 5  # checkers drawn on a point; a higher stack is written as a number
MINE, THEIRS = "X", "O"
TOP = (range(13, 19), range(19, 25))
BOTTOM = (range(12, 6, -1), range(6, 0, -1))


def draw(position: Position, names: tuple[str, str] = ("on roll", "opponent")) -> str:
    """The board as 13 lines of at most 80 columns, without a newline at the end.

    The first row of the board is X: its points are the numbers, its home is at the bottom right,
    and `names` begins with its name. O is the second row.
    """
    mine, theirs = ([int(count) for count in row] for row in position.board)
    points = {p: (mine[p], MINE) if mine[p] else (theirs[25 - p], THEIRS) for p in range(1, 25)}
    cells = {p: _stack(count, checker) for p, (count, checker) in points.items()}
    bars = _stack(theirs[25], THEIRS), _stack(mine[25], MINE)
    notes = [
        f"{checker}  {name}: {pips} pips, {off} off"
        for checker, name, pips, off in zip(
            (THEIRS, MINE),
            reversed(names),
            reversed(position.pips),
            (theirs[0], mine[0]),
            strict=True,
        )
    ]
    upper = [_line(cells, TOP, bars[0][::-1], row) for row in range(ROWS)]
    lower = [_line(cells, BOTTOM, bars[1][::-1], row) for row in reversed(range(ROWS))]
    middle = f" |{'':18}|BAR|{'':18}|"
    lines = [_frame(TOP), *upper, middle, *lower, _frame(BOTTOM)]
    lines[1] += f"  {notes[0]}"
    lines[-2] += f"  {notes[1]}"
    return "\n".join(lines)


def _stack(count: int, checker: str) -> list[str]:
    """The cells of a point or of the bar, from the edge of the board to its middle."""
    cells = [checker] * min(count, ROWS) + [" "] * (ROWS - count)
    if count > ROWS:
        cells[-1] = str(count)
    return cells


def _line(
    cells: dict[int, list[str]], halves: Sequence[Sequence[int]], bar: list[str], row: int
) -> str:
    """One line of the board, `row` lines from its edge."""
    left, right = ("".join(f"{cells[point][row]:>2} " for point in half) for half in halves)
    return f" |{left}| {bar[row]:<2}|{right}|"


def _frame(halves: Sequence[Sequence[int]]) -> str:
    """The edge of the board, with the numbers of its points."""
    left, right = ("".join(f"{point:->2}-" for point in half) for half in halves)
    return f" +{left}+---+{right}+"
