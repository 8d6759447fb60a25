"""A file of tensorboard events.

Tensorboard's own writer leaves the writing to a thread, whose errors nobody can catch: a full disk
would end in a traceback. Here each event is written at once.
"""

import os
import time
from pathlib import Path
from typing import Any

import numpy as np
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.plugins.histogram.summary_v2 import histogram_pb
from tensorboard.plugins.scalar.summary_v2 import scalar_pb
from tensorboard.plugins.text.summary_v2 import text_pb
from tensorboard.summary.writer.record_writer import RecordWriter

from engine.errors import FileFormatError

__all__ = ["EventFile"]

Array = np.ndarray[Any, Any]


class EventFile:
    """A new file of events in a folder; FileFormatError when the disk will not take one."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / f"events.out.tfevents.{time.time_ns()}.{os.getpid()}"
        try:
            self._records = RecordWriter(self._path.open("wb", buffering=0))
        except OSError as error:
            raise self._refusal(error) from None
        self._write(Event(wall_time=time.time(), file_version="brain.Event:2"))

    def scalar(self, name: str, value: float, step: int) -> None:
        """Add a point to a curve."""
        self._add(scalar_pb(name, value), step)

    def histogram(self, name: str, values: Array, step: int) -> None:
        """Add a histogram of the values, of any shape."""
        self._add(histogram_pb(name, values), step)

    def text(self, name: str, text: str) -> None:
        """Add a text."""
        self._add(text_pb(name, text), 0)

    def close(self) -> None:
        """End the file."""
        self._records.close()

    def _add(self, summary: Any, step: int) -> None:
        self._write(Event(wall_time=time.time(), step=step, summary=summary))

    def _write(self, event: Any) -> None:
        try:
            self._records.write(event.SerializeToString())
        except OSError as error:
            raise self._refusal(error) from None

    def _refusal(self, error: OSError) -> FileFormatError:
        return FileFormatError(
            f"cannot write {str(self._path)!r}: {error.strerror}; what was saved is untouched"
        )
