"""A weighted sum of a game's features as a value (Brunton and Cohney 2013, section 2.2)."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from boardrl.game import Game


@dataclasses.dataclass(frozen=True)
class Linear:
    """V_p = tanh Σ_i w_i f_i(state, p), within what a player can get; a `boardrl.policy.Value` of [F] weights."""

    game: Game[Any]

    def init(self, key: Array) -> Array:
        """Nothing is known of any feature."""
        first = jax.eval_shape(self.game.features, self.game.init(), jnp.int32(0))  # type: ignore[attr-defined]
        return jnp.zeros(first.shape, jnp.float32)

    def __call__(self, params: Array, state: Any, player: Array) -> Array:
        """[P] in seat order, each as that seat sees the state."""
        spec = self.game.spec
        seats = jnp.arange(spec.num_players)
        features = jax.vmap(self.game.features, (None, 0))(state, seats)  # type: ignore[attr-defined]
        return jnp.clip(jnp.tanh(features @ params), spec.min_return, spec.max_return)
