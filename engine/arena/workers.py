"""Worker processes that play chunks of a contest."""

import contextlib
import multiprocessing
import signal
import time
import traceback
from collections.abc import Iterable, Iterator
from multiprocessing.connection import Connection, wait
from typing import NamedTuple, Self

from engine.arena.schedule import Array, Chunk, Contest
from engine.errors import AcepointError

__all__ = ["Played", "Workers"]


class Played(NamedTuple):
    """A chunk and what came of it."""

    chunk: Chunk
    table: Array
    seconds: float


class Workers:
    """Processes that each hold a copy of the contest. A context manager: leaving it ends them.

    Args:
        contest: What they play.
        players: The names of the players by number.
        count: How many processes.
    """

    def __init__(self, contest: Contest, players: tuple[str, ...], count: int) -> None:
        self._players = players
        # Not by fork: a copy of a process with compiled code and threads may hang.
        spawning = multiprocessing.get_context("spawn")
        self._processes: dict[Connection, multiprocessing.process.BaseProcess] = {}
        # Ctrl-C reaches every process of a terminal: it is for this one, and the others inherit
        # that they ignore it.
        handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            for _ in range(count):
                ours, theirs = spawning.Pipe()
                process = spawning.Process(target=_serve, args=(theirs, contest), daemon=True)
                process.start()
                theirs.close()
                self._processes[ours] = process
        finally:
            signal.signal(signal.SIGINT, handler)

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the processes, whatever they are at."""
        for connection, process in self._processes.items():
            connection.close()
            process.terminate()
        for process in self._processes.values():
            process.join()
            process.close()

    def play(self, chunks: Iterable[Chunk]) -> Iterator[Played]:
        """Play all chunks; each is asked for only when a worker is free, and given in any order.

        Raises what the contest raised in a worker, and AcepointError when a worker died.
        """
        waiting = iter(chunks)
        at_work: dict[Connection, Chunk] = {}
        for connection in self._processes:
            self._hand_out(waiting, connection, at_work)
        while at_work:
            ready = wait(list(at_work))
            for connection in [each for each in at_work if each in ready]:
                chunk = at_work.pop(connection)
                yield self._result(connection, chunk)
                self._hand_out(waiting, connection, at_work)

    def _hand_out(
        self, waiting: Iterator[Chunk], connection: Connection, at_work: dict[Connection, Chunk]
    ) -> None:
        chunk = next(waiting, None)
        if chunk is not None:
            a, b = chunk.meeting
            with contextlib.suppress(OSError):  # it has died: reading its answer will tell
                connection.send((self._players[a], self._players[b], chunk.deals))
            at_work[connection] = chunk

    def _result(self, connection: Connection, chunk: Chunk) -> Played:
        try:
            answer = connection.recv()
        except (EOFError, OSError):
            process = self._processes[connection]
            process.join()
            raise AcepointError(
                f"a worker process has died (exit code {process.exitcode})"
            ) from None
        if isinstance(answer, Exception):
            raise answer
        table, seconds = answer
        return Played(chunk, table, seconds)


def _serve(connection: Connection, contest: Contest) -> None:
    """The life of a worker: chunks in, scores or an error out, until the other end closes."""
    while True:
        try:
            a, b, deals = connection.recv()
        except (EOFError, OSError):
            return
        start = time.perf_counter()
        answer: tuple[Array, float] | Exception
        try:
            answer = contest(a, b, deals), time.perf_counter() - start
        except AcepointError as error:
            answer = error
        except Exception as error:
            error.add_note(traceback.format_exc())
            answer = error
        try:
            connection.send(answer)
        except OSError:
            return
