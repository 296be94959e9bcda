"""Linear value function: a weighted sum of a game's features (Brunton and Cohney 2013, section 2.2)."""

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
    """A named set of features for linear evaluation (`feature_sets` of a game)."""

    names: tuple[str, ...]
    function: Callable[[Any, Any, Array], Array]  # f(game, state, player) -> [F] float32
    weights: tuple[float, ...] = ()  # default weights


def find(game: Game[Any], name: str = "") -> FeatureSet:
    """The feature set of that name; the game's `features` if the name is empty."""
    sets: dict[str, FeatureSet] = dict(optional.feature_sets(game))
    if optional.features(game) is not None:
        own = optional.feature_names(game), optional.feature_weights(game)
        sets[""] = FeatureSet(own[0], lambda game, state, player: game.features(state, player), own[1])
    if name in sets:
        return sets[name]
    if not sets:
        raise UserError(f"{game.spec.name} has no features to weight; leave the weights out or choose another game")
    known = [known for known in sets if known]
    hint = did_you_mean(name, known)
    raise UserError(f"unknown features {name!r} of {game.spec.name}{hint}; known: {', '.join(known) or 'its own'}")


@dataclasses.dataclass(frozen=True)
class Linear:
    """V_p = tanh Σ_i w_i f_i(state, p), clipped to possible returns; a `boardrl.play.policy.Value` of [F] weights."""

    game: Game[Any]
    features: str = ""  # name of the game's feature set

    def init(self, key: Array) -> Array:
        """[F] zeros."""
        first = jax.eval_shape(self._features, self.game.init(), jnp.int32(0))
        return jnp.zeros(first.shape, jnp.float32)

    def __call__(self, params: Array, state: Any, player: Array) -> Array:
        """[P] values in seat order, each from that seat's features."""
        spec = self.game.spec
        seats = jnp.arange(spec.num_players)
        features = jax.vmap(self._features, (None, 0))(state, seats)
        return spec.within_returns(jnp.tanh(features @ params))

    def _features(self, state: Any, player: Array) -> Array:
        return find(self.game, self.features).function(self.game, state, player)
