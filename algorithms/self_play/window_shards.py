"""Windows of TD learning in a shard of the lanes: played in JAX or by compiled code, and what is learned from them.

`config` has the settings of `algorithms.td_lambda`, and `state` the fields of its TrainState.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from algorithms.learning import afterstates, seats
from algorithms.learning.returns import Targets, Trail, Window
from algorithms.self_play import shards, sparse_layer, way, windows
from algorithms.self_play.shards import Work
from algorithms.self_play.windows import Windows
from boardrl.errors import UserError
from boardrl.game import Game
from boardrl.play import rollout
from boardrl.play.policy import Policy
from boardrl.system import machine
from boardrl.values import nets, return_scale


class Carried(NamedTuple):
    """What lanes carry from one window of play into the next."""

    lanes: rollout.Lanes
    pending: afterstates.Pending
    traces: Any


COUNTS = ("decisions", "rolls")  # metrics that are added up over windows
METRICS = ("loss", "td_error", *COUNTS)


class Sums(NamedTuple):
    """What is added up over all shards."""

    gradient: Any
    loss: Array  # []
    squared_error: Array  # [] of the returns
    known: Array  # [] float32: number of afterstates with a target
    games: Array  # [] int32: that ended
    decisions: Array  # [] int32
    rolls: Array  # [] int32

    def mean_gradient(self) -> Any:
        """Over the afterstates with a target."""
        num_known = jnp.maximum(self.known, 1.0)
        return jax.tree.map(lambda g: g / num_known, self.gradient)

    def metrics(self) -> dict[str, Array]:
        num_known = jnp.maximum(self.known, 1.0)
        return {
            "loss": self.loss / num_known,
            "td_error": jnp.sqrt(self.squared_error / num_known),
            "decisions": self.decisions.astype(jnp.float32),
            "rolls": self.rolls.astype(jnp.float32),
        }


class ShardResult(NamedTuple):
    """What one shard of the lanes has played, and the gradient that follows."""

    carried: Carried
    seen: return_scale.Range  # with the returns of the games that ended
    sums: Sums


class Learned(NamedTuple):
    """What follows from a window."""

    sums: Sums
    targets: Targets  # [T + 1, B]
    traces: Any
    slope: Any  # gradient of the inputs, where they are the first layer's outputs; else ()


class Learner(NamedTuple):
    """What an algorithm does with a window."""

    net: nets.ValueNet
    # (config, net, params, window, traces, the first slot to learn from)
    learn_from: Callable[[Any, nets.ValueNet, nets.ScaledParams, Window, Any, Array], Learned]


def work(part: Any, init: Any) -> Work:
    """An algorithm's work in a shard; workers take no steps of the optimizer."""
    return Work(part, init, result_like, Carried._fields, ("optimizer_state",))


def result_like(state: Any) -> ShardResult:
    """A ShardResult's structure."""
    carried = Carried(state.lanes, state.pending, state.traces)
    return ShardResult(carried, state.seen, Sums(state.params, *[state.games] * (len(Sums._fields) - 1)))


def sums(trail: Trail, gradient: Any, loss: Array, squared_error: Array, known: Array) -> Sums:
    """The sums of one shard, but for the rolls, which its trail does not show."""
    games, decisions = trail.ended.sum(dtype=jnp.int32), trail.decided[1:].sum(dtype=jnp.int32)
    return Sums(gradient, loss, squared_error, known, games, decisions, rolls=jnp.int32(0))


def carry_on(config: Any, state: Any, results: Sequence[ShardResult]) -> Any:
    """The TrainState after the window, but for what the optimizer changes: with the lanes of these results."""
    carried = shards.joined([result.carried for result in results])
    return state._replace(
        seen=return_scale.joined(*(result.seen for result in results)),
        **carried._asdict(),
        key=jax.random.key_data(shards.keys(state, config.shards)[0]),
        games=state.games + functools.reduce(jnp.add, [result.sums.games for result in results]),
        updates=state.updates + 1,
    )


def scaled_params(game: Game[Any], state: Any) -> nets.ScaledParams:
    """The net's parameters, and the range of returns that its outputs are shares of."""
    return nets.ScaledParams(state.params, return_scale.scale_of(game.spec, state.seen))


# --- in JAX -----------------------------------------------------------------------------------------------------------


def learn_in_jax(learner: Learner, config: Any, opponents: tuple[Policy, ...], state: Any, shard: Any) -> ShardResult:
    """Plays a window in the lanes of one shard, and sums the gradient over it."""
    net, keys, game = learner.net, shards.keys(state, config.shards), learner.net.game
    params = scaled_params(game, state)
    lineup = seats.seating(config.lanes, game.spec.num_players, len(opponents), rotate=config.rotate_opponents)
    choose = functools.partial(afterstates.choose, net, params, utility=config.utility, epsilon=config.epsilon)
    played = afterstates.play_window(
        *(net, params, choose, opponents, state.lanes, state.pending),
        shards.shard_of(lineup, shard, config.shards),
        keys[1 + shard],
        num_turns=config.window,
        opening=config.opening,
    )
    place = jax.random.randint(keys[-1], (), 0, config.thin)
    learned = learner.learn_from(config, net, params, played.window, state.traces, place)
    trail = played.window.trail
    return ShardResult(
        carried=Carried(played.lanes, afterstates.still_open(played.window, learned.targets), learned.traces),
        seen=return_scale.widened(state.seen, trail.returns, trail.ended),
        sums=learned.sums._replace(rolls=played.rolls),
    )


# --- by compiled code -------------------------------------------------------------------------------------------------


def find_windows(
    net: nets.ValueNet, config: Any, opponents: tuple[Policy, ...], params: nets.ScaledParams
) -> Windows | str:
    """Compiled play, or why lanes are played in JAX."""

    def make() -> Windows:
        return windows.make(net, config.utility, params, opponents, whole_turns=config.whole_turns)

    found = way.find(config.play, params, opponents, (config, net), make)
    if config.whole_turns and isinstance(found, str):
        raise UserError(f"--whole_turns needs compiled play, but {found}; choose --play=compiled or leave it out")
    return found


def learn_compiled(learner: Learner, config: Any, opponents: tuple[Policy, ...], state: Any, shard: int) -> ShardResult:
    """Learns in a shard from the window that compiled code plays."""
    game = learner.net.game
    scaled = nets.ScaledParams(state.params, _scale_of(game.spec, state.seen))
    compiled = find_windows(learner.net, config, opponents, scaled)
    if isinstance(compiled, str):
        raise UserError(f"this machine cannot play by compiled code as others do: {compiled}; give --play=jax")
    flat = compiled.lineup.params((scaled, *(opponent.params for opponent in opponents)))
    plan = windows.plan_of(
        windows.seed_of(state.key),
        num_turns=config.window,
        epsilon=config.epsilon,
        opening=config.opening,
        thin=config.thin,
        every_slot=config.view == "backward",
    )
    size = config.lanes // config.shards
    numbers = np.arange(shard * size, (shard + 1) * size)
    part = windows.Part(numbers, *jax.tree.map(np.asarray, (state.lanes, state.pending)))
    seated = (config.lanes, game.spec.num_players, len(compiled.lineup.layouts) - 1, config.rotate_opponents)
    threads = max(machine.num_cores() // config.shards, 1)
    played = compiled.play(part, windows.seating(*seated)[numbers], flat, plan, threads=threads)
    inputs, sparse = played.window.inputs, isinstance(played.window.inputs, nets.Sparse) and config.view == "forward"
    window, params = played.window, state.params
    if sparse:
        window, params = window._replace(inputs=sparse_layer.outputs(params, inputs)), sparse_layer.others(params)
    known = (params, state.seen, state.traces)
    found, seen, traces, slope = _learn_from(learner, config, *known, window, played.rolls, plan.place)
    if sparse:
        found = found._replace(gradient=sparse_layer.with_gradient(state.params, found.gradient, inputs, slope))
    return ShardResult(Carried(played.lanes, played.pending, traces), seen, found)


_scale_of = jax.jit(return_scale.scale_of, static_argnames="spec")


@functools.partial(jax.jit, static_argnames=("learner", "config"))
def _learn_from(
    learner: Learner,
    config: Any,
    params: Any,
    seen: return_scale.Range,
    traces: Any,
    window: Window,
    rolls: Array,
    place: Array,
) -> tuple[Sums, return_scale.Range, Any, Any]:
    """Of a window of one shard: sums, the range of returns with it, traces, and the gradient of inputs."""
    scaled = nets.ScaledParams(params, return_scale.scale_of(learner.net.game.spec, seen))
    learned = learner.learn_from(config, learner.net, scaled, window, traces, place)
    seen = return_scale.widened(seen, window.trail.returns, window.trail.ended)
    return learned.sums._replace(rolls=jnp.int32(rolls)), seen, learned.traces, learned.slope


# --- local steps ------------------------------------------------------------------------------------------------------
#
# Local SGD (McMahan et al. 2017, FederatedAveraging; Stich 2019): each shard takes K steps of the optimizer by itself,
# then all go on from their mean,
#
#     θ ← 1/S Σ_s θ_s, with θ_s the parameters of shard s after K windows of its own, a step after each
#
# and so for the optimizer's moments. Parameters travel once in K windows, and every step is along a gradient at the
# parameters that it changes: with gradients at those of K windows ago, training Ludo failed from K = 16 on.


class Trained(NamedTuple):
    """What a shard ends with."""

    state: Any  # TrainState with the lanes of the shard
    metrics: dict[str, Array]  # of all its windows


def local_work(part: Any, init: Any) -> Work:
    """The work of a `part` that calls `take_local_steps`."""
    return Work(part, init, trained_like, Carried._fields, ())


def trained_like(state: Any) -> Trained:
    """The structure of a Trained."""
    return Trained(state, dict.fromkeys(METRICS, state.games))


def take_local_steps(
    part: Any, apply: Any, config: Any, game: Game[Any], opponents: tuple[Policy, ...], state: Any, shard: int
) -> Trained:
    """K windows in a shard, with a step of the optimizer after each.

    Args:
      part: (config, game, opponents, state, shard) -> what follows from a window.
      apply: (config, state, results) -> (state after a step, metrics); may reuse the memory of its state.
    """
    state, rows = _copied(state), []
    for _ in range(config.local_steps):
        state, metrics = apply(config, state, (part(config, game, opponents, state, shard),))
        rows.append(metrics)
    return Trained(state, joined_metrics(rows))


_copied = jax.jit(functools.partial(jax.tree.map, jnp.copy))


def update_by_local_steps(
    work: Work, config: Any, game: Game[Any], opponents: tuple[Policy, ...], state: Any
) -> tuple[Any, dict[str, Array]]:
    """K windows in every shard, by the workers in use, then the mean of all shards."""
    return averaged(state, shards.spread(work, config, game, opponents, state))


@jax.jit
def averaged(state: Any, trained: Sequence[Trained]) -> tuple[Any, dict[str, Array]]:
    """The TrainState of the next update, and the metrics of all windows.

    Args:
      state: before the windows.
    """
    after = [each.state for each in trained]

    def mean(*leaves: Array) -> Array:
        if not jnp.issubdtype(leaves[0].dtype, jnp.floating):
            return leaves[0]  # a count of steps, the same in all shards
        return functools.reduce(jnp.add, leaves) / len(leaves)

    params, optimizer_state = jax.tree.map(mean, *((each.params, each.optimizer_state) for each in after))
    carried = shards.joined([Carried(each.lanes, each.pending, each.traces) for each in after])
    state = state._replace(
        **carried._asdict(),
        params=params,
        optimizer_state=optimizer_state,
        seen=return_scale.joined(*(each.seen for each in after)),
        key=after[0].key,  # the same in all shards
        games=state.games + functools.reduce(jnp.add, [each.games - state.games for each in after]),
        updates=state.updates + 1,
    )
    return state, joined_metrics([each.metrics for each in trained])


@jax.jit
def joined_metrics(rows: Sequence[dict[str, Array]]) -> dict[str, Array]:
    """Of several windows: counts are added up, errors are averaged."""
    total = {name: functools.reduce(jnp.add, [row[name] for row in rows]) for name in rows[0]}
    return {name: whole if name in COUNTS else whole / len(rows) for name, whole in total.items()}
