"""Net files: what is written is read back bit by bit, what is wrong is refused in one line."""

import contextlib
import io
import pickle
import resource
import struct
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

from engine.errors import FileFormatError, NetError
from engine.evaluation.network import Network


@pytest.fixture
def network(random_network):
    return random_network(16, 8)


@pytest.fixture
def path(network, tmp_path) -> Path:
    network.save(tmp_path / "net.safetensors")
    return tmp_path / "net.safetensors"


def refusal(path: Path, variant: str | None = None) -> str:
    """The one line with which a net file is refused."""
    with pytest.raises(NetError) as caught:
        Network.load(path, variant)
    line = str(caught.value)
    assert repr(str(path)) in line
    assert len(line.splitlines()) == 1
    return line


def rewrite(path: Path, tensors: dict | None = None, metadata: dict | None = None) -> None:
    """Put other tensors or other metadata into a net file; None takes an entry out."""
    with safe_open(path, framework="numpy") as file:
        old_metadata = dict(file.metadata())
        old_tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    new_tensors = old_tensors | (tensors or {})
    new_metadata = old_metadata | (metadata or {})
    save_file(
        {name: tensor for name, tensor in new_tensors.items() if tensor is not None},
        path,
        {key: text for key, text in new_metadata.items() if text is not None},
    )


def test_what_is_saved_is_loaded_bit_by_bit(network, path):
    loaded = Network.load(path, "backgammon")

    for (weight, bias), (loaded_weight, loaded_bias) in zip(
        network.layers, loaded.layers, strict=True
    ):
        assert weight.tobytes() == loaded_weight.tobytes()
        assert bias.tobytes() == loaded_bias.tobytes()
    assert loaded.hash == network.hash
    assert (loaded.variant, loaded.origin) == ("backgammon", "random weights")
    assert loaded.sizes == "[312, 16, 8, 5]"
    assert loaded.encoder is network.encoder


def test_a_net_by_plan_is_loaded_bit_by_bit(tmp_path, random_network):
    network = random_network(16, 8, by_plan=True)
    network.save(tmp_path / "net.safetensors")

    loaded = Network.load(tmp_path / "net.safetensors", "backgammon")

    assert loaded.hash == network.hash
    assert loaded.layers[2][0].shape == (10, 5, 8)
    assert loaded.sizes == "[312, 16, 8, 5]"


def test_a_loaded_net_plays_the_same(network, path, packed_positions):
    np.testing.assert_array_equal(
        Network.load(path).evaluate(packed_positions), network.evaluate(packed_positions)
    )


def test_the_hash_knows_the_weights(network, random_network):
    assert network.hash == random_network(16, 8).hash
    assert network.hash != random_network(16, 8, scale=1.001).hash


def test_saving_again_replaces_the_file_and_leaves_nothing_else(path, random_network):
    random_network(8).save(path)

    assert Network.load(path).sizes == "[312, 8, 5]"
    assert list(path.parent.iterdir()) == [path]


def test_a_full_disk_leaves_the_net_before_it(path, random_network):
    before = path.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(FileFormatError, match="File too large") as caught:
            random_network(40).save(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    assert repr(str(path)) in str(caught.value)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_saving_into_no_folder(network, tmp_path):
    with pytest.raises(FileFormatError, match="No such file or directory"):
        network.save(tmp_path / "none" / "net.safetensors")


def test_a_missing_file(tmp_path):
    assert "no such file" in refusal(tmp_path / "none.safetensors")


def test_a_folder(tmp_path):
    refusal(tmp_path)


@pytest.mark.parametrize("left", [0, 1, 7, 8, 9, 200, 5000, -4, -1])
def test_a_truncated_file(path, left):
    path.write_bytes(path.read_bytes()[:left])
    assert "not safetensors" in refusal(path)


def test_a_file_that_is_too_long(path):
    path.write_bytes(path.read_bytes() + b"\0")
    assert "not safetensors" in refusal(path)


def test_any_flipped_byte_of_the_weights(path):
    content = path.read_bytes()
    (header,) = struct.unpack("<Q", content[:8])
    for place in range(8 + header, len(content), 499):
        damaged = bytearray(content)
        damaged[place] ^= 0x01
        path.write_bytes(damaged)
        assert "the file is damaged" in refusal(path)


def test_any_flipped_byte_of_the_header_is_refused_or_harmless(path):
    content = path.read_bytes()
    weights = Network.load(path).hash
    (header,) = struct.unpack("<Q", content[:8])
    harmless = 0
    for place in range(8 + header):
        damaged = bytearray(content)
        damaged[place] ^= 0x04
        path.write_bytes(damaged)
        with contextlib.suppress(NetError):
            assert Network.load(path).hash == weights
            harmless += 1
    assert harmless <= len("backgammon" + "random weights")


def test_a_text(path):
    path.write_text("I am a net.\n")
    assert "not safetensors" in refusal(path)


@pytest.mark.parametrize("protocol", [0, 5])
def test_a_pickle(path, protocol):
    path.write_bytes(pickle.dumps({"layer0.weight": np.zeros((8, 312))}, protocol=protocol))
    assert "not safetensors" in refusal(path)


def test_an_archive_of_arrays(path):
    archive = io.BytesIO()
    np.savez(archive, weight=np.zeros(3))
    path.write_bytes(archive.getvalue())
    assert "not safetensors" in refusal(path)


def test_safetensors_of_something_else(path):
    save_file({"embedding": np.zeros((3, 3), np.float32)}, path)
    assert "format None: expected 'acepoint-net-1'" in refusal(path)


def test_safetensors_of_numbers_that_numpy_has_not(path):
    header = b'{"embedding":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}}'
    path.write_bytes(struct.pack("<Q", len(header)) + header + b"\0" * 4)
    refusal(path)


@pytest.mark.parametrize(
    ("metadata", "reason"),
    [
        ({"format": "acepoint-net-2"}, "format 'acepoint-net-2': expected 'acepoint-net-1'"),
        ({"format": "acepoint-checkpoint-1"}, "format 'acepoint-checkpoint-1'"),
        ({"encoder": "wavelets"}, "unknown encoder 'wavelets'"),
        ({"encoder_version": "2"}, "'thermometer' is of version 2: this Acepoint reads version 1"),
        ({"encoder_version": "one"}, "encoder version 'one': expected a number"),
        ({"encoder_version": "-1"}, "encoder version '-1': expected a number"),
        ({"encoder": None, "hash": None}, "metadata lacks encoder, hash"),
        ({"variant": None, "origin": None}, "metadata lacks variant, origin"),
        ({"sizes": "[312, 16, 5]"}, r"sizes [312, 16, 5] in the metadata, [312, 16, 8, 5] in fact"),
        ({"hash": "0" * 64}, "the file is damaged"),
    ],
)
def test_metadata_that_does_not_fit(path, metadata, reason):
    rewrite(path, metadata=metadata)
    assert reason in refusal(path)


def zeros(*shape: int) -> np.ndarray:
    return np.zeros(shape, np.float32)


@pytest.mark.parametrize(
    ("tensors", "reason"),
    [
        ({"layer0.weight": zeros(16, 311)}, "layer 0 has weight (16, 311) and bias (16,)"),
        ({"layer0.bias": zeros(8)}, "layer 0 has weight (16, 312) and bias (8,)"),
        ({"layer0.weight": zeros(16 * 312)}, "layer 0 has weight (4992,)"),
        ({"layer0.weight": zeros(312), "layer0.bias": zeros()}, "layer 0 has weight (312,)"),
        ({"layer1.weight": zeros(8, 24)}, "layer 1 has weight (8, 24)"),
        ({"layer1.weight": zeros(16, 8)}, "layer 1 has weight (16, 8)"),
        ({"layer1.weight": zeros(10, 8, 16)}, "layer 1 has weight (10, 8, 16) and bias (8,)"),
        ({"layer1.weight": zeros(3, 8, 16), "layer1.bias": zeros(3, 8)}, "once or for 10 plans"),
        ({"layer1.weight": zeros(10, 8, 16), "layer1.bias": zeros(10, 8)}, "layer 2 has weight"),
        ({"layer0.weight": zeros(10, 16, 312), "layer0.bias": zeros(10, 16)}, "layer 0 has weight"),
        ({"layer2.weight": zeros(4, 8), "layer2.bias": zeros(4)}, "ending in 4 outputs"),
        ({"layer1.weight": zeros(12, 16), "layer1.bias": zeros(12)}, "layer 1 has 12 units"),
        (
            {f"layer{layer}.{part}": None for layer in (1, 2) for part in ("weight", "bias")},
            "1 layers ending in 16 outputs",
        ),
        ({"layer1.bias": None}, "expected layer0.weight and so on"),
        ({"layer3.weight": zeros(5, 5)}, "expected layer0.weight and so on"),
        ({"layer3.weight": zeros(5, 5), "layer4.bias": zeros(5)}, "expected layer0.weight"),
        ({"layer0.weight": zeros(16, 312).astype(np.float64)}, "a tensor is not float32"),
        ({"layer1.bias": zeros(8).astype(np.int32)}, "a tensor is not float32"),
        ({"layer1.bias": zeros(8) + np.nan}, "a weight is not a finite number"),
        ({"layer2.weight": zeros(5, 8) - np.inf}, "a weight is not a finite number"),
    ],
)
def test_tensors_that_do_not_fit(path, tensors, reason):
    rewrite(path, tensors)
    assert reason in refusal(path)


def test_no_tensors_at_all(path):
    rewrite(path, dict.fromkeys(safe_open(path, framework="numpy").keys()))
    assert "0 layers" in refusal(path)


def test_a_net_for_another_variant(path):
    assert "trained for 'backgammon', expected 'hypergammon'" in refusal(path, "hypergammon")
