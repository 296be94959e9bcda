"""Value networks: an observation in, one number per player out."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Literal, NamedTuple

import flax.linen as nn
import jax
import jax.numpy as jnp
from jax import Array

from boardrl.game import Game, Spec, one_hot

Activation = Literal["relu", "tanh", "sigmoid"]
ACTIVATIONS = {"relu": nn.relu, "tanh": nn.tanh, "sigmoid": nn.sigmoid}


class Sparse(NamedTuple):
    """An array that is 0 but for a few entries: Σ_k weight_k e_{place_k}, where places may repeat."""

    places: Array  # [K] int32
    weights: Array  # [K] float32

    def dense(self, size: int) -> Array:
        """[size] the array itself."""
        return jnp.zeros(size, jnp.float32).at[self.places].add(self.weights, mode="promise_in_bounds")


class MLP(nn.Module):
    """Dense layers with one activation between them."""

    hidden: tuple[int, ...]
    num_outputs: int
    activation: Activation = "relu"

    def setup(self) -> None:
        self.layers = [nn.Dense(units) for units in (*self.hidden, self.num_outputs)]

    def __call__(self, x: Array | Sparse) -> Array:
        first, *others = self.layers
        if isinstance(x, Sparse):
            # Row by row: many times faster than a product with an array that is mostly 0.
            table = first.variables["params"]
            y = table["bias"]
            for k in range(x.places.shape[0]):
                y += x.weights[k] * table["kernel"].at[x.places[k]].get(mode="promise_in_bounds")
        else:
            y = first(x.ravel())
        for layer in others:
            y = layer(ACTIVATIONS[self.activation](y))
        return y


@dataclasses.dataclass(frozen=True)
class ValueNet:
    """A net that sees a state from one seat and values it for every seat.

    The net's k-th output belongs to the player k seats after the one who looks, so that in a game that is
    the same from every seat (one that has `rotate`) all seats share what is learned. In other games the net
    is also told which seat it sits in.
    """

    game: Game[Any]
    mlp: MLP

    def init(self, key: Array) -> Any:
        return self.mlp.init(key, self.dense(self.inputs(self.game.init(), jnp.int32(0))))

    @property
    def num_inputs(self) -> int:
        """I, how wide the first layer is."""
        return math.prod(self.game.spec.obs_shape) + (0 if self._seats_alike else self.game.spec.num_players)

    @property
    def _seats_alike(self) -> bool:
        return getattr(self.game, "rotate", None) is not None

    def inputs(self, state: Any, player: Array) -> Array | Sparse:
        """[I] what the net is shown, as a Sparse where the game gives one."""
        if self._seats_alike and hasattr(self.game, "observe_sparsely"):
            return Sparse(*self.game.observe_sparsely(state, player))
        seen = self.game.observe(state, player).ravel()
        if self._seats_alike:
            return seen
        return jnp.concatenate([seen, one_hot(player, self.game.spec.num_players).astype(seen.dtype)])

    def dense(self, inputs: Array | Sparse) -> Array:
        """[I] the same as one array."""
        return inputs.dense(self.num_inputs) if isinstance(inputs, Sparse) else inputs

    def logits(self, params: Any, inputs: Array | Sparse, player: Array) -> Array:
        """[P] in seat order."""
        relative = self.mlp.apply(params, inputs)
        assert isinstance(relative, Array)
        turns = [jnp.roll(relative, shift) for shift in range(self.game.spec.num_players)]
        return jax.lax.select_n(player, *turns)

    def __call__(self, params: Any, state: Any, player: Array) -> Array:
        """[P] expected returns in seat order."""
        return to_returns(
            self.game.spec, to_shares(self.game.spec, self.logits(params, self.inputs(state, player), player))
        )


def to_shares(spec: Spec, logits: Array) -> Array:
    """[P] in [0, 1]: shares of one cake where returns have a fixed sum, a fraction for each player otherwise."""
    return jax.nn.sigmoid(logits) if spec.return_sum is None else jax.nn.softmax(logits)


def to_returns(spec: Spec, shares: Array) -> Array:
    """[P] returns: r = low + share · (sum − P low), or r = low + share · (high − low) without a fixed sum."""
    return (spec.min_return + shares * _scale(spec)).astype(jnp.float32)


def from_returns(spec: Spec, returns: Array) -> Array:
    """[P] shares: the inverse of `to_returns`."""
    return (returns - spec.min_return) / _scale(spec)


def _scale(spec: Spec) -> float:
    if spec.return_sum is None:
        return spec.max_return - spec.min_return
    return spec.return_sum - spec.num_players * spec.min_return
