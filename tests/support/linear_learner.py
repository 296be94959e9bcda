"""The smallest algorithm that learns: TD(0) on a linear value of what seat 0 sees, with uniformly random play."""

import dataclasses
import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from boardrl.config import setting
from boardrl.play import rollout
from boardrl.play.policy import Greedy, Policy, Uniform


@dataclasses.dataclass(frozen=True)
class Config:
    games: int = setting(40, "train until this many games have ended")
    opponents: str = setting("", "players that take a seat each")
    lanes: int = setting(8, "games played side by side")
    step_size: float = setting(0.1, "of gradient descent")


class TrainState(NamedTuple):
    weights: Array  # [I]
    lanes: rollout.Lanes
    nothing: Array  # [0], as a game may have empty arrays too
    key: Array
    games: Array
    updates: Array


def check(config, game):
    pass


def init(config, game, key):
    return TrainState(
        weights=0.01 * jax.random.normal(key, game.spec.obs_shape),
        lanes=rollout.start(game, config.lanes),
        nothing=jnp.zeros(0, jnp.int8),
        key=jax.random.key_data(key),
        games=jnp.int32(0),
        updates=jnp.int32(0),
    )


@functools.partial(jax.jit, static_argnames=("config", "game"))
def update(config, game, opponents, state):
    key_next, key_play = jax.random.split(jax.random.wrap_key_data(state.key))
    seen = jax.vmap(game.observe, (0, None))(state.lanes.state, jnp.int32(0))
    lanes, ended = rollout.play(game, (Policy(Uniform(game)),), None, state.lanes, key_play, num_turns=1)
    ended = jax.tree.map(lambda leaf: leaf[0], ended)
    then = jax.vmap(game.observe, (0, None))(lanes.state, jnp.int32(0)) @ state.weights
    error = jnp.where(ended.over, ended.returns[:, 0], then) - seen @ state.weights
    weights = state.weights + config.step_size * (error @ seen) / config.lanes
    games = state.games + ended.over.sum().astype(jnp.int32)
    key_data = jax.random.key_data(key_next)
    return TrainState(weights, lanes, state.nothing, key_data, games, state.updates + 1), {"loss": (error**2).mean()}


@dataclasses.dataclass(frozen=True)
class Value:
    game: Any

    def __call__(self, params, state, player):
        mine = self.game.observe(state, jnp.int32(0)) @ params
        return jnp.stack([mine, -mine])


def policy(config, game, state):
    return Policy(Greedy(game, Value(game)), state.weights)
