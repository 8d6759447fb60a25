"""The process that `engine.players.gnubg` starts: gnubg's nets, or pubeval, behind two pipes.

The package gnubg-nn keeps global state and can crash, so it runs alone here. This file is run as a
script and imports nothing else of the engine.

    gnubg_process.py PARENT pubeval | PLIES

Standard input brings requests: a uint32 count, then for each position 54 bytes: the board
int8[2, 26], row 0 on roll, and two dice, the higher first. Standard output takes for each position
52 bytes: the board after the chosen play, as the next player sees it. Every position must have a
legal play. The process ends with its input, or when it finds that process PARENT is gone.
"""

import contextlib
import os
import struct
import sys
from collections.abc import Callable
from typing import BinaryIO

import gnubg_nn

ROW = 26
REQUEST = 2 * ROW + 2

# gnubg-nn's own board: 25 counts, points 1..24 numbered from their own side and then the bar.
Row = list[int]
Choose = Callable[[Row, Row, int, int], tuple[Row, Row]]
"""(opponent, on roll, high die, low die) -> (next player, the one who moved)."""


def gnubg(plies: int) -> Choose:
    """Gnubg's best play, cubeless, looking `plies` rolls ahead."""

    def choose(opponent: Row, mover: Row, high: int, low: int) -> tuple[Row, Row]:
        _, key = gnubg_nn.best_move([opponent, mover], high, low, plies, b=1)
        moved, next_player = gnubg_nn.board_from_position_key(key)
        return next_player, moved

    return choose


def pubeval(opponent: Row, mover: Row, high: int, low: int) -> tuple[Row, Row]:
    """Pubeval's best play (Tesauro 1993)."""
    steps = gnubg_nn.pub_best_move([opponent, mover], high, low)
    for source, target in zip(steps[::2], steps[1::2], strict=True):
        mover[source] -= 1
        if target >= 0:
            mover[target] += 1
            if opponent[23 - target]:
                opponent[23 - target] = 0
                opponent[24] += 1
    return opponent, mover


def answer(request: bytes, choose: Choose) -> bytes:
    """The 52 bytes for one request."""
    on_roll, opponent = list(request[:ROW]), list(request[ROW : 2 * ROW])
    next_player, moved = choose(opponent[1:], on_roll[1:], request[-2], request[-1])
    off = sum(on_roll) - sum(moved)
    return bytes((opponent[0], *next_player, off, *moved))


def serve(source: BinaryIO, sink: BinaryIO, choose: Choose, parent: int) -> None:
    """Answer requests until there are no more."""
    while header := source.read(4):
        (count,) = struct.unpack("<I", header)
        requests = source.read(count * REQUEST)
        answers = []
        for start in range(0, len(requests), REQUEST):
            if os.getppid() != parent:
                return
            answers.append(answer(requests[start : start + REQUEST], choose))
        sink.write(b"".join(answers))
        sink.flush()


def main() -> None:
    """Serve on the standard streams; what the package itself prints goes to standard error."""
    parent, mode = int(sys.argv[1]), sys.argv[2]
    choose = pubeval if mode == "pubeval" else gnubg(int(mode))
    with contextlib.suppress(BrokenPipeError), os.fdopen(os.dup(1), "wb") as sink:
        os.dup2(2, 1)
        serve(sys.stdin.buffer, sink, choose, parent)


if __name__ == "__main__":
    main()
