"""A weighted sum of a game's features as a value (Brunton and Cohney 2013, section 2.2)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from boardrl import optional
from boardrl.errors import UserError, did_you_mean
from boardrl.game import Game


class FeatureSet(NamedTuple):
    """What a linear evaluation weighs, under a name of its own (`feature_sets` of a game)."""

    names: tuple[str, ...]
    function: Callable[[Any, Any, Array], Array]  # f(game, state, player) -> [F] float32
    weights: tuple[float, ...] = ()  # that stand for those who give none


def find(game: Game[Any], name: str = "") -> FeatureSet:
    """The set of that name; without one the game's `features`."""
    sets: dict[str, FeatureSet] = dict(optional.feature_sets(game))
    if optional.features(game) is not None:
        names, weights = optional.feature_names(game), optional.feature_weights(game)
        sets[""] = FeatureSet(names, lambda game, state, player: game.features(state, player), weights)
    if name in sets:
        return sets[name]
    if not sets:
        raise UserError(f"{game.spec.name} offers no features to weigh; leave the weights out or choose another game")
    known = [known for known in sets if known]
    hint = did_you_mean(name, known)
    raise UserError(f"unknown features {name!r} of {game.spec.name}{hint}; known: {', '.join(known) or 'its own'}")


@dataclasses.dataclass(frozen=True)
class Linear:
    """V_p = tanh Σ_i w_i f_i(state, p), within what a player can get; a `boardrl.play.policy.Value` of [F] weights."""

    game: Game[Any]
    features: str = ""  # which set of the game

    def init(self, key: Array) -> Array:
        """Nothing is known of any feature."""
        first = jax.eval_shape(self._features, self.game.init(), jnp.int32(0))
        return jnp.zeros(first.shape, jnp.float32)

    def __call__(self, params: Array, state: Any, player: Array) -> Array:
        """[P] in seat order, each as that seat sees the state."""
        spec = self.game.spec
        seats = jnp.arange(spec.num_players)
        features = jax.vmap(self._features, (None, 0))(state, seats)
        return spec.within_returns(jnp.tanh(features @ params))

    def _features(self, state: Any, player: Array) -> Array:
        return find(self.game, self.features).function(self.game, state, player)
