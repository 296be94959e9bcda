"""A window of TD learning in a shard of the lanes: played in JAX or by compiled code, and the gradient that follows.

`config` has the settings of `algorithms.td_lambda`, and `state` the fields of its TrainState.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
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


def carry_on(state: Any, results: Sequence[ShardResult]) -> Any:
    """The TrainState of the next update, but for what the optimizer changes."""
    carried = shards.joined([result.carried for result in results])
    return state._replace(
        seen=return_scale.joined(*(result.seen for result in results)),
        **carried._asdict(),
        key=jax.random.key_data(shards.keys(state, len(results))[0]),
        games=state.games + functools.reduce(jnp.add, [result.sums.games for result in results]),
        updates=state.updates + 1,
    )


def scaled_params(game: Game[Any], state: Any) -> nets.ScaledParams:
    """The net's parameters, and the range of returns that its outputs are shares of."""
    return nets.ScaledParams(state.params, return_scale.scale_of(game.spec, state.seen))


# --- in JAX -----------------------------------------------------------------------------------------------------------


def learn_in_jax(learner: Learner, config: Any, opponents: tuple[Policy, ...], state: Any, shard: Any) -> ShardResult:
    """Plays a window in one shard of the lanes, and sums the gradient over it."""
    net, keys, game = learner.net, shards.keys(state, config.shards), learner.net.game
    params = scaled_params(game, state)
    lineup = seats.seating(config.lanes, game.spec.num_players, len(opponents), rotate=config.rotate_opponents)
    lanes, pending, traces = shards.shard_of((state.lanes, state.pending, state.traces), shard, config.shards)
    choose = functools.partial(afterstates.choose, net, params, utility=config.utility, epsilon=config.epsilon)
    played = afterstates.play_window(
        *(net, params, choose, opponents, lanes, pending),
        shards.shard_of(lineup, shard, config.shards),
        keys[1 + shard],
        num_turns=config.window,
        opening=config.opening,
    )
    place = jax.random.randint(keys[-1], (), 0, config.thin)
    learned = learner.learn_from(config, net, params, played.window, traces, place)
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
    part = windows.part_of(state.lanes, state.pending, shard * size, (shard + 1) * size)
    seated = (config.lanes, game.spec.num_players, len(compiled.lineup.layouts) - 1, config.rotate_opponents)
    threads = max(machine.num_cores() // config.shards, 1)
    played = compiled.play(part, windows.seating(*seated)[part.numbers], flat, plan, threads=threads)
    inputs, sparse = played.window.inputs, isinstance(played.window.inputs, nets.Sparse) and config.view == "forward"
    window, params = played.window, state.params
    if sparse:
        window, params = window._replace(inputs=sparse_layer.outputs(params, inputs)), sparse_layer.others(params)
    known = (params, state.seen, state.traces)
    found, seen, traces, slope = _learn_from(learner, config, *known, window, played.rolls, plan.place, shard)
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
    shard: Array,
) -> tuple[Sums, return_scale.Range, Any, Any]:
    """Of a window of one shard: sums, the range of returns with it, traces, and the gradient of inputs."""
    scaled = nets.ScaledParams(params, return_scale.scale_of(learner.net.game.spec, seen))
    mine = shards.shard_of(traces, shard, config.shards)
    learned = learner.learn_from(config, learner.net, scaled, window, mine, place)
    seen = return_scale.widened(seen, window.trail.returns, window.trail.ended)
    return learned.sums._replace(rolls=jnp.int32(rolls)), seen, learned.traces, learned.slope
