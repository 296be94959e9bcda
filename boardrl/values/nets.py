"""Value networks: an observation in, one number per player out."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Literal, NamedTuple

import flax.linen as nn
import jax
import jax.numpy as jnp
from jax import Array

from boardrl import optional
from boardrl.game import Game, Spec, one_hot
from boardrl.values import sparse_observation
from boardrl.values.return_scale import Scale

Activation = Literal["relu", "tanh", "sigmoid"]
ACTIVATIONS = {"relu": nn.relu, "tanh": nn.tanh, "sigmoid": nn.sigmoid}


class Sparse(NamedTuple):
    """A sparse vector: Σ_k weight_k e_{place_k}, where places may repeat."""

    places: Array  # [K] int32
    weights: Array  # [K] float32

    def dense(self, size: int) -> Array:
        """[size] the dense vector."""
        return jnp.zeros(size, jnp.float32).at[self.places].add(self.weights, mode="promise_in_bounds")


class FirstOutputs(NamedTuple):
    """What an MLP's first dense layer gave, in place of its inputs."""

    values: Array  # [H] before the activation


class MLP(nn.Module):
    """Dense layers with one activation between them."""

    hidden: tuple[int, ...]
    num_outputs: int
    activation: Activation = "relu"

    def setup(self) -> None:
        self.layers = [nn.Dense(units) for units in (*self.hidden, self.num_outputs)]

    def __call__(self, x: Array | Sparse | FirstOutputs) -> Array:
        first, *others = self.layers
        if isinstance(x, FirstOutputs):
            y = x.values
        elif isinstance(x, Sparse):
            # A sum of rows of the kernel: many times faster than a product with a mostly zero vector.
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

    Output k is the value of the player k seats after the observer, so that in a game with symmetric seats (one that has
    `rotate`) all seats share the learned weights. In other games the observer's seat is an additional input. With
    `fixed_seats`, output k is the value of seat k for every observer.
    """

    game: Game[Any]
    module: nn.Module  # such as an MLP; `boardrl.values.named_nets` describes the inputs of others
    encoding: str = ""  # one of the game's `encodings`, in place of `observe`
    fixed_seats: bool = False
    separate: bool = False  # an independent fraction for each player even if returns have a fixed sum
    sparse: bool = True  # whether inputs of which few are not 0 are a Sparse

    def for_host(self) -> ValueNet:
        """With dense inputs: lowered code finds those that are not 0 by itself."""
        return dataclasses.replace(self, sparse=False)

    def init(self, key: Array) -> Any:
        return self.module.init(key, self.shaped(self.dense(self.inputs(self.game.init(), jnp.int32(0)))))

    @property
    def seen(self) -> jax.ShapeDtypeStruct:
        """Shape and dtype of the module's input."""
        return jax.eval_shape(lambda: self.shaped(self.dense(self.inputs(self.game.init(), jnp.int32(0)))))

    @property
    def num_inputs(self) -> int:
        """I, the number of input entries."""
        return math.prod(self._shape) + (self.game.spec.num_players if self._told_its_seat else 0)

    def viewer(self, state: Any, player: Array) -> Array:
        """[] int32: the seat from whose side the net sees a position that a player asks about."""
        viewpoint = optional.viewpoint(self.game)
        return player if viewpoint is None else viewpoint(state)

    def inputs(self, state: Any, player: Array) -> Array | Sparse:
        """[I] what the net is shown, as a Sparse where few numbers are added up and the net takes it."""
        if self.sparse and isinstance(self.module, MLP) and not self.encoding and not self._told_its_seat:
            entries = sparse_observation.entries(self.game)
            if entries is not None:
                return Sparse(*entries(state, player))
        seen = self._observe(state, player).ravel().astype(jnp.float32)
        if not self._told_its_seat:
            return seen
        return jnp.concatenate([seen, one_hot(player, self.game.spec.num_players).astype(seen.dtype)])

    def dense(self, inputs: Array | Sparse) -> Array:
        """[I] the inputs as a dense array."""
        return inputs.dense(self.num_inputs) if isinstance(inputs, Sparse) else inputs

    def shaped(self, inputs: Array | Sparse) -> Array | Sparse:
        """The inputs in the module's shape: flat for an MLP, else in the shape of the observation."""
        if isinstance(self.module, MLP) or isinstance(inputs, Sparse):
            return inputs
        if not self._told_its_seat:
            return inputs.reshape(self._shape)
        num_players = self.game.spec.num_players
        board = inputs[:-num_players].reshape(self._shape)
        seat = jnp.broadcast_to(inputs[-num_players:], (*self._shape[:-1], num_players))
        return jnp.concatenate([board, seat], -1)

    def logits(self, params: Any, inputs: Array | Sparse, player: Array) -> Array:
        """[P] in seat order."""
        outputs = self.module.apply(params, self.shaped(inputs))
        assert isinstance(outputs, Array)
        if self.fixed_seats:
            return outputs
        turns = [jnp.roll(outputs, shift) for shift in range(self.game.spec.num_players)]
        return jax.lax.select_n(player, *turns)

    def shares(self, logits: Array) -> Array:
        """[P] in [0, 1]: a softmax over players if returns have a fixed sum, else a sigmoid for each player."""
        apart = self.separate or self.game.spec.return_sum is None
        return jax.nn.sigmoid(logits) if apart else jax.nn.softmax(logits)

    def expected(self, params: Any, state: Any, player: Array) -> Array:
        """[P] expected returns in seat order; with a fixed sum a player may get more than the largest return."""
        viewer = self.viewer(state, player)
        return to_returns(self.game.spec, self.shares(self.logits(params, self.inputs(state, viewer), viewer)))

    def __call__(self, params: Any, state: Any, player: Array) -> Array:
        """[P] expected returns in seat order, within what a player can get."""
        return self.game.spec.within_returns(self.expected(params, state, player))

    @property
    def _told_its_seat(self) -> bool:
        return not self.fixed_seats and optional.rotate(self.game) is None

    @property
    def _shape(self) -> tuple[int, ...]:
        return jax.eval_shape(self._observe, self.game.init(), jnp.int32(0)).shape

    def _observe(self, state: Any, player: Array) -> Array:
        if self.encoding:
            return optional.encodings(self.game)[self.encoding](self.game, state, player)
        return self.game.observe(state, player)


class ScaledParams(NamedTuple):
    """Parameters of a Scaled net."""

    net: Any
    scale: Scale


@dataclasses.dataclass(frozen=True)
class Scaled:
    """A ValueNet whose outputs are fractions of a learned range of returns."""

    net: ValueNet

    def for_host(self) -> Scaled:
        return Scaled(self.net.for_host())

    def __call__(self, params: ScaledParams, state: Any, player: Array) -> Array:
        """[P] expected returns in seat order, within what a player can get."""
        expected = self.net.expected(params.net, state, player)
        return self.net.game.spec.within_returns(params.scale.apply(expected))


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
