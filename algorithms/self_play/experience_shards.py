"""Turns of a Q-learner in a shard of the lanes, played in JAX or by compiled code.

`config` has the settings of `algorithms.dqn`, and `state` the fields of its TrainState.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from algorithms.learning import experience, rewards, seats
from algorithms.learning.q_net import QNet
from algorithms.self_play import experiences, shards, way, windows
from algorithms.self_play.experiences import Experiences, Played
from boardrl.errors import UserError
from boardrl.play import sampling
from boardrl.play.policy import Policy
from boardrl.system import machine

# Of the TrainState: what lanes are played without.
NOT_PLAYED_WITH = ("target", "optimizer_state", "pending", "replay", "totals")


class Learner(NamedTuple):
    """An ε-greedy player."""

    net: QNet
    epsilon: Callable[[Any, Array], Array]  # (config, [] games that have ended) -> [] probability of a random action


def played_like(state: Any) -> Played:
    """The structure of what is played."""
    return Played(state.lanes, state.pending)


def joined(played: Sequence[Played]) -> Played:
    """What all shards have played, as if by one."""
    lanes = jax.tree.map(lambda *leaves: np.concatenate(leaves), *(part.lanes for part in played))
    turns = jax.tree.map(lambda *leaves: np.concatenate(leaves, axis=1), *(part.turns for part in played))
    return Played(lanes, turns)


def play_in_jax(learner: Learner, config: Any, opponents: tuple[Policy, ...], state: Any, shard: Any) -> Played:
    """A window in the lanes of a shard; each of several shards has random numbers of its own."""
    key = jax.random.split(jax.random.wrap_key_data(state.key), 3)[1]
    if config.shards > 1:
        key = jax.random.fold_in(key, shard)
    net, game, epsilon = learner.net, learner.net.game, learner.epsilon(config, state.games)

    def decide(position: Any, uniform: Array) -> experience.Decision:
        """ε-greedy."""
        legal = game.legal(position)
        best = jnp.argmax(jnp.where(legal, net(state.params, position), -jnp.inf)).astype(jnp.int32)
        action = jnp.where(uniform[0] < epsilon, sampling.sample(legal.astype(jnp.float32), uniform[1]), best)
        return experience.Decision(action, action, position)

    seating = seats.seating(config.lanes, game.spec.num_players, len(opponents))
    seat_of = shards.shard_of(seating, shard, config.shards)
    worth = rewards.parse(config.rewards, game)
    played = experience.play(game, decide, opponents, worth, state.lanes, key, num_turns=config.window, seat_of=seat_of)
    return Played(*played)


def play_compiled(learner: Learner, config: Any, opponents: tuple[Policy, ...], state: Any, shard: int) -> Played:
    """The same, played by compiled code."""
    compiled, game = find(learner.net, config, opponents), learner.net.game
    if isinstance(compiled, str):
        raise UserError(f"this machine cannot play by compiled code as others do: {compiled}; give --play=jax")
    size = config.lanes // config.shards
    mine = slice(shard * size, (shard + 1) * size)
    return compiled.play(
        np.arange(config.lanes)[mine],
        jax.tree.map(np.asarray, state.lanes),
        windows.seating(config.lanes, game.spec.num_players, len(opponents), True)[mine],
        compiled.lineup.params((state.params, *(opponent.params for opponent in opponents))),
        rewards.parse(config.rewards, game),
        seed=windows.seed_of(state.key),
        num_turns=config.window,
        epsilon=float(learner.epsilon(config, state.games)),
        threads=max(machine.num_cores() // config.shards, 1),
    )


def find(net: QNet, config: Any, opponents: tuple[Policy, ...]) -> Experiences | str:
    """Compiled play, or why lanes are played in JAX."""
    params = _shapes(net)

    def make() -> Experiences:
        return experiences.make(net, params, opponents, tuple(rewards.parse(config.rewards, net.game)))

    return way.find(config.play, params, opponents, (config, net), make)


@functools.cache
def _shapes(net: QNet) -> Any:
    return jax.eval_shape(net.init, jax.random.key(0))
