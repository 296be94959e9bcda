"""Action-value networks, and the player that is greedy on them."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

import flax.linen as nn
import jax
import jax.numpy as jnp
from jax import Array

from algorithms.learning.transitions import Transition
from boardrl import optional, registry
from boardrl.errors import UserError
from boardrl.game import Game
from boardrl.play.policy import afterstates
from boardrl.values import named_nets
from boardrl.values.nets import MLP, Activation, Sparse, ValueNet

OBSERVE, AFTERSTATE = "observe", "afterstate"
Output = Literal["linear", "relu"]


@dataclasses.dataclass(frozen=True)
class QNet:
    """A net Q(s, a) of the value of each action to the actor.

    It is shown one of
        observe            the state as the player sees it; the net has one output for each action
        an encoding        the same with one of the game's `encodings`
        afterstate         for each action, the state that it leads to, as the player sees it; one output
        an action encoding   for each action, its encoding by one of the game's `action_encodings`; one output
    """

    game: Game[Any]
    inputs: str = AFTERSTATE
    hidden: tuple[int, ...] = (64,)
    activation: Activation = "relu"
    output: Output = "linear"
    num_choices: int = 0  # 0: one for each action of the game
    net: str = "mlp"  # see `boardrl.values.named_nets`
    sparse: bool = True  # whether inputs of which few are not 0 are a Sparse

    def for_host(self) -> QNet:
        """With dense inputs: lowered code finds those that are not 0 by itself."""
        return dataclasses.replace(self, sparse=False)

    def __post_init__(self) -> None:
        if self.inputs not in known_inputs(self.game):
            raise UserError(
                f"--inputs={self.inputs} is not known to {registry.describe(self.game)}; "
                f"known inputs: {', '.join(known_inputs(self.game))}"
            )

    @property
    def by_action(self) -> bool:
        """Whether the net is shown every action by itself."""
        return self.inputs == AFTERSTATE or self.inputs in optional.action_encodings(self.game)

    @property
    def num_outputs(self) -> int:
        return 1 if self.by_action else self.num_choices or self.game.spec.num_actions

    @property
    def module(self) -> nn.Module:
        return named_nets.make(self.net, self.num_outputs, hidden=self.hidden, activation=self.activation)

    def init(self, key: Array) -> Any:
        return self.module.init(key, self._first())

    @property
    def seen(self) -> jax.ShapeDtypeStruct:
        """What the module is shown, for one action where it is shown each by itself."""
        return jax.eval_shape(self._first)

    def encode(self, state: Any) -> Array | Sparse:
        """[I] or [A, I] what the net is shown of a state with a player to act, a Sparse where few numbers add up."""
        game = self.game
        player = jnp.maximum(game.actor(state), 0)
        if self.inputs == AFTERSTATE:
            # Held apart, as a compiler would otherwise take the steps anew for each of their many inputs.
            after = jax.lax.optimization_barrier(afterstates(game, state))
            return jax.vmap(self._state_net.inputs, (0, None))(after, player)
        if self.by_action:
            encoded = game.action_encodings[self.inputs](game, state)  # type: ignore[attr-defined]
            return encoded.reshape(encoded.shape[0], -1).astype(jnp.float32)
        return self._state_net.inputs(state, player)

    def values(self, params: Any, shown: Array | Sparse) -> Array:
        """[A] from what `encode` gave."""
        module = self.module

        def outputs(inputs: Array | Sparse) -> Array:
            out = module.apply(params, self._shaped(inputs))
            assert isinstance(out, Array)
            return out

        values = jax.vmap(outputs)(shown)[:, 0] if self.by_action else outputs(shown)
        return self._activated(values)

    def of_afterstate(self, params: Any, after: Any, player: Array) -> Array:
        """[] the value to a player of the action that led to a state, if the net is shown afterstates."""
        out = self.module.apply(params, self._shaped(self._state_net.inputs(after, player)))
        assert isinstance(out, Array)
        return self._activated(out[0])

    def _activated(self, values: Array) -> Array:
        return jnp.maximum(values, 0.0) if self.output == "relu" else values

    def __call__(self, params: Any, state: Any) -> Array:
        """[A] the value of every action, meaningless for illegal ones."""
        return self.values(params, self.encode(state))

    def _first(self) -> Array | Sparse:
        """What the module is shown of the first state, and there of the first action."""
        shown = self.encode(self.game.init())
        one = jax.tree.map(lambda leaf: leaf[0], shown) if self.by_action else shown
        return self._shaped(self._state_net.dense(one))

    def _shaped(self, inputs: Array | Sparse) -> Array | Sparse:
        """The inputs of one state or action as the module is shown them."""
        if self.inputs not in optional.action_encodings(self.game):
            return self._state_net.shaped(inputs)
        if isinstance(self.module, MLP) or isinstance(inputs, Sparse):
            return inputs
        encoded = jax.eval_shape(lambda: self.game.action_encodings[self.inputs](self.game, self.game.init()))  # type: ignore[attr-defined]
        return inputs.reshape(encoded.shape[1:])

    @property
    def _state_net(self) -> ValueNet:
        """Who knows how a state is shown to a net."""
        encoding = "" if self.inputs in (OBSERVE, AFTERSTATE) or self.by_action else self.inputs
        return ValueNet(self.game, self.module, encoding, sparse=self.sparse)


@dataclasses.dataclass(frozen=True)
class AfterstateQ:
    """The value function of a net that is shown afterstates, for compiled play."""

    net: QNet

    def for_host(self) -> AfterstateQ:
        return AfterstateQ(self.net.for_host())

    def __call__(self, params: Any, state: Any, player: Array) -> Array:
        """[P] the value to `player`, in every place."""
        return jnp.broadcast_to(self.net.of_afterstate(params, state, player), self.net.game.spec.num_players)


@dataclasses.dataclass(frozen=True)
class GreedyQ:
    """The actions of highest value; ties are drawn at random."""

    net: QNet

    def __call__(self, params: Any, state: Any) -> Array:
        values = self.net(params, state)
        best = jnp.where(self.net.game.legal(state), values, -jnp.inf).max()
        return jnp.where(values >= best, 0.0, -jnp.inf)


def known_inputs(game: Game[Any]) -> list[str]:
    """What a net can be shown of a game."""
    return [OBSERVE, AFTERSTATE, *optional.encodings(game), *optional.action_encodings(game)]


def chosen_values(net: QNet, params: Any, batch: Transition) -> Array:
    """[N] Q(s, a) of the actions taken; where actions are shown one by one, no other is computed."""
    inputs = shown(net, batch.memo)
    if net.by_action:
        mine = jax.vmap(lambda one, action: jax.tree.map(lambda leaf: leaf[action][None], one))(inputs, batch.choice)
        return batch_values(net, params, mine)[:, 0]
    values = batch_values(net, params, inputs)
    return jnp.where(jnp.arange(values.shape[1])[None] == batch.choice[:, None], values, 0.0).sum(1)


def shown(net: QNet, states: Any) -> Array | Sparse:
    """[N, ...] inputs, made once: a compiler would make them anew in each use."""
    return jax.lax.optimization_barrier(jax.vmap(net.encode)(states))


def batch_values(net: QNet, params: Any, inputs: Array | Sparse) -> Array:
    """[N, A] from what `shown` gave."""
    return jax.vmap(net.values, (None, 0))(params, inputs)
