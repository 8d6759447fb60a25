"""A net file on disk, and its forward pass without torch.

The file is safetensors: `layer0.weight` [H, features], `layer0.bias` [H], and so on to the last
layer with its five outputs, all float32; ReLU between layers, the logistic function at the end.
All layers but the first may have their own weights for each game plan (`engine.kernels.plans`):
`layer1.weight` [PLANS, outputs, inputs], `layer1.bias` [PLANS, outputs], and so on.
There may be a pruning net (see `engine.kernels.pruning`): `pruning.weight` [32, features of
`thermometer` 1], `pruning.bias` [32] and `pruning.output` [5, 32].
The metadata says what the numbers mean: format, encoder and its version, layer sizes, variant,
origin (how the net was trained) and a hash of the weights.
"""

import hashlib
import json
import os
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np

from engine.errors import FileFormatError, NetError
from engine.evaluation.bearoff import tables
from engine.evaluation.encoders import ENCODERS, Encoder, encoder
from engine.evaluation.fixed_point import fixed_point
from engine.evaluation.tensor_file import read_tensors, write_tensors
from engine.kernels.bearoff import Bearoff
from engine.kernels.choice import backup_rolls, choose_results
from engine.kernels.forward import evaluate_boards
from engine.kernels.movegen import boards_of, words_of
from engine.kernels.net import OUTPUTS, PRUNING, ROWS, Net
from engine.kernels.plans import PLANS
from engine.kernels.short_rows import BLOCK

__all__ = ["FORMAT", "PROBABILITIES", "PRUNING_ENCODER", "Network", "PruningNet"]

Array = np.ndarray[Any, Any]
Layers = list[tuple[Array, Array]]

FORMAT = "acepoint-net-1"
PROBABILITIES = 5
PRUNING_ENCODER = ENCODERS["thermometer"]
LARGEST = float(np.finfo(np.float32).max)  # what a net gone astray may come to
LINE = 64  # bytes of a cache line: a vector that straddles two costs twice


def _aligned(array: Array) -> Array:
    """A copy that begins on a cache line."""
    buffer = np.empty(array.nbytes + LINE, np.uint8)
    start = -buffer.ctypes.data % LINE
    copy = buffer[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


class PruningNet(NamedTuple):
    """The weights of a pruning net."""

    weight: Array
    """float32[PRUNING, features of PRUNING_ENCODER]."""
    bias: Array
    """float32[PRUNING]."""
    output: Array
    """float32[5, PRUNING]."""


def _content_hash(layers: Layers, pruning: PruningNet | None) -> str:
    digest = hashlib.sha256()
    for tensor in [tensor for layer in layers for tensor in layer] + [*(pruning or ())]:
        digest.update(np.ascontiguousarray(tensor, "<f4").tobytes())
    return digest.hexdigest()


def _in_blocks(rows: Array) -> Array:
    """Rows int16[N, H] as the kernels read them: int16[H / BLOCK, N, BLOCK], flat."""
    return rows.reshape(len(rows), rows.shape[1] // BLOCK, BLOCK).swapaxes(0, 1).ravel()


def _kernel_net(feature_set: Encoder, layers: Layers) -> Net:
    """The kernels' form of the layers, padded with zeros: the first to whole blocks of units, the
    outputs to eight.
    """
    weight, bias = layers[0]
    unused = -len(bias) % BLOCK
    weight, bias = np.pad(weight, ((0, unused), (0, 0))), np.pad(bias, (0, unused))
    first = fixed_point(feature_set.table(weight), bias, feature_set.tactics(weight))
    weight_above, bias_above = layers[1]
    no_inputs = [(0, 0)] * (weight_above.ndim - 1)
    weight_above = np.pad(weight_above, (*no_inputs, (0, unused))) / first.scale
    weight_above = weight_above.clip(-LARGEST, LARGEST)
    layers = [(weight, bias), (weight_above, bias_above), *layers[2:]]
    parts = []
    plans = len(layers[1][1]) if layers[1][1].ndim == 2 else 1
    stacks = [(w.reshape(plans, *w.shape[-2:]), b.reshape(plans, -1)) for w, b in layers[1:]]
    for plan in range(plans):
        for weights, biases in stacks:
            padding = -biases.shape[1] % OUTPUTS
            parts.append(np.pad(weights[plan].T, ((0, 0), (0, padding))).ravel())
            parts.append(np.pad(biases[plan], (0, padding)))
    sizes = np.array([b.shape[-1] for _, b in layers[:-1]] + [OUTPUTS], np.int64)
    flat = np.concatenate(parts, dtype=np.float32)
    return Net(
        _aligned(_in_blocks(first.table.reshape(ROWS, len(bias)))),
        _aligned(first.biases),
        _aligned(_in_blocks(first.tactics)),
        sizes,
        _aligned(flat),
        len(flat) // plans if plans > 1 else 0,
        np.empty(0, np.float32),
        np.empty(0, np.float32),
        tables(),
    )


def _with_pruning(kernel: Net, pruning: PruningNet) -> Net:
    """The kernels' form of a net with a pruning net beside it."""
    weights = np.concatenate([pruning.bias, pruning.output.ravel()])
    return kernel._replace(
        pruning_table=_aligned(PRUNING_ENCODER.table(pruning.weight).ravel()),
        pruning_weights=_aligned(weights),
    )


def _check_pruning(pruning: PruningNet | None) -> None:
    expected = (PRUNING, PRUNING_ENCODER.features), (PRUNING,), (PROBABILITIES, PRUNING)
    if pruning is not None and tuple(part.shape for part in pruning) != expected:
        shapes = ", ".join(str(part.shape) for part in pruning)
        raise NetError(f"pruning net of shapes {shapes}: expected {expected}")


@dataclass(frozen=True)
class Network:
    """A net that can be played with. Immutable; made by `of_layers` or `load`."""

    encoder: Encoder
    variant: str
    layers: Layers
    """Weight float32[out, in] and bias float32[out] of each layer, as torch keeps them; those of
    the later layers float32[PLANS, out, in] and [PLANS, out] where each plan has its own."""
    origin: str
    """How the net was trained, in words."""
    pruning: PruningNet | None
    kernel: Net
    """What evaluates every result of a roll."""
    quick: Net
    """The same, but where there is a pruning net only the most promising results of a roll."""

    @classmethod
    def of_layers(
        cls,
        feature_set: Encoder,
        variant: str,
        layers: Layers,
        origin: str,
        pruning: PruningNet | None = None,
    ) -> Self:
        """A network of these weights; NetError when their shapes do not fit together."""
        width = feature_set.features
        plans = layers[1][0].shape[:-2] if len(layers) > 1 else ()
        for index, (weight, bias) in enumerate(layers):
            leading = plans if index else ()
            fits = weight.shape == (*bias.shape, width) and bias.shape[:-1] == leading
            if bias.ndim == 0 or not fits or leading not in ((), (PLANS,)):
                raise NetError(
                    f"layer {index} has weight {weight.shape} and bias {bias.shape}: "
                    f"expected {width} inputs and one bias an output, later layers once or for "
                    f"{PLANS} plans"
                )
            width = bias.shape[-1]
            if index < len(layers) - 1 and width % 8:
                raise NetError(f"layer {index} has {width} units: expected a multiple of 8")
        if len(layers) < 2 or width != PROBABILITIES:
            raise NetError(
                f"{len(layers)} layers ending in {width} outputs: expected two layers or more "
                f"ending in {PROBABILITIES}"
            )
        _check_pruning(pruning)
        tensors = [tensor for layer in layers for tensor in layer] + [*(pruning or ())]
        if not all(np.isfinite(tensor).all() for tensor in tensors):
            raise NetError("a weight is not a finite number")
        kernel = _kernel_net(feature_set, layers)
        quick = kernel if pruning is None else _with_pruning(kernel, pruning)
        return cls(feature_set, variant, layers, origin, pruning, kernel, quick)

    @classmethod
    def load(cls, path: str | os.PathLike[str], variant: str | None = None) -> Self:
        """Read a net file.

        variant: the name of the variant it must have been trained for; None takes any.
        Raises NetError, quoting the path, for anything that is not a sound net of that variant.
        """
        try:
            tensors, metadata = read_tensors(path)
            network = cls._of_file(metadata, tensors)
        except FileFormatError as error:
            raise NetError(f"net file {str(path)!r}: {error}") from None
        if variant is not None and network.variant != variant:
            raise NetError(
                f"net file {str(path)!r}: trained for {network.variant!r}, expected {variant!r}"
            )
        return network

    @classmethod
    def _of_file(cls, metadata: dict[str, str], tensors: dict[str, Array]) -> Self:
        if metadata.get("format") != FORMAT:
            raise NetError(f"format {metadata.get('format')!r}: expected {FORMAT!r}")
        wanted = ("encoder", "encoder_version", "sizes", "variant", "origin", "hash")
        missing = [key for key in wanted if key not in metadata]
        if missing:
            raise NetError(f"metadata lacks {', '.join(missing)}")
        if not metadata["encoder_version"].isdecimal():
            raise NetError(f"encoder version {metadata['encoder_version']!r}: expected a number")
        feature_set = encoder(metadata["encoder"], int(metadata["encoder_version"]))
        network = cls.of_tensors(feature_set, metadata["variant"], tensors, metadata["origin"])
        if metadata["sizes"] != network.sizes:
            raise NetError(f"sizes {metadata['sizes']} in the metadata, {network.sizes} in fact")
        if metadata["hash"] != network.hash:
            raise NetError("the weights do not match their hash: the file is damaged")
        return network

    @classmethod
    def of_tensors(
        cls, feature_set: Encoder, variant: str, tensors: dict[str, Array], origin: str
    ) -> Self:
        """The network whose `tensors` these are; NetError when they are no network's."""
        has_pruning = any(name.startswith("pruning.") for name in tensors)
        pruning_names = [f"pruning.{part}" for part in PruningNet._fields] if has_pruning else []
        count = (len(tensors) - len(pruning_names)) // 2
        names = [f"layer{index}.{part}" for index in range(count) for part in ("weight", "bias")]
        if sorted(names + pruning_names) != sorted(tensors):
            raise NetError(
                f"tensors {', '.join(sorted(tensors))}: expected layer0.weight and so on"
            )
        if any(tensor.dtype != np.float32 for tensor in tensors.values()):
            raise NetError("a tensor is not float32")
        layers = [(tensors[f"layer{i}.weight"], tensors[f"layer{i}.bias"]) for i in range(count)]
        pruning = PruningNet(*(tensors[name] for name in pruning_names)) if has_pruning else None
        return cls.of_layers(feature_set, variant, layers, origin, pruning)

    def with_bearoff(self, bearoff: Bearoff) -> Self:
        """The same network, which asks bearoff databases first."""
        return replace(
            self,
            kernel=self.kernel._replace(bearoff=bearoff),
            quick=self.quick._replace(bearoff=bearoff),
        )

    @property
    def sizes(self) -> str:
        """Features, units of each layer and outputs, as a JSON list."""
        return json.dumps([self.encoder.features] + [bias.shape[-1] for _, bias in self.layers])

    @property
    def hash(self) -> str:
        """SHA-256 of the weights, in hexadecimal."""
        return _content_hash(self.layers, self.pruning)

    def tensors(self) -> dict[str, Array]:
        """All weights by the names that they have in a net file."""
        tensors = {}
        for index, (weight, bias) in enumerate(self.layers):
            tensors[f"layer{index}.weight"] = weight
            tensors[f"layer{index}.bias"] = bias
        if self.pruning is not None:
            tensors |= {f"pruning.{part}": each for part, each in self.pruning._asdict().items()}
        return tensors

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a net file, whole or not at all; FileFormatError when that cannot be done."""
        metadata = {
            "format": FORMAT,
            "encoder": self.encoder.name,
            "encoder_version": str(self.encoder.version),
            "sizes": self.sizes,
            "variant": self.variant,
            "origin": self.origin,
            "hash": self.hash,
        }
        write_tensors(path, self.tensors(), metadata)

    def evaluate(self, packed: Array) -> Array:
        """float32[N, 5] probabilities of int8[N, 2, 32] packed boards; exact for finished games."""
        values = np.empty((len(packed), PROBABILITIES), np.float32)
        evaluate_boards(self.kernel, words_of(packed), values)
        return values

    def choose(self, packed: Array, dice: Array) -> tuple[Array, Array]:
        """The best play of each position at 0-ply.

        packed: int8[N, 2, 32], none finished; dice: int8[N, 2].
        Returns results int8[N, 2, 32] as the next player sees them, and the float32[N, 5]
        probabilities of those results for the next player.
        """
        chosen = np.empty((len(packed), 8), np.uint64)
        values = np.empty((len(packed), PROBABILITIES), np.float32)
        choose_results(
            self.kernel, words_of(packed), np.ascontiguousarray(dice, np.int8), chosen, values
        )
        return boards_of(chosen), values

    def back_up(self, packed: Array) -> tuple[Array, int]:
        """float32[N, 5]: the mean over the 21 rolls of the best result's value (1-ply).

        packed: int8[N, 2, 32], none finished. Also how often the net was asked.
        """
        values = np.empty((len(packed), PROBABILITIES), np.float32)
        asked: int = backup_rolls(self.quick, words_of(packed), values)
        return values, asked
