"""Networks for the values of actions, and the player that takes the best."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

import flax.linen as nn
import jax
import jax.numpy as jnp
from jax import Array

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
    """A net that says what each action is worth to the player who acts.

    It is shown one of
        observe            the state as the player sees it; the net has one output for each action
        an encoding        the same with one of the game's `encodings`
        afterstate         for each action, the state that it leads to, as the player sees it; one output
        an action encoding   for each action, what one of the game's `action_encodings` says of it; one output
    """

    game: Game[Any]
    inputs: str = AFTERSTATE
    hidden: tuple[int, ...] = (64,)
    activation: Activation = "relu"
    output: Output = "linear"
    num_choices: int = 0  # 0: one for each action of the game
    net: str = "mlp"  # see `boardrl.values.named_nets`

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
        """[I] or [A, I] what the net is shown of a state with a player to act, as a Sparse where the game gives one."""
        game = self.game
        player = jnp.maximum(game.actor(state), 0)
        if self.inputs == AFTERSTATE:
            # Held apart, as a compiler would otherwise take the steps anew for each of their many inputs.
            after = jax.lax.optimization_barrier(afterstates(game, state))
            return jax.vmap(self._state_net.inputs, (0, None))(after, player)
        if self.by_action:
            rows = optional.action_encodings(game)[self.inputs](game, state)
            return rows.reshape(rows.shape[0], -1).astype(jnp.float32)
        return self._state_net.inputs(state, player)

    def values(self, params: Any, shown: Array | Sparse) -> Array:
        """[A] from what `encode` gave."""
        module = self.module

        def outputs(inputs: Array | Sparse) -> Array:
            out = module.apply(params, self._shaped(inputs))
            assert isinstance(out, Array)
            return out

        values = jax.vmap(outputs)(shown)[:, 0] if self.by_action else outputs(shown)
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
        rows = jax.eval_shape(lambda: optional.action_encodings(self.game)[self.inputs](self.game, self.game.init()))
        return inputs.reshape(rows.shape[1:])

    @property
    def _state_net(self) -> ValueNet:
        """Who knows how a state is shown to a net."""
        encoding = "" if self.inputs in (OBSERVE, AFTERSTATE) or self.by_action else self.inputs
        return ValueNet(self.game, self.module, encoding)


@dataclasses.dataclass(frozen=True)
class GreedyQ:
    """The actions that a net values most; ties are left to chance."""

    net: QNet

    def __call__(self, params: Any, state: Any) -> Array:
        values = self.net(params, state)
        best = jnp.where(self.net.game.legal(state), values, -jnp.inf).max()
        return jnp.where(values >= best, 0.0, -jnp.inf)


def known_inputs(game: Game[Any]) -> list[str]:
    """What a net can be shown of a game."""
    return [OBSERVE, AFTERSTATE, *optional.encodings(game), *optional.action_encodings(game)]
