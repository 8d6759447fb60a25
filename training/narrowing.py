"""A net with fewer units in its first layer, which says nearly the same."""

from typing import Any

import numpy as np

from engine.backgammon.board import is_over
from engine.backgammon.variants import variant
from engine.errors import AcepointError
from engine.evaluation.network import Network
from engine.kernels.movegen import boards_of, legal_results, pack, unpack, words_of
from engine.kernels.plans import plans_of
from engine.kernels.playouts import play_games

__all__ = ["narrowed"]

Array = np.ndarray[Any, Any]

GAMES = 300
POSITIONS = 40_000
RIDGE = 1e-2  # of the mean of what a unit varies by


def _positions(network: Network, seed: int) -> Array:
    """int8[N, 2, 32]: what the net is asked about in games against itself, packed: good and bad
    plays of every turn.
    """
    rng = np.random.default_rng(seed)
    starts = np.repeat(words_of(pack(variant(network.variant).start[None])), GAMES, axis=0)
    seeds = rng.integers(0, 2**64, GAMES, dtype=np.uint64)
    words, *_ = play_games(network.quick, starts, seeds, np.zeros(GAMES, np.int64), 0.0)
    boards = boards_of(words)
    boards = boards[~is_over(unpack(boards))]
    results, _ = legal_results(boards, rng.integers(1, 7, (len(boards), 2), np.int8))
    return rng.permutation(results)[:POSITIONS]


def narrowed(network: Network, units: int, seed: int) -> Network:
    """The network with so many units of its first layer.

    One by one those go that change the sums of the second layer least in the net's own games, and
    the others take over what can be taken over (the optimal brain surgeon of Hassibi and Stork
    1993, for each game plan). Raises AcepointError unless it becomes narrower.
    """
    (weight, bias), (above, bias_above), *later = network.layers
    hidden = len(bias)
    if not 0 < units < hidden:
        raise AcepointError(f"narrow {units}: expected fewer than the net's {hidden} units")
    packed = _positions(network, seed)
    said = np.maximum(network.encoder.encode(packed) @ weight.T + bias, 0).astype(np.float64)
    heard = above.reshape(-1, *above.shape[-2:]).astype(np.float64)
    plans = plans_of(packed.reshape(-1, 64)) if len(heard) > 1 else np.zeros(len(packed), np.int64)
    counts = np.bincount(plans, minlength=len(heard))[:, None]
    means = np.stack([said[plans == plan].sum(axis=0) for plan in range(len(heard))])
    means /= np.maximum(counts, 1)
    inverse = np.stack([_inverse(said[plans == plan] - mean) for plan, mean in enumerate(means)])
    constant = np.einsum("poh,ph->po", heard, means)
    stay = np.ones(hidden, bool)
    for _ in range(hidden - units):
        loss = np.square(heard).sum(axis=1) / np.diagonal(inverse, axis1=1, axis2=2)
        unit = int(np.argmin(np.where(stay, loss.sum(axis=0), np.inf)))
        stay[unit] = False
        row = inverse[:, unit] / inverse[:, unit, unit, None]
        heard -= heard[:, :, unit, None] * row[:, None]
        inverse -= inverse[:, :, unit, None] * row[:, None]
        inverse[:, unit, unit] = 1  # it is asked no more
    constant -= np.einsum("poh,ph->po", heard, means)
    second = (
        heard[:, :, stay].reshape(*above.shape[:-1], units).astype(np.float32),
        (bias_above + constant.reshape(bias_above.shape)).astype(np.float32),
    )
    layers = [(weight[stay], bias[stay]), second, *later]
    return Network.of_layers(
        network.encoder, network.variant, layers, network.origin, network.pruning
    )


def _inverse(centred: Array) -> Array:
    """The inverse of the sums of products of the columns of [N, H], which a ridge makes regular."""
    products = centred.T @ centred
    ridge = RIDGE * np.trace(products) / len(products) + np.finfo(np.float32).tiny
    inverse: Array = np.linalg.inv(products + ridge * np.eye(len(products)))
    return inverse
