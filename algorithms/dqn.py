"""Deep Q-learning with replay and a target network, for any number of players, with or without chance.

    y = r + γ max_{a'} Q⁻(s', a')        double: y = r + γ Q⁻(s', argmax_{a'} Q(s', a'))

with s' the same player's next decision (or its n-th next), r all that befell it until then, and Q⁻ an older copy of
the net. Sources: Mnih et al. 2015; van Hasselt et al. 2016 (double); szurkowski2021 (Ludo, preset of that name).
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from algorithms.learning import experience, optimizers, q_net, replay, rewards
from algorithms.learning.experience import Transition
from algorithms.learning.q_net import GreedyQ, QNet
from algorithms.learning.replay import Replay
from boardrl.config import setting
from boardrl.errors import UserError
from boardrl.game import Game
from boardrl.play import players, rollout
from boardrl.play.policy import Policy
from boardrl.values import named_nets, nets


@dataclasses.dataclass(frozen=True)
class Config:
    games: int = setting(30_000, "train until this many games have ended")
    opponents: str = setting("", "players that take a seat each, like random,random; empty: all seats learn")
    lanes: int = setting(16, "games played side by side")
    window: int = setting(8, "turns in every lane between two rounds of learning")
    inputs: str = setting(
        "afterstate",
        "what the net is shown: observe (an output for each action), afterstate, or one of the game's encodings",
    )
    net: str = setting("mlp", named_nets.HELP)
    hidden: tuple[int, ...] = setting((128,), "units of the hidden layers of mlp, and of those that conv ends in")
    activation: nets.Activation = setting("relu", "between the layers")
    output: q_net.Output = setting("linear", "activation of the output")
    rewards: str = setting("points=1", "what each event is worth, like win=1,lose=-1")
    discount: float = setting(1.0, "gamma: what the value of a player's next decision counts")
    steps: int = setting(1, "own decisions from a decision to the value that it learns from (n-step)")
    double: bool = setting(True, "let the net choose the next action that the copy values")
    epsilon: float = setting(0.5, "share of decisions that are random experiments, at the start")
    epsilon_end: float = setting(0.05, "the same at the end of a straight line")
    epsilon_games: int = setting(0, "games until then; 0: all of --games")
    capacity: int = setting(100_000, "decisions that are remembered")
    warm_up: int = setting(2_000, "decisions that are remembered before learning begins")
    batch: int = setting(256, "decisions drawn for one learning step; as many as --capacity: all of them")
    learning_steps: int = setting(4, "learning steps after each window")
    copy_every: int = setting(100, "learning steps between two copies to the target network")
    optimizer: optimizers.Optimizer = setting("adam", "sgd: plain steps against the mean gradient")
    learning_rate: float = setting(1e-3, "at the start")
    learning_rate_end: float = setting(0.0, "the same at the end of a straight line")
    pretrain_from: str = setting("", "player whose recorded games are learned from before; empty: none")
    pretrain_games: int = setting(4, "games that are recorded")
    pretrain_epochs: int = setting(200, "times that all recorded decisions are learned from")
    pretrain_batch: int = setting(50, "decisions of one step")
    pretrain_learning_rate: float = setting(0.1, "of these steps")


# szurkowski2021, sections 2.3 to 2.6. Not said: how often the networks are copied, and by which optimizer they learn;
# its "blockade on a surrounded piece" is read as one in danger. A step of learning after each decision of the learner.
PRESETS: dict[str, dict[str, Any]] = {
    "szurkowski2021": {
        "games": 250,
        "opponents": "random,random,random",
        "lanes": 1,
        "window": 4,
        "inputs": "szurkowski_from_mover",
        "hidden": (21,),
        "activation": "tanh",
        "output": "relu",
        "rewards": "win=1,release=0.25,blockade_in_danger=0.2,knock=0.15,foremost_outside=0.1,blockade=0.05,"
        "globe_on_way=0.12,star_jump=0.17,lost=-0.25,lose=-1",
        "discount": 0.95,
        "steps": 1,
        "double": False,
        "epsilon": 0.95,
        "epsilon_end": 0.05,
        "epsilon_games": 250,
        "capacity": 1200,
        "warm_up": 1200,
        "batch": 1200,
        "learning_steps": 1,
        "copy_every": 100,
        "optimizer": "sgd",
        "learning_rate": 0.005,
        "learning_rate_end": 0.005,
        "pretrain_from": "mixed",
        "pretrain_games": 4,
        "pretrain_epochs": 200,
        "pretrain_batch": 50,
        "pretrain_learning_rate": 0.1,
    }
}


class TrainState(NamedTuple):
    params: Any
    target: Any  # an older copy of them
    momentum: Any  # of the optimizer
    lanes: rollout.Lanes
    pending: experience.Slot  # [P, B] decisions whose successor is still to come
    replay: Replay  # of transitions, with states for memos
    totals: experience.Totals  # of rewards
    key: Array  # raw key data
    games: Array  # [] int32: ended so far
    learned: Array  # [] int32: learning steps
    updates: Array  # [] int32


def check(config: Config, game: Game[Any]) -> None:
    """Refuses settings that make no sense, in one sentence."""
    experience.check_settings(
        config,
        game,
        shares=(
            *("discount", "epsilon", "epsilon_end", "learning_rate", "learning_rate_end"),
            "pretrain_learning_rate",
        ),
        counts=(
            *("games", "lanes", "window", "steps", "capacity", "warm_up", "batch", "learning_steps", "copy_every"),
            *("pretrain_games", "pretrain_epochs", "pretrain_batch"),
        ),
    )
    rewards.parse(config.rewards, game)
    for name in ("warm_up", "batch"):
        if getattr(config, name) > config.capacity:
            raise UserError(f"--{name}={getattr(config, name)} is more than is remembered: raise --capacity")
    if config.batch == config.capacity > config.warm_up:
        raise UserError(
            f"--batch={config.batch} takes all that is remembered, so --warm_up={config.warm_up} must be as many"
        )
    net = value_net(config, game)
    named_nets.check(config.net, net.module, net.seen, net.num_outputs)
    _recorded_players(config, game)


def value_net(config: Config, game: Game[Any]) -> QNet:
    return QNet(game, config.inputs, config.hidden, config.activation, config.output, net=config.net)


def policy(config: Config, game: Game[Any], state: TrainState) -> Policy:
    """The greedy player of what was learned."""
    return Policy(GreedyQ(value_net(config, game)), state.params)


@functools.partial(jax.jit, static_argnames=("config", "game"))
def init(config: Config, game: Game[Any], key: Array) -> TrainState:
    key_net, key_record, key_play = jax.random.split(key, 3)
    net, first = value_net(config, game), game.init()
    params, totals = net.init(key_net), experience.no_totals(config.lanes, game.spec.num_players)
    if config.pretrain_from:
        params, largest = pretrain(config, game, params, key_record)
        totals = totals._replace(largest=largest)
    row = Transition(first, jnp.int32(0), jnp.float32(0), jnp.float32(0), first)
    return TrainState(
        params=params,
        target=params,
        momentum=optimizers.init(config.optimizer, params),
        lanes=rollout.start(game, config.lanes),
        pending=experience.no_pending(game, first, config.lanes),
        replay=replay.empty(row, config.capacity),
        totals=totals,
        key=jax.random.key_data(key_play),
        games=jnp.int32(0),
        learned=jnp.int32(0),
        updates=jnp.int32(0),
    )


@functools.partial(jax.jit, static_argnames=("config", "game"), donate_argnames="state")
def update(
    config: Config, game: Game[Any], opponents: tuple[Policy, ...], state: TrainState
) -> tuple[TrainState, dict[str, Array]]:
    """Plays a window in every lane, remembers it, and learns from what is remembered."""
    key_next, key_window, key_learn = jax.random.split(jax.random.wrap_key_data(state.key), 3)
    net = value_net(config, game)
    epsilon = experience.annealed(config.epsilon, config.epsilon_end, state.games, config.epsilon_games or config.games)

    def decide(position: Any, uniform: Array) -> experience.Decision:
        """ε-greedy."""
        legal = game.legal(position)
        best = jnp.argmax(jnp.where(legal, net(state.params, position), -jnp.inf)).astype(jnp.int32)
        action = jnp.where(uniform[0] < epsilon, rollout.sample_evenly(legal, uniform[1]), best)
        return experience.Decision(action, action, position)

    worth = rewards.parse(config.rewards, game)
    window = experience.live(
        *(game, decide, opponents, worth, state.lanes, state.pending, key_window),
        num_turns=config.window,
        discount=config.discount,
        steps=config.steps,
    )
    rows = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), window.lived)
    remembered = replay.add(state.replay, rows, window.known.ravel())

    state = state._replace(
        lanes=window.lanes,
        pending=window.pending,
        replay=remembered,
        totals=experience.counted(state.totals, window.turns),
        key=jax.random.key_data(key_next),
        games=state.games + window.games,
        updates=state.updates + 1,
    )
    state, errors = jax.lax.cond(
        replay.size(remembered) >= config.warm_up,
        lambda state: _learn(config, net, state, key_learn),
        lambda state: (state, jnp.zeros(config.learning_steps, jnp.float32)),
        state,
    )
    metrics = {
        "loss": 0.5 * errors.mean(),
        "td_error": reward_unit(state.totals.largest) * jnp.sqrt(errors.mean()),
        "epsilon": epsilon,
        "remembered": replay.size(remembered).astype(jnp.float32),
    }
    return state, metrics


def reward_unit(largest: Array) -> Array:
    """[] what rewards are divided by before the net learns them: the largest total of a game, if that is less than 1.

    A fresh net's values differ by some tenths between actions, and rewards far below that would be lost in them.
    Larger ones need no division, as measured on returns of up to 10,000. Decisions do not depend on it.
    """
    return jnp.where(largest > 0, jnp.minimum(largest, 1.0), 1.0)


def _learn(config: Config, net: QNet, state: TrainState, key: Array) -> tuple[TrainState, Array]:
    """Some learning steps; and [learning_steps] the mean squared errors before them."""
    rate = experience.annealed(config.learning_rate, config.learning_rate_end, state.games, config.games)
    experiences, unit = state.replay, reward_unit(state.totals.largest)

    def step(carry: tuple[Any, Any, Any, Array], key_step: Array) -> tuple[tuple[Any, Any, Any, Array], Array]:
        params, target, momentum, learned = carry
        batch = replay.sample(experiences, config.batch, key_step)
        batch = batch._replace(reward=batch.reward / unit)
        value, gradient = jax.value_and_grad(loss, argnums=1)(net, params, target, batch, double=config.double)
        params, momentum = optimizers.step(config.optimizer, params, momentum, gradient, rate=rate)
        learned = learned + 1
        copy = learned % config.copy_every == 0
        target = jax.tree.map(lambda old, new: jnp.where(copy, new, old), target, params)
        return (params, target, momentum, learned), 2 * value

    carry = (state.params, state.target, state.momentum, state.learned)
    carry, errors = jax.lax.scan(step, carry, jax.random.split(key, config.learning_steps))
    params, target, momentum, learned = carry
    return state._replace(params=params, target=target, momentum=momentum, learned=learned), errors


def loss(net: QNet, params: Any, target: Any, batch: Transition, *, double: bool) -> Array:
    """Mean of ½ (y − Q(s, a))² over a batch [N] of transitions; see `targets` for y."""
    wanted = jax.lax.stop_gradient(targets(net, params, target, batch, double=double))
    return 0.5 * jnp.mean((wanted - chosen_values(net, params, batch)) ** 2)


def targets(net: QNet, params: Any, target: Any, batch: Transition, *, double: bool) -> Array:
    """[N] y = r + γ max_{a'} Q⁻(s', a'), or with the a' that Q likes best if double."""
    shown = _shown(net, batch.after)
    legal = jax.vmap(net.game.legal)(batch.after)
    values = _values(net, target, shown)
    judged = _values(net, params, shown) if double else values
    best = jnp.argmax(jnp.where(legal, judged, -jnp.inf), axis=1)
    ahead = jnp.where(jnp.arange(values.shape[1])[None] == best[:, None], values, 0.0).sum(1)
    return batch.reward + batch.discount * jnp.where(batch.discount > 0, ahead, 0.0)


def chosen_values(net: QNet, params: Any, batch: Transition) -> Array:
    """[N] Q(s, a) of what was done; of an action shown by itself, no other is computed."""
    shown = _shown(net, batch.memo)
    if net.by_action:
        mine = jax.vmap(lambda rows, action: jax.tree.map(lambda leaf: leaf[action][None], rows))(shown, batch.choice)
        return _values(net, params, mine)[:, 0]
    values = _values(net, params, shown)
    return jnp.where(jnp.arange(values.shape[1])[None] == batch.choice[:, None], values, 0.0).sum(1)


def _shown(net: QNet, states: Any) -> Array | nets.Sparse:
    """[N, ...] inputs, made once: a compiler would make them anew in each use."""
    return jax.lax.optimization_barrier(jax.vmap(net.encode)(states))


def _values(net: QNet, params: Any, shown: Array | nets.Sparse) -> Array:
    return jax.vmap(net.values, (None, 0))(params, shown)


# --- pretraining ------------------------------------------------------------------------------------------------------


class Record(NamedTuple):
    """Decisions of a player in recorded games, and what they brought in the end."""

    state: Any  # [N] states
    action: Array  # [N] int32
    outcome: Array  # [N] float32: discounted sum of the player's rewards until the end of the game
    valid: Array  # [N] bool


def record(config: Config, game: Game[Any], key: Array) -> Record:
    """Games of the named player in the seats that learn, of the opponents in theirs, each game to its end."""
    player, *opponents = _recorded_players(config, game)
    num_lanes = config.pretrain_games
    worth = rewards.parse(config.rewards, game)

    def decide(position: Any, uniform: Array) -> experience.Decision:
        action = rollout.choose(game, player.apply(player.params, position), position, uniform[1])
        return experience.Decision(action, action, position)

    def turn(carry: tuple[Any, ...]) -> tuple[Any, ...]:
        index, lanes, over, slots, key = carry
        key, key_turn = jax.random.split(key)
        lanes, slot = experience.play(game, decide, opponents, worth, lanes, key_turn, num_turns=1)
        slot = slot._replace(player=jnp.where(over[None], experience.NOBODY, slot.player))
        slots = jax.tree.map(lambda all_, one: jax.lax.dynamic_update_index_in_dim(all_, one[0], index, 0), slots, slot)
        return index + 1, lanes, over | slot.ended[0], slots, key

    blank = jax.tree.map(lambda leaf: leaf[0], experience.no_pending(game, game.init(), num_lanes))
    blank = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (game.spec.max_steps, *leaf.shape)), blank)
    first = (jnp.int32(0), rollout.start(game, num_lanes), jnp.zeros(num_lanes, bool), blank, key)
    *_, slots, _ = jax.lax.while_loop(lambda carry: ~carry[2].all(), turn, first)
    link = experience.links(slots, discount=config.discount)
    outcome = experience.outcomes(link)
    flat = jax.tree.map(
        lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), Record(slots.memo, slots.choice, outcome, link.known)
    )
    order = jnp.argsort(~flat.valid, stable=True)
    return jax.tree.map(lambda leaf: leaf[order], flat)


def pretrain(config: Config, game: Game[Any], params: Any, key: Array) -> tuple[Any, Array]:
    """The net after it has learned from recorded games, and [] the most that a decision in them brought or cost."""
    key_record, key_fit = jax.random.split(key)
    games = record(config, game, key_record)
    largest = jnp.where(games.valid, jnp.abs(games.outcome), 0.0).max()
    games = games._replace(outcome=games.outcome / reward_unit(largest))
    return fit(config, value_net(config, game), params, games, key_fit), largest


def fit(config: Config, net: QNet, params: Any, games: Record, key: Array) -> Any:
    """The net after epochs of plain gradient steps towards what recorded decisions brought."""
    number = games.valid.sum(dtype=jnp.int32)

    def error(params: Any, drawn: Record) -> Array:
        nothing = jnp.zeros_like(drawn.outcome)
        rows = Transition(drawn.state, drawn.action, nothing, nothing, drawn.state)
        return 0.5 * jnp.mean((drawn.outcome - chosen_values(net, params, rows)) ** 2)

    def step(index: Array, params: Any) -> Any:
        drawn = jax.random.randint(jax.random.fold_in(key, index), (config.pretrain_batch,), 0, number)
        gradient = jax.grad(error)(params, jax.tree.map(lambda leaf: leaf[drawn], games))
        return jax.tree.map(lambda p, g: p - config.pretrain_learning_rate * g, params, gradient)

    # An epoch is as many steps as it takes to see each decision once on average; drawn, as sorting would cost more.
    steps = config.pretrain_epochs * -(-number // config.pretrain_batch)
    return jax.lax.fori_loop(0, steps, step, params)


def _recorded_players(config: Config, game: Game[Any]) -> list[Policy]:
    """The player to record, then the opponents that it meets; none if nothing is to be recorded."""
    if not config.pretrain_from:
        return []
    lineup = [players.make(config.pretrain_from, game), *players.make_lineup(config.opponents, game)]
    policies = []
    for player in lineup:
        if player.policy is None:
            raise UserError(f"games of {player.name!r} cannot be recorded, as it plays on the host; use another player")
        policies.append(player.policy)
    return policies
