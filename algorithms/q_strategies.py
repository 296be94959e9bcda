"""Q-learning over strategies: a net learns which of a game's scripted players to follow in which position.

    Q(s, k) ← Q(s, k) + α (r + γ max_j Q(s', j) − Q(s, k))

with s' the same player's next decision and r all that it got until then (alhajry2012, section V).
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from algorithms.learning import experience, optimizers, rewards, schedules, transitions
from algorithms.learning.q_net import QNet, known_inputs
from algorithms.learning.transitions import Slot, Transition
from algorithms.settings import checks
from algorithms.settings.q_strategies import Config
from boardrl import optional, options, registry
from boardrl.errors import UserError
from boardrl.game import Game
from boardrl.play import players, rollout, sampling
from boardrl.play.policy import Policy
from boardrl.values import nets

RENAMED_LEAVES = {"optimizer_state": "momentum"}
BELOW_1 = 1 - 2**-24  # the largest float32 below 1


class Memo(NamedTuple):
    """What a transition stores of a decision, in place of the state."""

    inputs: Array | nets.Sparse  # [I]
    value: Array  # [] of the best strategy, by the net that decided


class TrainState(NamedTuple):
    params: Any
    optimizer_state: Any
    lanes: rollout.Lanes
    pending: Slot  # [P, B] decisions whose successor is still to come
    key: Array  # raw key data
    games: Array  # [] int32: ended so far
    updates: Array  # [] int32


@dataclasses.dataclass(frozen=True)
class Follower:
    """Follows the strategy that the net values most here."""

    net: QNet
    strategies: tuple[Policy, ...]  # scripted, so without parameters
    always: tuple[bool, ...]  # whether each can be chosen where it has no preference among the legal actions

    def __call__(self, params: Any, state: Any) -> Array:
        """[A] logits."""
        scripts = self.scripts(state)
        values = jnp.where(self.applicable(scripts, state), self.net(params, state), -jnp.inf)
        return self.pick(scripts, jnp.argmax(values))

    def scripts(self, state: Any) -> Array:
        """[S, A] logits of every strategy."""
        return jnp.stack([strategy.apply(strategy.params, state) for strategy in self.strategies])

    def applicable(self, scripts: Array, state: Any) -> Array:
        """[S] bool: the strategies that may be chosen, at least one; a game state and a die leave most out."""
        legal = self.net.game.legal(state)[None]
        most = jnp.where(legal, scripts, -jnp.inf).max(1)
        least = jnp.where(legal, scripts, jnp.inf).min(1)
        fit = (most > least) | jnp.array(self.always)
        return fit | ~fit.any()

    def pick(self, scripts: Array, choice: Array) -> Array:
        """[A] logits of the chosen strategy."""
        mask = jnp.arange(len(self.strategies), dtype=choice.dtype) == choice
        return jnp.where(mask[:, None], scripts, -jnp.inf).max(0)


def check(config: Config, game: Game[Any]) -> None:
    """Refuses settings that make no sense, in one sentence."""
    fractions = ("discount", "epsilon", "epsilon_end", "learning_rate", "learning_rate_end")
    checks.check(config, game, fractions=fractions, counts=("games", "lanes", "window", "steps"))
    rewards.parse(config.rewards, game)
    if follower(config, game).net.by_action:
        plain = [name for name in known_inputs(game) if not QNet(game, name).by_action]
        raise UserError(
            f"--inputs={config.inputs} describes actions, but strategies are chosen; expected one of {', '.join(plain)}"
        )


def follower(config: Config, game: Game[Any]) -> Follower:
    own = optional.strategies(game)
    if not own:
        raise UserError(
            f"{registry.describe(game)} offers no strategies, so there is nothing to choose from; "
            "use another algorithm, such as td_lambda or dqn"
        )
    scripts, always = [], []
    for text in options.split(config.strategies) or own:
        if options.split_call(text)[0] not in ("random", *own):
            raise UserError(f"unknown strategy {text!r} of {game.spec.name}; expected some of random, {', '.join(own)}")
        script = players.make(text, game).policy
        assert script is not None
        scripts.append(script)
        always.append(not config.applicable or text == "random")
    net = QNet(game, config.inputs, config.hidden, config.activation, num_choices=len(scripts))
    return Follower(net, tuple(scripts), tuple(always))


@functools.partial(jax.jit, static_argnames=("config", "game"))
def init(config: Config, game: Game[Any], key: Array) -> TrainState:
    key_net, key_play = jax.random.split(key)
    net = follower(config, game).net
    params = net.init(key_net)
    return TrainState(
        params=params,
        optimizer_state=optimizers.init(config.optimizer, params),
        lanes=rollout.start(game, config.lanes),
        pending=transitions.no_pending(game, Memo(net.encode(game.init()), jnp.float32(0)), config.lanes),
        key=jax.random.key_data(key_play),
        games=jnp.int32(0),
        updates=jnp.int32(0),
    )


def loss(net: QNet, params: Any, batch: Transition, known: Array) -> tuple[Array, Array]:
    """½ (r + γ max_j Q(s', j) − Q(s, k))², its mean over the known transitions, and the root of the mean squared error.

    What comes next was valued as it was played, by the very net that learns now.
    """
    flat = jax.tree.map(lambda leaf: leaf.reshape(known.size, *leaf.shape[2:]), batch)
    values = jax.vmap(net.values, (None, 0))(params, flat.memo.inputs)  # [N, S]
    chosen = jnp.arange(values.shape[1], dtype=jnp.int32)[None] == flat.choice[:, None]
    error = flat.reward + flat.discount * flat.after.value - jnp.where(chosen, values, 0.0).sum(1)
    mean = jnp.where(known.ravel(), error**2, 0.0).sum() / jnp.maximum(known.sum(), 1).astype(jnp.float32)
    return 0.5 * mean, jnp.sqrt(mean)


@functools.partial(jax.jit, static_argnames=("config", "game"), donate_argnames="state")
def update(
    config: Config, game: Game[Any], opponents: tuple[Policy, ...], state: TrainState
) -> tuple[TrainState, dict[str, Array]]:
    """Plays a window in every lane, then takes one gradient step."""
    key_next, key_window = jax.random.split(jax.random.wrap_key_data(state.key))
    player = follower(config, game)
    epsilon = schedules.annealed(config.epsilon, config.epsilon_end, state.games, config.epsilon_games or config.games)

    def decide(position: Any, uniform: Array) -> experience.Decision:
        """ε-greedy; one number decides whether to experiment and, if so, also with what."""
        inputs, scripts = player.net.encode(position), player.scripts(position)
        fit = player.applicable(scripts, position)
        values = jnp.where(fit, player.net.values(state.params, inputs), -jnp.inf)
        drawn = sampling.sample_evenly(fit, jnp.minimum(uniform[0] / jnp.maximum(epsilon, 1e-9), BELOW_1))
        choice = jnp.where(uniform[0] < epsilon, drawn, jnp.argmax(values).astype(jnp.int32))
        action = rollout.choose(game, player.pick(scripts, choice), position, uniform[1])
        return experience.Decision(choice, action, Memo(inputs, values.max()))

    played = experience.gather(
        *(game, decide, opponents, rewards.parse(config.rewards, game), state.lanes, state.pending, key_window),
        num_turns=config.window,
        discount=config.discount,
        steps=config.steps,
    )
    (loss_now, error), gradient = jax.value_and_grad(loss, argnums=1, has_aux=True)(
        player.net, state.params, played.transitions, played.known
    )
    rate = schedules.annealed(config.learning_rate, config.learning_rate_end, state.games, config.games)
    params, optimizer_state = optimizers.step(
        config.optimizer, state.params, state.optimizer_state, gradient, rate=rate
    )
    state = TrainState(
        params=params,
        optimizer_state=optimizer_state,
        lanes=played.lanes,
        pending=played.pending,
        key=jax.random.key_data(key_next),
        games=state.games + played.games,
        updates=state.updates + 1,
    )
    return state, {"loss": loss_now, "td_error": error, "epsilon": epsilon}


def policy(config: Config, game: Game[Any], state: TrainState) -> Policy:
    """The greedy player of what was learned."""
    return Policy(follower(config, game), state.params)
