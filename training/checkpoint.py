"""Everything a run needs to go on as if it had never stopped, in one file.

safetensors with the settings and counters as JSON in its metadata: no pickle, so a checkpoint
survives moved code and cannot run any. A file is written beside the old one and then takes its
place, so a crash at any moment leaves one that is whole.
"""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
from safetensors.numpy import save

from engine.errors import FileFormatError

__all__ = ["FORMAT", "load_checkpoint", "save_checkpoint", "write_whole"]

Array = np.ndarray[Any, Any]

FORMAT = "acepoint-checkpoint-1"


def write_whole(path: Path, content: bytes) -> None:
    """Write a file that is either the old one or the new one, never half of it.

    Raises FileFormatError, and leaves the old one, when the folder or the disk will not take it.
    """
    beside = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        try:
            with beside.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        kept = "; the file before it is untouched" if path.exists() else ""
        raise FileFormatError(f"cannot write {str(path)!r}: {error.strerror}{kept}") from None


def save_checkpoint(path: Path, tensors: dict[str, Array], state: dict[str, Any]) -> None:
    """Write tensors and a state that JSON can hold."""
    metadata = {"format": FORMAT, "state": json.dumps(state)}
    contiguous = {name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}
    write_whole(path, save(contiguous, metadata))


def load_checkpoint(path: Path) -> tuple[dict[str, Array], dict[str, Any]]:
    """What `save_checkpoint` wrote; FileFormatError, naming the file, for anything else."""
    try:
        with safetensors.safe_open(path, framework="numpy") as file:
            metadata = dict(file.metadata() or {})
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except FileNotFoundError:
        raise FileFormatError(f"checkpoint {str(path)!r}: no such file") from None
    except (OSError, safetensors.SafetensorError) as error:
        raise FileFormatError(f"checkpoint {str(path)!r}: damaged or foreign ({error})") from None
    if metadata.get("format") != FORMAT:
        raise FileFormatError(
            f"checkpoint {str(path)!r}: format {metadata.get('format')!r}, expected {FORMAT!r}"
        )
    state: dict[str, Any] = json.loads(metadata["state"])
    return tensors, state
