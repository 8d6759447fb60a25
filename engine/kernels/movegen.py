"""Legal plays, as fast as one core can make them.

A *packed* board is `int8[2, 32]`: the 26 columns of a board, then six zeros, so that a board is
eight 64-bit words, which are copied and compared instead of bytes. In here it is flat: the mover's
column c is byte c, the opponent's is byte 32 + c.

Two masks say where a checker may go: `occupied` has bit p set when the mover has a checker on
point p (25 is the bar), `blocked` when the opponent holds point p with two or more checkers; both
in the mover's numbering. A play can change `occupied` but never `blocked`.

The slow twin is `engine.backgammon.reference`.
"""

from typing import Any

import numpy as np

from engine.kernels import inner, kernel
from engine.kernels.bits import highest_bit

__all__ = [
    "HIGH",
    "LOW",
    "MAX_RESULTS",
    "MAX_STEPS",
    "OTHER",
    "ROLLS",
    "SIZE",
    "THROWS",
    "WEIGHTS",
    "boards_of",
    "flat",
    "is_over",
    "legal_results",
    "legal_results_all_rolls",
    "masks",
    "move_back",
    "move_checker",
    "pack",
    "playable_points",
    "results_into",
    "swap",
    "unpack",
    "words_of",
]

Array = np.ndarray[Any, Any]

SIZE = 64  # bytes of a packed board
OTHER = 32  # where the opponent's row begins
BAR = 25
MAX_RESULTS = 4096  # scratch rows for the results of one roll; the most ever seen is under 1,000
MAX_STEPS = 4

# The rolls in the order 11, 21, 22, 31, ... 66, and how many of the throws give each.
ROLLS = 21
HIGH = np.array([high for high in range(1, 7) for _ in range(1, high + 1)], np.int64)
LOW = np.array([low for high in range(1, 7) for low in range(1, high + 1)], np.int64)
WEIGHTS = np.where(HIGH == LOW, 1, 2)
THROWS = 36


def pack(boards: Array) -> Array:
    """Pad int8[N, 2, 26] boards to int8[N, 2, 32] packed ones."""
    packed = np.zeros((len(boards), 2, OTHER), np.int8)
    packed[:, :, :26] = boards
    return packed


def unpack(packed: Array) -> Array:
    """The int8[N, 2, 26] view of int8[N, 2, 32] packed boards."""
    return packed[:, :, :26]


def swap(packed: Array) -> Array:
    """Switches sides: int8[N, 2, 32] packed boards as the opponent sees them."""
    return np.ascontiguousarray(packed[:, ::-1])


@inner
def masks(board: Array) -> tuple[int, int]:
    """`occupied` and `blocked` of a flat packed board, as uint32 bit masks."""
    occupied = np.uint32(0)
    blocked = np.uint32(0)
    for point in range(1, 26):
        occupied |= np.uint32(board[point] > 0) << np.uint32(point)
    for point in range(1, 25):
        blocked |= np.uint32(board[OTHER + 25 - point] > 1) << np.uint32(point)
    return occupied, blocked


@inner
def is_over(board: Array) -> bool:
    """Whether one side of a flat packed board has no checker left on the points or the bar."""
    mine = 0
    theirs = 0
    for column in range(1, 26):
        mine |= board[column]
        theirs |= board[OTHER + column]
    return mine == 0 or theirs == 0


@inner
def playable_points(occupied: int, blocked: int, die: int) -> int:
    """The mask of points from which the mover may play this die."""
    shift = np.uint32(die)
    beyond = np.uint32(0xFFFFFFFF) << np.uint32(die + 1)
    sources = occupied & ~(blocked << shift) & beyond
    if occupied >> np.uint32(BAR):
        return sources & (np.uint32(1) << np.uint32(BAR))
    if occupied >> np.uint32(7) == 0:
        sources |= occupied & (np.uint32(1) << shift)
        if occupied != 0 and occupied >> shift == 0:
            sources |= np.uint32(1) << np.uint32(highest_bit(occupied))
    return sources


@inner
def move_checker(board: Array, occupied: int, source: int, die: int) -> tuple[int, int]:
    """Move a checker on a flat packed board; the new `occupied`, and whether it hit."""
    target = max(source - die, 0)
    board[source] -= 1
    board[target] += 1
    if board[source] == 0:
        occupied &= ~(np.uint32(1) << np.uint32(source))
    hit = 0
    if target > 0:
        occupied |= np.uint32(1) << np.uint32(target)
        if board[OTHER + 25 - target] > 0:
            board[OTHER + 25 - target] = 0
            board[OTHER + BAR] += 1
            hit = 1
    return occupied, hit


@inner
def move_back(board: Array, source: int, die: int, hit: int) -> None:
    """Take a `move_checker` back."""
    target = max(source - die, 0)
    board[source] += 1
    board[target] -= 1
    if hit:
        board[OTHER + 25 - target] = 1
        board[OTHER + BAR] -= 1


@inner
def _emit(words: Array, results: Array, count: int) -> None:
    """Write a board (uint64[8]) as the next player sees it into row `count` of uint64[., 8]."""
    for word in range(4):
        results[count, word] = words[4 + word]
        results[count, 4 + word] = words[word]


@inner
def _is_new(results: Array, start: int, count: int) -> bool:
    """Whether row `count` differs from all rows from `start` on."""
    for row in range(start, count):
        same = True
        for word in range(8):
            if results[row, word] != results[count, word]:
                same = False
                break
        if same:
            return False
    return True


@inner
def _both_dice(
    board: Array, words: Array, occupied: int, blocked: int, high: int, low: int,
    results: Array, start: int,
) -> int:  # fmt: skip
    """All distinct results that use both dice; rows from `start` on; the new row count."""
    count = start
    home = occupied >> np.uint32(7 + high) == 0  # bearing off may come into it
    for order in range(2):
        first, second = (high, low) if order == 0 else (low, high)
        sources = playable_points(occupied, blocked, first)
        while sources:
            source = highest_bit(sources)
            sources ^= np.uint32(1) << np.uint32(source)
            after, hit = move_checker(board, occupied, source, first)
            nexts = playable_points(after, blocked, second)
            while nexts:
                following = highest_bit(nexts)
                nexts ^= np.uint32(1) << np.uint32(following)
                # Two ways can meet only when one checker makes both steps, when one passes
                # through the other's source, from the bar, and in bearing off. The low die first
                # gives something new only in those ways.
                meeting = (
                    home
                    or following == source - first
                    or source == following - second
                    or source == BAR
                )
                if order == 1 and not meeting:
                    continue
                _, hit_after = move_checker(board, after, following, second)
                _emit(words, results, count)
                if not meeting or _is_new(results, start, count):
                    count += 1
                move_back(board, following, second, hit_after)
            move_back(board, source, first, hit)
    return count


@inner
def _one_die(
    board: Array, words: Array, occupied: int, blocked: int, die: int, results: Array, start: int
) -> int:
    """All results that use one die only; rows from `start` on; the new row count."""
    count = start
    sources = playable_points(occupied, blocked, die)
    while sources:
        source = highest_bit(sources)
        sources ^= np.uint32(1) << np.uint32(source)
        _, hit = move_checker(board, occupied, source, die)
        _emit(words, results, count)
        count += 1
        move_back(board, source, die, hit)
    return count


@inner
def _double(
    board: Array, words: Array, occupied: int, blocked: int, die: int,
    results: Array, start: int, stack: Array,
) -> int:  # fmt: skip
    """All results of a double; rows from `start` on; the new row count.

    Any play of a double can be made with its sources in non-increasing order, and then two plays
    with different sources give different boards: no comparison is needed. `stack` is scratch,
    uint32[4, 4]: per depth the sources left, the source taken, whether it hit, and `occupied`.
    """
    count = start
    longest = 1
    depth = 0
    stack[0, 0] = playable_points(occupied, blocked, die)
    stack[0, 3] = occupied
    while depth >= 0:
        if stack[depth, 0] == 0:
            depth -= 1
            if depth >= 0:
                move_back(board, np.int64(stack[depth, 1]), die, np.int64(stack[depth, 2]))
            continue
        source = highest_bit(stack[depth, 0])
        stack[depth, 0] ^= np.uint32(1) << np.uint32(source)
        after, hit = move_checker(board, stack[depth, 3], source, die)
        used = depth + 1
        if used > longest:
            longest = used
            count = start
        if used == longest:
            _emit(words, results, count)
            count += 1
        if used == MAX_STEPS:
            move_back(board, source, die, hit)
            continue
        stack[depth, 1] = source
        stack[depth, 2] = hit
        depth += 1
        no_higher = (np.uint32(2) << np.uint32(source)) - np.uint32(1)
        stack[depth, 0] = playable_points(after, blocked, die) & no_higher
        stack[depth, 3] = after
    return count


@inner
def results_into(
    board: Array, words: Array, high: int, low: int, results: Array, start: int, stack: Array
) -> int:
    """Write the distinct legal results of one roll into rows of `results`; the new row count.

    board: int8[64], flat packed, left as it was; words: the same memory as uint64[8].
    results: uint64[., 8], written from row `start` on as the next player sees them, with room for
    MAX_RESULTS. stack: uint32[4, 4] scratch. Nothing legal gives one row, the board with sides
    switched. The board must not be of a finished game.
    """
    occupied, blocked = masks(board)
    if high == low:
        count = _double(board, words, occupied, blocked, high, results, start, stack)
    else:
        count = _both_dice(board, words, occupied, blocked, high, low, results, start)
        if count == start:
            count = _one_die(board, words, occupied, blocked, high, results, start)
        if count == start:
            count = _one_die(board, words, occupied, blocked, low, results, start)
    if count == start:
        _emit(words, results, count)
        count += 1
    return count


@kernel
def _generate(boards: Array, rolls: Array, per_board: int) -> tuple[Array, Array]:
    """Results of `per_board` rolls a board: boards int8[N, 64], rolls int8[N * per_board, 2]."""
    offsets = np.zeros(len(rolls) + 1, np.int64)
    results = np.empty((max(len(rolls), 1) * 24 + MAX_RESULTS, 8), np.uint64)
    stack = np.empty((4, 4), np.uint32)
    board = np.empty(SIZE, np.int8)
    words = board.view(np.uint64)
    count = 0
    for index in range(len(boards)):
        board[:] = boards[index]
        over = is_over(board)
        for entry in range(index * per_board, (index + 1) * per_board):
            if not over:
                if count + MAX_RESULTS > len(results):
                    larger = np.empty((2 * len(results), 8), np.uint64)
                    larger[:count] = results[:count]
                    results = larger
                high = max(rolls[entry, 0], rolls[entry, 1])
                low = min(rolls[entry, 0], rolls[entry, 1])
                count = results_into(board, words, high, low, results, count, stack)
            offsets[entry + 1] = count
    return results[:count].copy(), offsets


def flat(packed: Array) -> Array:
    """int8[N, 64] of int8[N, 2, 32] packed boards."""
    return np.ascontiguousarray(packed).reshape(-1, SIZE)


def words_of(packed: Array) -> Array:
    """uint64[N, 8] of int8[N, 2, 32] packed boards."""
    return flat(packed).view(np.uint64)


def boards_of(words: Array) -> Array:
    """int8[N, 2, 32] packed boards of their uint64[N, 8]."""
    return words.view(np.int8).reshape(-1, 2, OTHER)


def legal_results(packed: Array, dice: Array) -> tuple[Array, Array]:
    """All distinct positions after a legal play, for N positions with a roll each.

    packed: int8[N, 2, 32]; dice: int8[N, 2], each 1..6 in any order.
    Returns results int8[M, 2, 32] as the next player sees them, and offsets int64[N + 1]: the
    results of position i are results[offsets[i] : offsets[i + 1]]. When nothing is legal there is
    one, the position with sides switched; a finished game has none.
    """
    results, offsets = _generate(flat(packed), np.ascontiguousarray(dice, np.int8), 1)
    return boards_of(results), offsets


def legal_results_all_rolls(packed: Array) -> tuple[Array, Array]:
    """`legal_results` for all 21 rolls of each position, in the order 11, 21, 22, 31, ... 66.

    packed: int8[N, 2, 32]. Returns results int8[M, 2, 32] and offsets int64[N, 22]: the results of
    roll r of position i are results[offsets[i, r] : offsets[i, r + 1]].
    """
    rolls = np.tile(np.stack([HIGH, LOW], axis=1).astype(np.int8), (len(packed), 1))
    results, flat_offsets = _generate(flat(packed), rolls, ROLLS)
    starts = np.arange(len(packed))[:, None] * ROLLS + np.arange(ROLLS + 1)
    return boards_of(results), flat_offsets[starts]
