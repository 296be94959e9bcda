"""TD(λ): a value net learned from self-play on afterstates, for any number of players, with or without chance.

After a decision and before the dice, the net says what each player will get; play takes the afterstate that the
actor likes best. The net moves towards λ-returns (forward view) or along eligibility traces (backward view).
Sources: Tesauro 1995 (TD-Gammon); Sutton and Barto 2018, chapter 12.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax import Array

from algorithms.learning import experience, optimizers, threads
from algorithms.learning.returns import Targets, Trail, Window, lambda_returns
from algorithms.learning.traces import Loss, backward_gradient
from boardrl import optional
from boardrl.config import setting
from boardrl.errors import UserError
from boardrl.game import Game, acting, one_hot, select
from boardrl.play import rollout
from boardrl.play.policy import Greedy, Policy, Utility, afterstate_value, afterstate_values, wish
from boardrl.values import named_nets, nets, return_scale


@dataclasses.dataclass(frozen=True)
class Config:
    games: int = setting(200_000, "train until this many games have ended")
    opponents: str = setting("", "players that take a seat each, like random,random; empty: all seats learn")
    rotate_opponents: bool = setting(True, "whether they sit elsewhere in each lane, or in the first seats in all")
    lanes: int = setting(64, "games played side by side")
    parts: int = setting(1, "parts of the lanes that play and learn at the same time, a core each; divides --lanes")
    window: int = setting(8, "turns in every lane between two learning steps")
    thin: int = setting(1, "learn from one turn in so many, as neighbours are much alike; divides --window")
    net: str = setting("mlp", named_nets.HELP)
    hidden: tuple[int, ...] = setting((128, 128), "units of the hidden layers of mlp, and of those that conv ends in")
    activation: nets.Activation = setting("relu", "between the layers")
    decay: float = setting(0.7, "λ: 0 learns from the next position alone, 1 from the result alone")
    epsilon: float = setting(0.3, "share of decisions that are random experiments")
    opening: int = setting(0, "steps that each game of training begins with in which every decision is an experiment")
    learning_rate: float = setting(2e-3, "of the optimizer, at the start")
    falling: bool = setting(True, "whether the learning rate falls in a straight line to 0 at the end")
    optimizer: optimizers.Optimizer = setting("adam", "Adam on the mean gradient, or plain steps of the summed one")
    momentum: float = setting(0.0, "share of the step before that is added to a plain one")
    loss: Loss = setting("cross_entropy", "how far the net is from its target")
    encoding: str = setting("", "which of the game's encodings the net is shown; empty: what its `observe` gives")
    fixed_seats: bool = setting(False, "whether output k is seat k's, not of the k-th player after the one who looks")
    separate: bool = setting(False, "whether each output stands for itself where returns have a fixed sum")
    utility: Utility = setting("own", "what a move is chosen for: one's own value, or its margin over all others' sum")
    view: Literal["forward", "backward"] = setting("forward", "λ-returns over a window, or eligibility traces (slower)")


ON_HOST = True  # `update` calls compiled functions, some of them at the same time

# alhajry2012, section IV, for Ludo. It trains one game after another; the games side by side are few, so that little is
# learned at once. Its two other settings: --opponents=mixed,mixed and --opponents=random,random, who keep their seats
# ("we fixed the player positions during training").
PRESETS: dict[str, dict[str, Any]] = {
    "alhajry2012": {
        "games": 100_000,
        "rotate_opponents": False,
        "lanes": 8,
        "window": 8,
        "hidden": (20,),
        "activation": "sigmoid",
        "decay": 0.7,
        "epsilon": 0.0,
        "learning_rate": 0.2,
        "falling": False,
        "optimizer": "sgd",
        "loss": "squared",
        "encoding": "alhajry_objective",
        "fixed_seats": True,
        "separate": True,
        "utility": "margin",
    }
}


class Pending(NamedTuple):
    """The last afterstate of each lane: it learns when its successor is seen."""

    inputs: Any  # [B] of the net, dense or sparse
    viewer: Array  # [B] int32
    waits: Array  # [B] bool


class TrainState(NamedTuple):
    params: Any
    momentum: Any  # of the optimizer
    lanes: rollout.Lanes
    pending: Pending
    traces: Any  # params with leading axes [B, P] in the backward view, else ()
    seen: return_scale.Range  # of the returns of all games so far
    key: Array  # raw key data
    games: Array  # [] int32: ended so far
    updates: Array  # [] int32


class Played(NamedTuple):
    lanes: rollout.Lanes
    window: Window
    rolls: Array  # [] int32: how often dice were thrown


class Error(NamedTuple):
    """How far a net was from its targets, summed over all that were known."""

    loss: Array  # []
    squared: Array  # [] of the returns
    known: Array  # [] float32: how many


class Lesson(NamedTuple):
    """What one part of the lanes played and taught."""

    lanes: rollout.Lanes
    pending: Pending
    traces: Any
    seen: return_scale.Range  # with the returns of the games that ended
    gradient: Any  # summed
    error: Error
    games: Array  # [] int32 that ended
    decisions: Array  # [] int32
    rolls: Array  # [] int32


def check(config: Config, game: Game[Any]) -> None:
    """Refuses settings that make no sense, in one sentence."""
    experience.check_settings(
        config,
        game,
        shares=("decay", "epsilon", "learning_rate", "momentum"),
        counts=("games", "lanes", "parts", "window"),
    )
    if config.opening < 0:
        raise UserError(f"--opening={config.opening} is no number of steps: expected 0 or more")
    if config.lanes % config.parts:
        raise UserError(f"--parts={config.parts} does not divide --lanes={config.lanes}: expected 1 or a divisor")
    if config.thin < 1 or config.window % config.thin:
        raise UserError(f"--thin={config.thin} does not divide --window={config.window}: expected 1 or a divisor")
    if config.thin > 1 and config.view == "backward":
        raise UserError(f"--thin={config.thin} needs --view=forward, as eligibility traces take every turn")
    known = optional.encodings(game)
    if config.encoding and config.encoding not in known:
        raise UserError(
            f"--encoding={config.encoding} is not one of {game.spec.name}; expected one of {', '.join(known) or 'none'}"
        )
    net = value_net(config, game)
    named_nets.check(config.net, net.module, net.seen, game.spec.num_players)


def value_net(config: Config, game: Game[Any]) -> nets.ValueNet:
    module = named_nets.make(config.net, game.spec.num_players, hidden=config.hidden, activation=config.activation)
    return nets.ValueNet(game, module, config.encoding, config.fixed_seats, config.separate)


def policy(config: Config, game: Game[Any], state: TrainState) -> Policy:
    """The greedy player of what was learned."""
    value = nets.Scaled(value_net(config, game))
    return Policy(Greedy(game, value, config.utility), scaled_params(game, state))


def scaled_params(game: Game[Any], state: TrainState) -> nets.ScaledParams:
    """The net's parameters, and the range of returns that its outputs are shares of."""
    return nets.ScaledParams(state.params, return_scale.scale_of(game.spec, state.seen))


@functools.partial(jax.jit, static_argnames=("config", "game"))
def init(config: Config, game: Game[Any], key: Array) -> TrainState:
    key_net, key_play = jax.random.split(key)
    net = value_net(config, game)
    params = net.init(key_net)
    nobody = jnp.zeros(config.lanes, jnp.int32)
    first = net.inputs(game.init(), jnp.int32(0))
    inputs = jax.tree.map(lambda leaf: jnp.zeros((config.lanes, *leaf.shape), leaf.dtype), first)
    pending = Pending(inputs, nobody, nobody.astype(bool))
    traces: Any = ()
    if config.view == "backward":
        lead = (config.lanes, game.spec.num_players)
        traces = jax.tree.map(lambda leaf: jnp.zeros((*lead, *leaf.shape), leaf.dtype), params)
    return TrainState(
        params=params,
        momentum=optimizers.init(config.optimizer, params, keep=config.momentum),
        lanes=rollout.fresh(game, config.lanes),
        pending=pending,
        traces=traces,
        seen=return_scale.nothing_seen(game.spec),
        key=jax.random.key_data(key_play),
        games=jnp.int32(0),
        updates=jnp.int32(0),
    )


def update(
    config: Config, game: Game[Any], opponents: tuple[Policy, ...], state: TrainState
) -> tuple[TrainState, dict[str, Array]]:
    """Plays a window in every lane, then takes one step of the optimizer along what it taught."""
    if config.parts == 1:
        return _update_whole(config, game, opponents, state)
    lessons = threads.together(lambda part: lesson(config, game, opponents, state, part), config.parts)
    return learn(config, state, tuple(lessons))


@functools.partial(jax.jit, static_argnames=("config", "game"))
def lesson(config: Config, game: Game[Any], opponents: tuple[Policy, ...], state: TrainState, part: Any) -> Lesson:
    """Plays a window in one part of the lanes, and finds what it teaches."""
    keys = _keys(config, state)
    net = value_net(config, game)
    lanes, pending, traces = threads.slice_of((state.lanes, state.pending, state.traces), part, config.parts)
    seats = _seating(config, game, len(opponents))
    seats = threads.slice_of(seats, part, config.parts)
    params = scaled_params(game, state)
    played = play_window(config, game, opponents, params, lanes, pending, seats, keys[1 + part])
    window = played.window
    seen = return_scale.widened(state.seen, window.trail.returns, window.trail.ended)
    # From here on all returns are those of the declared range, of which the net's outputs are shares.
    window = window._replace(trail=window.trail.in_net_units(params.scale))
    targets = jax.vmap(functools.partial(lambda_returns, decay=config.decay), 1, 1)(window.trail)
    gradient, error = forward_gradient(config, net, state.params, *_thinned(config, window, targets, keys[-1]))
    if config.view == "backward":
        gradient, traces = backward_gradient(net, state.params, window, traces, loss=config.loss, decay=config.decay)
    return Lesson(
        lanes=played.lanes,
        pending=_still_open(window, targets),
        traces=traces,
        seen=seen,
        gradient=gradient,
        error=error._replace(squared=params.scale.factor**2 * error.squared),
        games=window.trail.ended.sum(dtype=jnp.int32),
        decisions=window.trail.decided[1:].sum(dtype=jnp.int32),
        rolls=played.rolls,
    )


@functools.partial(jax.jit, static_argnames="config", donate_argnames="state")
def learn(config: Config, state: TrainState, lessons: tuple[Lesson, ...]) -> tuple[TrainState, dict[str, Array]]:
    """One step of the optimizer along the sum of all lessons."""
    total = jax.tree.map(lambda *each: functools.reduce(jnp.add, each), *(each[4:] for each in lessons))
    gradient, error, games, decisions, rolls = total
    num_known = jnp.maximum(error.known, 1.0)
    if config.optimizer == "adam":
        gradient = jax.tree.map(lambda g: g / num_known, gradient)
    left = jnp.maximum(1 - state.games.astype(jnp.float32) / config.games, 0.0) if config.falling else jnp.float32(1)
    params, momentum = optimizers.step(
        config.optimizer,
        state.params,
        state.momentum,
        gradient,
        rate=config.learning_rate * left,
        keep=config.momentum,
    )
    lanes, pending, traces = jax.tree.map(lambda *each: jnp.concatenate(each), *(each[:3] for each in lessons))
    state = TrainState(
        params=params,
        momentum=momentum,
        lanes=lanes,
        pending=pending,
        traces=traces,
        seen=return_scale.joined(*(each.seen for each in lessons)),
        key=jax.random.key_data(_keys(config, state)[0]),
        games=state.games + games,
        updates=state.updates + 1,
    )
    return state, {
        "loss": error.loss / num_known,
        "td_error": jnp.sqrt(error.squared / num_known),
        "decisions": decisions.astype(jnp.float32),
        "rolls": rolls.astype(jnp.float32),
    }


@functools.partial(jax.jit, static_argnames=("config", "game"), donate_argnames="state")
def _update_whole(
    config: Config, game: Game[Any], opponents: tuple[Policy, ...], state: TrainState
) -> tuple[TrainState, dict[str, Array]]:
    """`update` of lanes in one part, as one program: small updates are over before two could be called."""
    return learn(config, state, (lesson(config, game, opponents, state, 0),))


def _seating(config: Config, game: Game[Any], num_opponents: int) -> Array:
    return experience.seating(config.lanes, game.spec.num_players, num_opponents, rotate=config.rotate_opponents)


def _keys(config: Config, state: TrainState) -> Array:
    """For the next update, then one for each part's play, then for what all parts share."""
    return jax.random.split(jax.random.wrap_key_data(state.key), 2 + config.parts)


def play_window(
    config: Config,
    game: Game[Any],
    opponents: tuple[Policy, ...],
    params: nets.ScaledParams,
    lanes: rollout.Lanes,
    pending: Pending,
    seats: Array,
    key: Array,
) -> Played:
    """Plays T turns in every lane; slot 0 of the window is what was pending before.

    Args:
      seats: [B, P] int32, see algorithms.learning.experience.seating.
    """
    num_lanes = lanes.steps.shape[0]
    decide = functools.partial(_decide, config, game, opponents, params)

    def turn(lanes: rollout.Lanes, key_turn: Array) -> tuple[rollout.Lanes, tuple[Window, Array]]:
        uniform = jax.random.uniform(key_turn, (3 + experience.ROLLS, num_lanes))
        rolls = jnp.int32(0)
        for uniform_roll in uniform[3:] if game.spec.num_outcomes else ():
            lanes, waited = rollout.roll(game, lanes, uniform_roll)
            rolls += waited.sum(dtype=jnp.int32)
        opens = lanes.steps < config.opening
        position, slot = jax.vmap(decide, (0, 0, 0, 1))(lanes.state, opens, seats, uniform[:3])
        steps = lanes.steps + slot.trail.decided.astype(jnp.int32)
        lanes, ended = rollout.end_games(game, rollout.Lanes(position, steps))
        slot = slot._replace(trail=slot.trail._replace(ended=ended.over, returns=ended.returns))
        return lanes, (slot, rolls)

    lanes, (slots, rolls) = jax.lax.scan(turn, lanes, jax.random.split(key, config.window))
    window = jax.tree.map(lambda first, rest: jnp.concatenate([first[None], rest]), _pending_slot(game, pending), slots)
    return Played(lanes, window, rolls.sum())


def forward_gradient(
    config: Config, net: nets.ValueNet, params: Any, window: Window, targets: Targets
) -> tuple[Any, Error]:
    """Summed gradient of the loss between the net and its λ-returns, and how large it was."""
    return jax.grad(functools.partial(_loss, config, net), has_aux=True)(params, window, targets)


def _decide(
    config: Config,
    game: Game[Any],
    opponents: tuple[Policy, ...],
    params: nets.ScaledParams,
    state: Any,
    opens: Array,
    seat_of: Array,
    uniform: Array,
) -> tuple[Any, Window]:
    """One decision, if one is due: the state after it and the slot that it fills."""
    net = value_net(config, game)
    actor = game.actor(state)
    player = jnp.maximum(actor, 0)
    legal = game.legal(state)
    value = nets.Scaled(net)
    values = afterstate_values(game, value, params, state)  # [A, P]
    liked = wish(config.utility, values, player)
    best = jnp.argmax(jnp.where(legal, liked, -jnp.inf)).astype(jnp.int32)

    sitting = jnp.where(one_hot(player, game.spec.num_players), seat_of, 0).sum()
    experiment = (opens | (uniform[0] < config.epsilon)) & (sitting == 0)
    action = jnp.where(experiment, rollout.sample(legal.astype(jnp.float32), uniform[1]), best)
    for index, opponent in enumerate(opponents, 1):
        answer = rollout.choose(game, opponent.apply(opponent.params, state), state, uniform[1])
        action = jnp.where(sitting == index, answer, action)

    decided = actor >= 0
    # A barrier, as XLA would otherwise compute the state anew for each of the many things that are read off it.
    state = jax.lax.optimization_barrier(select(decided, acting(game)(state, action), state))
    # Seen from a seat drawn anew each time, so that the net is right from every seat, not the mover's alone.
    viewer = (uniform[2] * game.spec.num_players).astype(jnp.int32)
    trail = Trail(
        decided=decided,
        value=afterstate_value(game, value, params, state, viewer),
        explored=decided & experiment & (action != best),
        best=jnp.where(one_hot(best, game.spec.num_actions)[:, None], values, 0.0).sum(0),
        ended=jnp.array(False),  # filled in by the caller
        returns=jnp.zeros(game.spec.num_players, jnp.float32),
    )
    return state, Window(net.inputs(state, viewer), viewer, trail)


def _pending_slot(game: Game[Any], pending: Pending) -> Window:
    """The pending afterstates as a slot; their values are not needed, as nothing before them learns any more."""
    no = jnp.zeros_like(pending.waits)
    nothing = jnp.zeros((no.size, game.spec.num_players), jnp.float32)
    trail = Trail(pending.waits, nothing, no, nothing, no, nothing)
    return Window(pending.inputs, pending.viewer, trail)


def _still_open(window: Window, targets: Targets) -> Pending:
    """The one afterstate in each lane whose successor is not known yet."""
    last = targets.open
    return Pending(
        inputs=jax.tree.map(lambda x: jnp.where(last[..., None], x, 0).sum(0, dtype=x.dtype), window.inputs),
        viewer=jnp.where(last, window.viewer, 0).sum(0),
        waits=last.any(0),
    )


def _thinned(config: Config, window: Window, targets: Targets, key: Array) -> tuple[Window, Targets]:
    """One slot of each `thin` that follow on each other, the same in all lanes; the last slot of all is never known."""
    if config.thin == 1:
        return window, targets
    place = jax.random.randint(key, (), 0, config.thin)

    def thinned(leaf: Array) -> Array:
        groups = leaf[:-1].reshape(-1, config.thin, *leaf.shape[1:])
        return jax.lax.dynamic_index_in_dim(groups, place, axis=1, keepdims=False)

    return jax.tree.map(thinned, (window, targets))


def _loss(config: Config, net: nets.ValueNet, params: Any, window: Window, targets: Targets) -> tuple[Array, Error]:
    """Cross-entropy −Σ_i s_i log p_i (one a player without a fixed sum) or ½ Σ_i (s_i − p_i)², summed."""
    spec = net.game.spec
    # A product is the faster way to a gradient, so that here sparse inputs are written out.
    inputs = jax.vmap(jax.vmap(net.dense))(window.inputs)
    logits = jax.vmap(jax.vmap(net.logits, (None, 0, 0)), (None, 0, 0))(params, inputs, window.viewer)
    shares, wanted = net.shares(logits), nets.from_returns(spec, targets.target)
    if config.loss == "squared":
        losses = 0.5 * (wanted - shares) ** 2
    elif net.separate or spec.return_sum is None:
        losses = optax.sigmoid_binary_cross_entropy(logits, wanted)
    else:
        losses = -wanted * jax.nn.log_softmax(logits)
    known = targets.known[..., None]
    loss = jnp.where(known, losses, 0.0).sum()
    error = jnp.where(known, targets.target - nets.to_returns(spec, shares), 0.0)
    return loss, Error(loss, (error**2).mean(-1).sum(), known.sum(dtype=jnp.float32))
