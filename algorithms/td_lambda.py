"""TD(λ): a value net learned from self-play on afterstates, for any number of players, with or without chance.

After a decision and before the dice, the net says what each player will get; play takes the afterstate with the highest
utility for the actor. The net moves towards λ-returns (forward view) or along eligibility traces (backward view).
Sources: Tesauro 1995 (TD-Gammon); Sutton and Barto 2018, chapter 12.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Hashable
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
import optax
from jax import Array

from algorithms.learning import afterstates, optimizers, schedules
from algorithms.learning.returns import Targets, Window, lambda_returns
from algorithms.learning.traces import backward_gradient, no_traces
from algorithms.self_play import shards, way, window_shards
from algorithms.self_play.window_shards import Learned, Learner, ShardResult, Trained
from algorithms.settings.td_lambda import Config, value_net
from algorithms.settings.td_lambda import check as check
from boardrl.game import Game
from boardrl.play import rollout
from boardrl.play.players import HostPlayer
from boardrl.play.policy import Greedy, Policy
from boardrl.play.whole_turns import WholeTurns
from boardrl.values import nets, return_scale

ON_HOST = True  # `update` calls compiled functions, some of them at the same time
RENAMED_LEAVES = {"optimizer_state": "momentum"}


class TrainState(NamedTuple):
    params: Any
    optimizer_state: Any
    lanes: rollout.Lanes
    pending: afterstates.Pending
    traces: Any  # params with leading axes [B, P] in the backward view, else ()
    seen: return_scale.Range  # of the returns of all games so far
    key: Array  # raw key data
    games: Array  # [] int32: ended so far
    updates: Array  # [] int32


@functools.partial(jax.jit, static_argnames=("config", "game"))
def init(config: Config, game: Game[Any], key: Array) -> TrainState:
    key_net, key_play = jax.random.split(key)
    net = value_net(config, game)
    params = net.init(key_net)
    return TrainState(
        params=params,
        optimizer_state=optimizers.init(config.optimizer, params, momentum=config.momentum),
        lanes=rollout.fresh(game, config.lanes),
        pending=afterstates.no_pending(net, config.lanes),
        traces=no_traces(params, config.lanes, game.spec.num_players) if config.view == "backward" else (),
        seen=return_scale.nothing_seen(game.spec),
        key=jax.random.key_data(key_play),
        games=jnp.int32(0),
        updates=jnp.int32(0),
    )


def loss(config: Config, net: nets.ValueNet, params: Any, window: Window, targets: Targets) -> tuple[Array, Any]:
    """Cross-entropy −Σ_i s_i log p_i (one a player without a fixed sum) or ½ Σ_i (s_i − p_i)², summed over the window.

    s are the λ-returns as shares of the range of returns, p the net's. Also (loss, squared error of the returns, number
    of afterstates with a target), all summed.
    """
    spec = net.game.spec
    # In JAX a product is the faster way to a gradient, so that here sparse inputs are written out.
    inputs = window.inputs
    if isinstance(inputs, nets.Sparse):
        inputs = jax.vmap(jax.vmap(net.dense))(inputs)
    logits = jax.vmap(jax.vmap(net.logits, (None, 0, 0)), (None, 0, 0))(params, inputs, window.viewer)
    shares, wanted = net.shares(logits), nets.from_returns(spec, targets.target)
    if config.loss == "squared":
        losses = 0.5 * (wanted - shares) ** 2
    elif net.separate or spec.return_sum is None:
        losses = optax.sigmoid_binary_cross_entropy(logits, wanted)
    else:
        losses = -wanted * jax.nn.log_softmax(logits)
    known = targets.known[..., None]
    total = jnp.where(known, losses, 0.0).sum()
    error = jnp.where(known, targets.target - nets.to_returns(spec, shares), 0.0)
    return total, (total, (error**2).mean(-1).sum(), known.sum(dtype=jnp.float32))


def learn_from(
    config: Config, net: nets.ValueNet, params: nets.ScaledParams, window: Window, traces: Any, place: Array
) -> Learned:
    """Sums the gradient over a window, in one of every `thin` slots from `place` on.

    The window has the inputs of all slots, or only of those.
    """
    # From here on all returns are those of the declared range, of which the net's outputs are shares.
    window = window._replace(trail=window.trail.in_net_units(params.scale))
    targets = jax.vmap(functools.partial(lambda_returns, decay=config.decay), 1, 1)(window.trail)
    some, wanted = afterstates.thinned(window, targets, place, thin=config.thin)

    def total_loss(weights: Any, inputs: Any) -> tuple[Array, Any]:
        return loss(config, net, weights, some._replace(inputs=inputs), wanted)

    given = isinstance(some.inputs, nets.FirstOutputs)
    (gradient, *slope), (total, squared, known) = jax.grad(total_loss, (0, 1) if given else (0,), has_aux=True)(
        params.net, some.inputs
    )
    if config.view == "backward":
        gradient, traces = backward_gradient(
            net, params.net, window, targets.known, traces, loss=config.loss, decay=config.decay
        )
    sums = window_shards.sums(window.trail, gradient, total, params.scale.factor**2 * squared, known)
    return Learned(sums, targets, traces, slope[0] if given else ())


def learner(config: Config, game: Game[Any]) -> Learner:
    return _learner(config, cast(Hashable, game))


@functools.cache  # as every update asks, and the module of a net takes a while to make
def _learner(config: Config, game: Any) -> Learner:
    return Learner(value_net(config, game), learn_from)


@functools.partial(jax.jit, static_argnames=("config", "game"))
def learn(config: Config, game: Game[Any], opponents: tuple[Policy, ...], state: TrainState, shard: Any) -> ShardResult:
    """Plays a window in one shard of the lanes, and sums the gradient over it."""
    return window_shards.learn_in_jax(learner(config, game), config, opponents, state, shard)


def learn_compiled(
    config: Config, game: Game[Any], opponents: tuple[Policy, ...], state: TrainState, shard: int
) -> ShardResult:
    """The same where compiled code plays."""
    return window_shards.learn_compiled(learner(config, game), config, opponents, state, shard)


def train(config: Config, game: Game[Any], opponents: tuple[Policy, ...], state: TrainState, shard: int) -> Trained:
    """Plays several windows in one shard of the lanes, with a step of the optimizer after each."""
    part = learn if config.play == "jax" else learn_compiled
    return window_shards.take_local_steps(part, apply, config, game, opponents, state, shard)


def update(
    config: Config, game: Game[Any], opponents: tuple[Policy, ...], state: TrainState
) -> tuple[TrainState, dict[str, Array]]:
    """Plays a window in every lane, then takes one step of the optimizer; or several of both in each shard."""
    found = window_shards.find_windows(learner(config, game).net, config, opponents, scaled_params(game, state))
    in_jax = isinstance(found, str)
    if config.local_steps > 1:
        config = dataclasses.replace(config, play="jax" if in_jax else "compiled")  # the same on all machines
        work = window_shards.local_work(train, init)
        return window_shards.update_by_local_steps(work, config, game, opponents, state)
    work = window_shards.work(learn if in_jax else learn_compiled, init)
    return shards.update(work, apply, config, game, opponents, state, traced=in_jax)


@functools.partial(jax.jit, static_argnames="config", donate_argnames="state")
def apply(config: Config, state: TrainState, results: tuple[ShardResult, ...]) -> tuple[TrainState, dict[str, Array]]:
    """One step of the optimizer along the gradient of these shards."""
    sums = shards.summed([result.sums for result in results])
    gradient = sums.mean_gradient() if config.optimizer == "adam" else sums.gradient
    rate = schedules.remaining(state.games, config.games) if config.anneal_learning_rate else jnp.float32(1)
    params, optimizer_state = optimizers.step(
        *(config.optimizer, state.params, state.optimizer_state, gradient),
        rate=config.learning_rate * rate,
        momentum=config.momentum,
    )
    state = window_shards.carry_on(config, state, results)._replace(params=params, optimizer_state=optimizer_state)
    return state, sums.metrics()


def remark(config: Config, game: Game[Any], opponents: tuple[Policy, ...]) -> str:
    """What the user should know before training: why games are played in JAX, if they are."""
    params = jax.eval_shape(lambda: scaled_params(game, init(config, game, jax.random.key(0))))
    return way.remark(config.play, window_shards.find_windows(value_net(config, game), config, opponents, params))


def policy(config: Config, game: Game[Any], state: TrainState) -> Policy:
    """The greedy player of what was learned."""
    value = nets.Scaled(value_net(config, game))
    return Policy(Greedy(game, value, config.utility), scaled_params(game, state))


def player(config: Config, game: Game[Any], state: TrainState) -> HostPlayer | None:
    """The player of what was learned where it chooses whole turns; None where the policy plays."""
    if not config.whole_turns:
        return None
    return WholeTurns(game, nets.Scaled(value_net(config, game)), scaled_params(game, state), config.utility)


@functools.partial(jax.jit, static_argnames="game")
def scaled_params(game: Game[Any], state: TrainState) -> nets.ScaledParams:
    """The net's parameters, and the range of returns that its outputs are shares of."""
    return window_shards.scaled_params(game, state)
