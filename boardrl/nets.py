"""Value networks: an observation in, one number per player out."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

import flax.linen as nn
import jax
import jax.numpy as jnp
from jax import Array

from boardrl.game import Game, Spec, one_hot

Activation = Literal["relu", "tanh", "sigmoid"]
ACTIVATIONS = {"relu": nn.relu, "tanh": nn.tanh, "sigmoid": nn.sigmoid}


class MLP(nn.Module):
    """Dense layers with one activation between them."""

    hidden: tuple[int, ...]
    num_outputs: int
    activation: Activation = "relu"

    @nn.compact
    def __call__(self, x: Array) -> Array:
        x = x.ravel()
        for units in self.hidden:
            x = ACTIVATIONS[self.activation](nn.Dense(units)(x))
        return nn.Dense(self.num_outputs)(x)


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
        return self.mlp.init(key, self.inputs(self.game.init(), jnp.int32(0)))

    def inputs(self, state: Any, player: Array) -> Array:
        """[I] what the net is shown."""
        seen = self.game.observe(state, player).ravel()
        if hasattr(self.game, "rotate"):
            return seen
        return jnp.concatenate([seen, one_hot(player, self.game.spec.num_players).astype(seen.dtype)])

    def logits(self, params: Any, inputs: Array, player: Array) -> Array:
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
