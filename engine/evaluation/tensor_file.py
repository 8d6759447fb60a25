"""safetensors files: written whole or not at all, and read with every fault in one line."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
from safetensors.numpy import save

from engine.errors import FileFormatError
from engine.evaluation.whole_file import write_whole

__all__ = ["read_tensors", "write_tensors"]

Array = np.ndarray[Any, Any]


def read_tensors(path: str | os.PathLike[str]) -> tuple[dict[str, Array], dict[str, str]]:
    """The tensors by name, and the metadata. FileFormatError says what is wrong, not where."""
    try:
        with safetensors.safe_open(path, framework="numpy") as file:
            metadata = dict(file.metadata() or {})
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except FileNotFoundError:
        raise FileFormatError("no such file") from None
    except OSError as error:
        fault = "is a folder" if Path(path).is_dir() else error.strerror or str(error)
        raise FileFormatError(fault) from None
    except safetensors.SafetensorError as error:
        raise FileFormatError(f"damaged or not safetensors ({error})") from None
    except (TypeError, AttributeError) as error:  # bfloat16 and the like
        raise FileFormatError(f"numbers of a foreign kind ({error})") from None
    return tensors, metadata


def write_tensors(
    path: str | os.PathLike[str], tensors: dict[str, Array], metadata: dict[str, str]
) -> None:
    """Write a file whole or not at all; FileFormatError as `write_whole` raises it."""
    contiguous = {name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}
    write_whole(path, save(contiguous, metadata))
