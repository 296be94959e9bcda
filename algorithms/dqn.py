"""Deep Q-learning with replay and a target network, for any number of players, with or without chance.

    y = r + γ max_{a'} Q⁻(s', a')        double: y = r + γ Q⁻(s', argmax_{a'} Q(s', a'))

with s' the same player's next decision (or its n-th next), r all that it got until then, and Q⁻ an older copy of the
net. Sources: Mnih et al. 2015; van Hasselt et al. 2016 (double); szurkowski2021 (Ludo, preset of that name).
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from algorithms.learning import experience, optimizers, pretraining, q_net, replay, rewards, schedules, settings
from algorithms.learning.q_net import GreedyQ, QNet
from algorithms.learning.replay import Replay
from algorithms.learning.rewards import reward_unit
from algorithms.learning.transitions import Slot, Totals, Transition, counted, no_pending, no_totals
from algorithms.self_play import experience_shards, shards, way
from algorithms.self_play.experience_shards import NOT_PLAYED_WITH, Learner, played_like
from algorithms.self_play.experiences import Experiences, Played
from algorithms.self_play.shards import Work
from boardrl.config import setting
from boardrl.errors import UserError
from boardrl.game import Game
from boardrl.play import rollout
from boardrl.play.policy import Policy
from boardrl.values import named_nets, nets

RENAMED_LEAVES = {"optimizer_state": "momentum", "replay.transitions": "replay.rows"}


@dataclasses.dataclass(frozen=True)
class Config:
    games: int = setting(30_000, "train until this many games have ended")
    opponents: str = setting("", "players that take a seat each, like random,random; empty: all seats learn")
    lanes: int = setting(16, "games played side by side")
    shards: int = setting(1, "groups of lanes that are played at the same time, each by a worker; divides --lanes")
    window: int = setting(8, "turns in every lane between two updates")
    inputs: str = setting(
        "afterstate",
        "what the net is shown: observe (an output for each action), afterstate, or one of the game's encodings",
    )
    net: str = setting("mlp", named_nets.HELP)
    hidden: tuple[int, ...] = setting((128,), "units of the hidden layers of mlp, and of the dense layers of conv")
    activation: nets.Activation = setting("relu", "activation function of the hidden layers")
    output: q_net.Output = setting("linear", "activation function of the output")
    rewards: str = setting("points=1", "reward of each event, like win=1,lose=-1")
    discount: float = setting(1.0, "gamma, per decision of the same player")
    steps: int = setting(1, "n of n-step returns, counted in decisions of the same player")
    double: bool = setting(True, "double DQN: the net chooses the next action, the target network values it")
    epsilon: float = setting(0.5, "probability of a random action, at the start")
    epsilon_end: float = setting(0.05, "the same at the end of linear annealing")
    epsilon_games: int = setting(0, "games over which epsilon is annealed; 0: all of --games")
    capacity: int = setting(100_000, "size of the replay buffer, in transitions")
    warm_up: int = setting(2_000, "transitions in the replay buffer before learning begins")
    batch: int = setting(256, "transitions of one gradient step; as many as --capacity: all of them")
    learning_steps: int = setting(4, "gradient steps after each window")
    copy_every: int = setting(100, "gradient steps between two copies to the target network")
    optimizer: optimizers.Optimizer = setting("adam", "adam, or sgd on the mean gradient")
    learning_rate: float = setting(1e-3, "learning rate at the start")
    learning_rate_end: float = setting(0.0, "the same at the end of linear annealing")
    pretrain_from: str = setting("", "player whose recorded games the net is fitted to first; empty: no pretraining")
    pretrain_games: int = setting(4, "games to record")
    pretrain_epochs: int = setting(200, "passes over all recorded decisions")
    pretrain_batch: int = setting(50, "decisions of one pretraining step")
    pretrain_learning_rate: float = setting(0.1, "learning rate of pretraining")
    play: way.Play = setting("auto", way.HELP)


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


def check(config: Config, game: Game[Any]) -> None:
    """Refuses settings that make no sense, in one sentence."""
    rates = ("epsilon", "epsilon_end", "learning_rate", "learning_rate_end", "pretrain_learning_rate")
    sizes = ("capacity", "warm_up", "batch", "learning_steps", "copy_every")
    pretraining_sizes = ("pretrain_games", "pretrain_epochs", "pretrain_batch")
    counts = ("games", "lanes", "shards", "window", "steps", *sizes, *pretraining_sizes)
    settings.check(config, game, fractions=("discount", *rates), counts=counts)
    settings.check_divides(config, "shards", "lanes")
    rewards.parse(config.rewards, game)
    for name in ("warm_up", "batch"):
        if getattr(config, name) > config.capacity:
            raise UserError(f"--{name}={getattr(config, name)} is more than the replay buffer holds: raise --capacity")
    if config.batch == config.capacity > config.warm_up:
        raise UserError(
            f"--batch={config.batch} is the whole replay buffer, so --warm_up={config.warm_up} must be as many"
        )
    net = value_net(config, game)
    named_nets.check(config.net, net.module, net.seen, net.num_outputs)
    pretraining.check(config, game)


def value_net(config: Config, game: Game[Any]) -> QNet:
    return QNet(game, config.inputs, config.hidden, config.activation, config.output, net=config.net)


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
