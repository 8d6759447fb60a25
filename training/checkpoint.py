"""Everything a run needs to go on as if it had never stopped, in one file.

safetensors with the settings and counters as JSON in its metadata: no pickle, so a checkpoint
survives moved code and cannot run any.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from engine.errors import FileFormatError
from engine.evaluation.tensor_file import read_tensors, write_tensors

__all__ = ["FORMAT", "below", "load_checkpoint", "save_checkpoint"]

Array = np.ndarray[Any, Any]

FORMAT = "acepoint-checkpoint-3"


def save_checkpoint(path: Path, tensors: dict[str, Array], state: dict[str, Any]) -> None:
    """Write tensors and a state that JSON can hold.

    Raises FileFormatError, and leaves the checkpoint before it, when the disk will not take it.
    """
    write_tensors(path, tensors, {"format": FORMAT, "state": json.dumps(state)})


def load_checkpoint(path: Path) -> tuple[dict[str, Array], dict[str, Any]]:
    """What `save_checkpoint` wrote; FileFormatError, naming the file, for anything else."""
    try:
        tensors, metadata = read_tensors(path)
        if metadata.get("format") != FORMAT:
            raise FileFormatError(f"format {metadata.get('format')!r}, expected {FORMAT!r}")
        state: dict[str, Any] = json.loads(metadata.get("state", ""))
    except (json.JSONDecodeError, RecursionError) as error:
        raise FileFormatError(f"checkpoint {str(path)!r}: damaged state ({error})") from None
    except FileFormatError as error:
        raise FileFormatError(f"checkpoint {str(path)!r}: {error}") from None
    return tensors, state


def below(tensors: dict[str, Array], prefix: str) -> dict[str, Array]:
    """The tensors whose names begin so, by the rest of the name."""
    return {
        name.removeprefix(prefix): value
        for name, value in tensors.items()
        if name.startswith(prefix)
    }
