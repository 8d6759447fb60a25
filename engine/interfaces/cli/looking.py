"""A bot for commands that look ahead: on all cores, with a progress bar when it takes long."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.bot import Bot

__all__ = ["looking_bot"]

SECONDS = 2  # before the bar is shown


@contextlib.contextmanager
def looking_bot(
    net: Path | None, plies: int, moves: str = "normal", variant: str = "backgammon"
) -> Iterator["Bot"]:
    """The bot of a command's options; raises like `engine.bot.Bot` and `released_net`."""
    from engine.bot import Bot, released_net

    net = net or released_net(variant)

    if plies == 0:
        yield Bot(net, moves=moves)
        return

    from tqdm import tqdm

    with tqdm(unit="position", delay=SECONDS, leave=False) as bar:

        def show(done: int, count: int) -> None:
            if bar.total != count or bar.n == count:
                bar.total, bar.n = count, 0
            bar.update(done)

        yield Bot(net, plies, moves=moves, threads=os.cpu_count() or 1, progress=show)
