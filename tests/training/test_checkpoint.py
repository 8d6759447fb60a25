"""Checkpoints that are damaged, foreign or old: one line that names the file."""

import json
import shutil
import struct
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

from engine.errors import FileFormatError
from training.checkpoint import load_checkpoint, save_checkpoint
from training.trainer import Trainer
from training.yardstick import Yardstick


@pytest.fixture
def folder(begin) -> Path:
    """The folder of a run that has just begun and been saved."""
    trainer = begin()
    trainer.save()
    return trainer.folder


def refusal(folder: Path) -> str:
    """The one line with which the run in a folder is not taken up again."""
    with pytest.raises(FileFormatError) as caught:
        Trainer.of_folder(folder, None, 1, Yardstick(0, None))
    line = str(caught.value)
    assert f"checkpoint {str(folder / 'checkpoint.safetensors')!r}: " in line
    assert len(line.splitlines()) == 1
    return line


def rewrite(path: Path, tensors: dict | None = None, metadata: dict | None = None) -> None:
    """Put other tensors or other metadata into a checkpoint; None takes an entry out."""
    with safe_open(path, framework="numpy") as file:
        new_metadata = file.metadata() | (metadata or {})
        old_tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    new_tensors = old_tensors | (tensors or {})
    save_file(
        {name: tensor for name, tensor in new_tensors.items() if tensor is not None},
        path,
        {key: text for key, text in new_metadata.items() if text is not None},
    )


def test_what_is_saved_is_loaded_bit_by_bit(tmp_path):
    tensors = {"a": np.arange(6, dtype=np.uint64).reshape(2, 3), "b": np.array([np.nan, -0.0])}
    state = {"seed": 2**64 - 1, "text": "λ", "nothing": None, "share": 0.1}

    save_checkpoint(tmp_path / "c", tensors, state)
    loaded, loaded_state = load_checkpoint(tmp_path / "c")

    assert loaded_state == state
    assert loaded.keys() == tensors.keys()
    for name, tensor in tensors.items():
        assert loaded[name].tobytes() == tensor.tobytes()
        assert loaded[name].dtype == tensor.dtype


def test_no_checkpoint(tmp_path):
    assert "no such file" in refusal(tmp_path)


def test_a_folder_in_its_place(tmp_path):
    (tmp_path / "checkpoint.safetensors").mkdir()
    refusal(tmp_path)


@pytest.mark.parametrize("left", [0, 7, 8, 100, 3000, -1])
def test_a_truncated_one(folder, left):
    path = folder / "checkpoint.safetensors"
    path.write_bytes(path.read_bytes()[:left])
    assert "damaged or not safetensors" in refusal(folder)


def test_a_text(folder):
    (folder / "checkpoint.safetensors").write_text("{}")
    assert "damaged or not safetensors" in refusal(folder)


def test_a_net_in_its_place(folder):
    shutil.copy(folder / "net.safetensors", folder / "checkpoint.safetensors")
    assert "format 'acepoint-net-1', expected 'acepoint-checkpoint-3'" in refusal(folder)


def test_an_old_one(folder):
    rewrite(folder / "checkpoint.safetensors", metadata={"format": "acepoint-checkpoint-0"})
    assert "format 'acepoint-checkpoint-0', expected" in refusal(folder)


STATE = {"settings": "{}", "budget": {}, "counters": {}, "player_progress": 0.0}
NO_SETTINGS = json.dumps(STATE)
NUMBER_AS_SETTINGS = json.dumps(STATE | {"settings": 7})


@pytest.mark.parametrize("state", [None, "", "{", "[]", "{}", "7", NO_SETTINGS, NUMBER_AS_SETTINGS])
def test_a_damaged_state(folder, state):
    rewrite(folder / "checkpoint.safetensors", metadata={"state": state})
    refusal(folder)


@pytest.mark.parametrize(
    "tensors",
    [
        {"value.net.layer0.weight": None},
        {"value.net.layer0.bias": np.zeros(24, np.float32)},
        {"value.net.layer9.bias": np.zeros(8, np.float32)},
        {"player.layer0.weight": None},
        {"player.layer1.weight": np.zeros((8, 24), np.float32)},
        {"player.layer1.bias": np.full(8, np.nan, np.float32)},
        {"buffer.boards": None},
        {"buffer.targets": np.zeros((5, 3), np.float32)},
        {"value.0.0": np.zeros(3, np.float32)},
        {"value.0.zero.step": np.zeros(1, np.float32)},
        {"pruning.net.hidden.weight": None},
        {"player.pruning.bias": np.zeros(32, np.float32)},
    ],
)
def test_tensors_that_do_not_fit(folder, tensors):
    rewrite(folder / "checkpoint.safetensors", tensors)
    refusal(folder)


def test_flipped_bytes_of_the_header_are_refused_in_one_line_or_harmless(folder):
    path = folder / "checkpoint.safetensors"
    content = path.read_bytes()
    (header,) = struct.unpack("<Q", content[:8])
    refused = lines = 0
    for place in range(0, 8 + header, 13):
        damaged = bytearray(content)
        damaged[place] ^= 0x02
        path.write_bytes(damaged)
        try:
            Trainer.of_folder(folder, None, 1, Yardstick(0, None))
        except FileFormatError as error:
            refused += 1
            lines += len(str(error).splitlines())
    assert lines == refused > header / 13 / 2
