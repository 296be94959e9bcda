"""Deep Q-learning with replay and a target network, for any number of players, with or without chance.

    y = r + γ max_{a'} Q⁻(s', a')        double: y = r + γ Q⁻(s', argmax_{a'} Q(s', a'))

with s' the same player's next decision (or its n-th next), r all that it got until then, and Q⁻ an older copy of the
net. Sources: Mnih et al. 2015; van Hasselt et al. 2016 (double); szurkowski2021 (Ludo, preset of that name).
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from algorithms.learning import experience, optimizers, pretraining, q_net, replay, schedules
from algorithms.learning.q_net import GreedyQ, QNet
from algorithms.learning.replay import Replay
from algorithms.learning.rewards import reward_unit
from algorithms.learning.transitions import Slot, Totals, Transition, counted, no_pending, no_totals
from algorithms.self_play import experience_shards, shards, way
from algorithms.self_play.experience_shards import NOT_PLAYED_WITH, Learner, played_like
from algorithms.self_play.experiences import Experiences, Played
from algorithms.self_play.shards import Work
from algorithms.settings.dqn import Config, value_net
from algorithms.settings.dqn import check as check
from boardrl.game import Game
from boardrl.play import rollout
from boardrl.play.policy import Policy

RENAMED_LEAVES = {"optimizer_state": "momentum", "replay.transitions": "replay.rows"}


class TrainState(NamedTuple):
    params: Any
    target: Any  # of the target network, an older copy
    optimizer_state: Any
    lanes: rollout.Lanes
    pending: Slot  # [P, B] decisions whose successor is still to come
    replay: Replay  # of transitions, with states for memos
    totals: Totals  # of rewards
    key: Array  # raw key data
    games: Array  # [] int32: ended so far
    learned: Array  # [] int32: gradient steps
    updates: Array  # [] int32


@functools.partial(jax.jit, static_argnames=("config", "game"))
def init(config: Config, game: Game[Any], key: Array) -> TrainState:
    key_net, key_record, key_play = jax.random.split(key, 3)
    net, first = value_net(config, game), game.init()
    params, totals = net.init(key_net), no_totals(config.lanes, game.spec.num_players)
    if config.pretrain_from:
        params, largest = pretraining.pretrain(config, net, params, key_record)
        totals = totals._replace(largest=largest)
    example = Transition(first, jnp.int32(0), jnp.float32(0), jnp.float32(0), first)
    return TrainState(
        params=params,
        target=params,
        optimizer_state=optimizers.init(config.optimizer, params),
        lanes=rollout.start(game, config.lanes),
        pending=no_pending(game, first, config.lanes),
        replay=replay.empty(example, config.capacity),
        totals=totals,
        key=jax.random.key_data(key_play),
        games=jnp.int32(0),
        learned=jnp.int32(0),
        updates=jnp.int32(0),
    )


def loss(net: QNet, params: Any, target: Any, batch: Transition, *, double: bool) -> Array:
    """Mean of ½ (y − Q(s, a))² over a batch [N] of transitions; see `targets` for y."""
    wanted = jax.lax.stop_gradient(targets(net, params, target, batch, double=double))
    return 0.5 * jnp.mean((wanted - q_net.chosen_values(net, params, batch)) ** 2)


def targets(net: QNet, params: Any, target: Any, batch: Transition, *, double: bool) -> Array:
    """[N] regression targets y = r + γ max_{a'} Q⁻(s', a'), or Q⁻(s', argmax_{a'} Q(s', a')) if double."""
    shown = q_net.shown(net, batch.after)
    legal = jax.vmap(net.game.legal)(batch.after)
    values = q_net.batch_values(net, target, shown)
    judged = q_net.batch_values(net, params, shown) if double else values
    best = jnp.argmax(jnp.where(legal, judged, -jnp.inf), axis=1)
    ahead = jnp.where(jnp.arange(values.shape[1])[None] == best[:, None], values, 0.0).sum(1)
    return batch.reward + batch.discount * jnp.where(batch.discount > 0, ahead, 0.0)


def learner(config: Config, game: Game[Any]) -> Learner:
    """The ε-greedy player that experience is gathered by."""
    return Learner(value_net(config, game), epsilon)


def epsilon(config: Config, games: Array) -> Array:
    """[] float32: probability of a random action after so many games."""
    return schedules.annealed(config.epsilon, config.epsilon_end, games, config.epsilon_games or config.games)


@functools.partial(jax.jit, static_argnames=("config", "game"))
def play_in_jax(
    config: Config, game: Game[Any], opponents: tuple[Policy, ...], state: TrainState, shard: Any
) -> Played:
    """A window in the lanes of a shard."""
    return experience_shards.play_in_jax(learner(config, game), config, opponents, state, shard)


def play_compiled(
    config: Config, game: Game[Any], opponents: tuple[Policy, ...], state: TrainState, shard: int
) -> Played:
    """The same, played by compiled code."""
    return experience_shards.play_compiled(learner(config, game), config, opponents, state, shard)


def update(
    config: Config, game: Game[Any], opponents: tuple[Policy, ...], state: TrainState
) -> tuple[TrainState, dict[str, Array]]:
    """Plays a window in every lane, adds it to the replay buffer, and takes gradient steps on samples of that."""
    compiled = isinstance(find_experiences(config, game, opponents), Experiences)
    updated: tuple[TrainState, dict[str, Array]]
    if not compiled and config.shards == 1:
        updated = _update_in_jax(config, game, opponents, state)
    else:
        work = Work(play_compiled if compiled else play_in_jax, init, played_like, ("lanes",), NOT_PLAYED_WITH)
        played = experience_shards.joined(shards.spread(work, config, game, opponents, state))
        updated = _learn_from_turns(config, game, state, *played)
    return updated


def find_experiences(config: Config, game: Game[Any], opponents: tuple[Policy, ...]) -> Experiences | str:
    """Compiled play, or why lanes are played in JAX."""
    return experience_shards.find(value_net(config, game), config, opponents)


def on_host(config: Config, game: Game[Any], opponents: tuple[Policy, ...]) -> bool:
    """Whether `update` calls compiled functions of the host, or workers."""
    return config.shards > 1 or isinstance(find_experiences(config, game, opponents), Experiences)


def remark(config: Config, game: Game[Any], opponents: tuple[Policy, ...]) -> str:
    """What the user should know before training: why games are played in JAX, if they are."""
    return way.remark(config.play, find_experiences(config, game, opponents))


@functools.partial(jax.jit, static_argnames=("config", "game"), donate_argnames="state")
def _update_in_jax(
    config: Config, game: Game[Any], opponents: tuple[Policy, ...], state: TrainState
) -> tuple[TrainState, dict[str, Array]]:
    """`update` with play in JAX, as one program."""
    return _learn_from_turns(config, game, state, *play_in_jax(config, game, opponents, state, 0))


@functools.partial(jax.jit, static_argnames=("config", "game"), donate_argnames="state")
def _learn_from_turns(
    config: Config, game: Game[Any], state: TrainState, lanes: rollout.Lanes, turns: Slot
) -> tuple[TrainState, dict[str, Array]]:
    """Adds [T, B] turns to the replay buffer, and takes gradient steps on samples of that."""
    key_next, _, key_learn = jax.random.split(jax.random.wrap_key_data(state.key), 3)
    net, explored = value_net(config, game), epsilon(config, state.games)
    played = experience.linked(lanes, turns, state.pending, discount=config.discount, steps=config.steps)
    flat = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), played.transitions)
    buffer = replay.add(state.replay, flat, played.known.ravel())

    state = state._replace(
        lanes=played.lanes,
        pending=played.pending,
        replay=buffer,
        totals=counted(state.totals, played.turns),
        key=jax.random.key_data(key_next),
        games=state.games + played.games,
        updates=state.updates + 1,
    )
    state, errors = jax.lax.cond(
        replay.size(buffer) >= config.warm_up,
        lambda state: _learn(config, net, state, key_learn),
        lambda state: (state, jnp.zeros(config.learning_steps, jnp.float32)),
        state,
    )
    metrics = {
        "loss": 0.5 * errors.mean(),
        "td_error": reward_unit(state.totals.largest) * jnp.sqrt(errors.mean()),
        "epsilon": explored,
        "remembered": replay.size(buffer).astype(jnp.float32),
    }
    return state, metrics


def _learn(config: Config, net: QNet, state: TrainState, key: Array) -> tuple[TrainState, Array]:
    """Some gradient steps; and [learning_steps] the mean squared errors before them."""
    rate = schedules.annealed(config.learning_rate, config.learning_rate_end, state.games, config.games)
    buffer, unit = state.replay, reward_unit(state.totals.largest)

    def step(carry: tuple[Any, Any, Any, Array], key_step: Array) -> tuple[tuple[Any, Any, Any, Array], Array]:
        params, target, optimizer_state, learned = carry
        batch = replay.sample(buffer, config.batch, key_step)
        batch = batch._replace(reward=batch.reward / unit)
        value, gradient = jax.value_and_grad(loss, argnums=1)(net, params, target, batch, double=config.double)
        params, optimizer_state = optimizers.step(config.optimizer, params, optimizer_state, gradient, rate=rate)
        learned = learned + 1
        copy = learned % config.copy_every == 0
        target = jax.tree.map(lambda old, new: jnp.where(copy, new, old), target, params)
        return (params, target, optimizer_state, learned), 2 * value

    carry = (state.params, state.target, state.optimizer_state, state.learned)
    carry, errors = jax.lax.scan(step, carry, jax.random.split(key, config.learning_steps))
    params, target, optimizer_state, learned = carry
    state = state._replace(params=params, target=target, optimizer_state=optimizer_state, learned=learned)
    return state, errors


def policy(config: Config, game: Game[Any], state: TrainState) -> Policy:
    """The greedy player of what was learned."""
    return Policy(GreedyQ(value_net(config, game)), state.params)
