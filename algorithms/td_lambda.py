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

from boardrl import experience, nets, options, rollout
from boardrl.config import setting
from boardrl.errors import UserError
from boardrl.game import CHANCE, Game, one_hot, select
from boardrl.policy import Greedy, Policy, Utility, afterstate_value, afterstates, wish
from boardrl.returns import Targets, Trail, lambda_returns

ROLLS = 2  # of the dice that one turn holds, where the first leaves nothing to decide


@dataclasses.dataclass(frozen=True)
class Config:
    games: int = setting(200_000, "train until this many games have ended")
    opponents: str = setting("", "players that take a seat each, like random,random; empty: all seats learn")
    lanes: int = setting(64, "games played side by side")
    window: int = setting(8, "turns in every lane between two learning steps")
    thin: int = setting(1, "learn from one turn in so many, as neighbours are much alike; divides --window")
    hidden: tuple[int, ...] = setting((128, 128), "units of the net's hidden layers")
    activation: nets.Activation = setting("relu", "between the layers")
    decay: float = setting(0.7, "λ: 0 learns from the next position alone, 1 from the result alone")
    epsilon: float = setting(0.3, "share of decisions that are random experiments")
    learning_rate: float = setting(2e-3, "of the optimizer, at the start")
    falling: bool = setting(True, "whether the learning rate falls in a straight line to 0 at the end")
    optimizer: Literal["adam", "sgd"] = setting("adam", "Adam on the mean gradient, or plain steps of the summed one")
    loss: Literal["cross_entropy", "squared"] = setting("cross_entropy", "how far the net is from its target")
    encoding: str = setting("", "which of the game's encodings the net is shown; empty: what its `observe` gives")
    fixed_seats: bool = setting(False, "whether output k is seat k's, not of the k-th player after the one who looks")
    separate: bool = setting(False, "whether each output stands for itself where returns have a fixed sum")
    utility: Utility = setting("own", "what a move is chosen for: one's own value, or its margin over all others' sum")
    view: Literal["forward", "backward"] = setting("forward", "λ-returns over a window, or eligibility traces (slower)")


# alhajry2012, section IV, for Ludo. It trains one game after another; the games side by side are few, so that little is
# learned at once. Its two other settings: --opponents=mixed,mixed and --opponents=random,random.
PRESETS: dict[str, dict[str, Any]] = {
    "alhajry2012": {
        "games": 100_000,
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
    momentum: Any  # of Adam
    lanes: rollout.Lanes
    pending: Pending
    traces: Any  # params with leading axes [B, P] in the backward view, else ()
    key: Array  # raw key data
    games: Array  # [] int32: ended so far
    updates: Array  # [] int32


class Window(NamedTuple):
    """T slots of play in B lanes, the pending afterstates in the first."""

    inputs: Any  # [T, B] of the net, dense or sparse: the afterstate
    viewer: Array  # [T, B] int32: the seat that it is seen from
    trail: Trail  # [T, B]


def check(config: Config, game: Game[Any]) -> None:
    """Refuses settings that make no sense, in one sentence."""
    bounds = {"decay": (0, 1), "epsilon": (0, 1), "learning_rate": (0, 1)}
    for name, (low, high) in bounds.items():
        if not low <= getattr(config, name) <= high:
            raise UserError(f"--{name}={getattr(config, name)} is out of range: expected {low} to {high}")
    for name in ("games", "lanes", "window"):
        if getattr(config, name) < 1:
            raise UserError(f"--{name}={getattr(config, name)} is too small: expected at least 1")
    if config.thin < 1 or config.window % config.thin:
        raise UserError(f"--thin={config.thin} does not divide --window={config.window}: expected 1 or a divisor")
    if config.thin > 1 and config.view == "backward":
        raise UserError(f"--thin={config.thin} needs --view=forward, as eligibility traces take every turn")
    if min(config.hidden, default=1) < 1:
        raise UserError(f"--hidden={'+'.join(map(str, config.hidden))} has a layer without units: expected like 64+64")
    known = getattr(game, "encodings", {})
    if config.encoding and config.encoding not in known:
        raise UserError(
            f"--encoding={config.encoding} is not one of {game.spec.name}; expected one of {', '.join(known) or 'none'}"
        )
    seats = game.spec.num_players
    if len(options.split(config.opponents)) >= seats:
        raise UserError(
            f"--opponents={config.opponents} leaves no seat to learn: {seats} players, so name fewer than {seats}"
        )


def value_net(config: Config, game: Game[Any]) -> nets.ValueNet:
    mlp = nets.MLP(config.hidden, game.spec.num_players, config.activation)
    return nets.ValueNet(game, mlp, config.encoding, config.fixed_seats, config.separate)


def policy(config: Config, game: Game[Any], state: TrainState) -> Policy:
    """The greedy player of what was learned."""
    return Policy(Greedy(game, value_net(config, game), config.utility), state.params)


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
        momentum=_optimizer(config).init(params),
        lanes=rollout.start(game, config.lanes),
        pending=rollout.spread(pending),
        traces=rollout.spread(traces) if config.view == "backward" else (),
        key=jax.random.key_data(key_play),
        games=jnp.int32(0),
        updates=jnp.int32(0),
    )


@functools.partial(jax.jit, static_argnames=("config", "game"), donate_argnames="state")
def update(
    config: Config, game: Game[Any], opponents: tuple[Policy, ...], state: TrainState
) -> tuple[TrainState, dict[str, Array]]:
    """Plays a window in every lane, then takes one step of Adam along what it taught."""
    key = jax.random.wrap_key_data(state.key)
    key_next, key_window, key_thin = jax.random.split(key, 3)
    net = value_net(config, game)

    lanes, window = play_window(config, game, opponents, state, key_window)
    targets = jax.vmap(functools.partial(lambda_returns, decay=config.decay), 1, 1)(window.trail)
    taught = _thinned(config, window, targets, key_thin)
    gradient, metrics = forward_gradient(config, net, state.params, *taught)
    traces = state.traces
    if config.view == "backward":
        gradient, traces = backward_gradient(config, net, state.params, window, state.traces)

    if config.optimizer == "adam":
        num_known = jnp.maximum((taught if config.view == "forward" else (window, targets))[1].known.sum(), 1)
        gradient = jax.tree.map(lambda g: g / num_known.astype(jnp.float32), gradient)
    with jax.numpy_dtype_promotion("standard"):  # optax raises a float to the power of its integer count
        direction, momentum = _optimizer(config).update(gradient, state.momentum)
    left = jnp.maximum(1 - state.games.astype(jnp.float32) / config.games, 0.0) if config.falling else 1.0
    rate = config.learning_rate * left
    params = jax.tree.map(lambda p, d: p - rate * d, state.params, direction)

    num_ended = window.trail.ended.sum().astype(jnp.int32)
    state = TrainState(
        params=params,
        momentum=momentum,
        lanes=lanes,
        pending=_still_open(window, targets),
        traces=traces,
        key=jax.random.key_data(key_next),
        games=state.games + num_ended,
        updates=state.updates + 1,
    )
    decisions = window.trail.decided[1:].sum().astype(jnp.float32)
    return state, {**metrics, "decisions": decisions}


def play_window(
    config: Config, game: Game[Any], opponents: tuple[Policy, ...], state: TrainState, key: Array
) -> tuple[rollout.Lanes, Window]:
    """Plays T turns in every lane; slot 0 of the window is what was pending before."""
    seats = experience.seating(config.lanes, game.spec.num_players, len(opponents))
    decide = functools.partial(_decide, config, game, opponents, state.params)

    def turn(lanes: rollout.Lanes, key_turn: Array) -> tuple[rollout.Lanes, Window]:
        uniform = jax.random.uniform(key_turn, (3 + ROLLS, config.lanes))
        for uniform_roll in uniform[3:] if game.spec.num_outcomes else ():
            lanes = _roll(game, lanes, uniform_roll)
        position, slot = jax.vmap(decide, (0, 0, 1))(lanes.state, seats, uniform[:3])
        steps = lanes.steps + slot.trail.decided.astype(jnp.int32)
        lanes, ended = rollout.end_games(game, rollout.Lanes(position, steps))
        return lanes, slot._replace(trail=slot.trail._replace(ended=ended.over, returns=ended.returns))

    lanes, slots = jax.lax.scan(turn, state.lanes, jax.random.split(key, config.window))
    return lanes, jax.tree.map(
        lambda first, rest: jnp.concatenate([first[None], rest]), _pending_slot(game, state), slots
    )


def forward_gradient(
    config: Config, net: nets.ValueNet, params: Any, window: Window, targets: Targets
) -> tuple[Any, dict[str, Array]]:
    """Summed gradient of the loss between the net and its λ-returns, and the metrics."""
    return jax.grad(functools.partial(_loss, config, net), has_aux=True)(params, window, targets)


def backward_gradient(config: Config, net: nets.ValueNet, params: Any, window: Window, traces: Any) -> tuple[Any, Any]:
    """The same by eligibility traces: −Σ_t Σ_i δ_i e_i with e ← λ e + ∇f(s_t), one trace for each output i.

    f is what the loss is linear in: the net's logits for cross-entropy (∇L = Σ_i (p_i − target_i) ∇z_i), its
    shares for the squared error. Traces of unfinished games are carried into the next window.
    """
    spec = net.game.spec
    outputs = net.logits if config.loss == "cross_entropy" else lambda *a: net.shares(net.logits(*a))

    def lane(window: Window, trace: Any) -> tuple[Any, Any]:
        first = net.shares(net.logits(params, jax.tree.map(lambda x: x[0], window.inputs), window.viewer[0]))

        def forth(carry: tuple[Any, Any, Array, Array], slot: Window) -> tuple[tuple[Any, Any, Array, Array], None]:
            total, trace, previous, seen = carry
            trail = slot.trail
            value = jnp.where(trail.explored, trail.best, jnp.where(trail.ended, trail.returns, trail.value))
            news = trail.decided | trail.ended
            delta = jnp.where(seen & news, nets.from_returns(spec, value) - previous, 0.0)
            total = jax.tree.map(lambda g, e: g - jnp.tensordot(delta, e, 1), total, trace)
            keep = jnp.where(trail.ended | trail.explored, 0.0, jnp.where(trail.decided, config.decay, 1.0))
            grown = trail.decided & ~trail.ended
            fresh = jax.jacrev(outputs)(params, net.dense(slot.inputs), slot.viewer)
            trace = jax.tree.map(lambda e, f: keep * e + jnp.where(grown, f, 0.0), trace, fresh)
            previous = jnp.where(trail.decided, nets.from_returns(spec, trail.value), previous)
            return (total, trace, previous, (seen | trail.decided) & ~trail.ended), None

        nothing = jax.tree.map(jnp.zeros_like, params)
        carry = (nothing, trace, first, window.trail.decided[0])
        (total, trace, _, _), _ = jax.lax.scan(forth, carry, jax.tree.map(lambda x: x[1:], window))
        return total, trace

    # The pending afterstates of slot 0 are in the traces already.
    totals, traces = jax.vmap(lane, (1, 0))(window, traces)
    return jax.tree.map(lambda g: g.sum(0), totals), traces


def _decide(
    config: Config,
    game: Game[Any],
    opponents: tuple[Policy, ...],
    params: Any,
    state: Any,
    seat_of: Array,
    uniform: Array,
) -> tuple[Any, Window]:
    """One decision, if one is due: the state after it and the slot that it fills."""
    net = value_net(config, game)
    actor = game.actor(state)
    player = jnp.maximum(actor, 0)
    legal = game.legal(state)
    # Barriers, as XLA would otherwise compute the states anew for each of the many things that are read off them.
    after = jax.lax.optimization_barrier(afterstates(game, state))
    values = jax.vmap(lambda s: afterstate_value(game, net, params, s, player))(after)  # [A, P]
    liked = wish(config.utility, values, player)
    best = jnp.argmax(jnp.where(legal, liked, -jnp.inf)).astype(jnp.int32)

    sitting = jnp.where(one_hot(player, game.spec.num_players), seat_of, 0).sum()
    experiment = (uniform[0] < config.epsilon) & (sitting == 0)
    action = jnp.where(experiment, rollout.sample(legal.astype(jnp.float32), uniform[1]), best)
    for index, opponent in enumerate(opponents, 1):
        answer = rollout.choose(game, opponent.apply(opponent.params, state), state, uniform[1])
        action = jnp.where(sitting == index, answer, action)

    decided = actor >= 0
    moved = _pick(after, one_hot(action, game.spec.num_actions))
    state = jax.lax.optimization_barrier(select(decided, moved, state))
    # Seen from a seat drawn anew each time, so that the net is right from every seat, not the mover's alone.
    viewer = (uniform[2] * game.spec.num_players).astype(jnp.int32)
    trail = Trail(
        decided=decided,
        value=afterstate_value(game, net, params, state, viewer),
        explored=decided & experiment & (action != best),
        best=_pick(values, one_hot(best, game.spec.num_actions)),
        ended=jnp.array(False),  # filled in by the caller
        returns=jnp.zeros(game.spec.num_players, jnp.float32),
    )
    return state, Window(net.inputs(state, viewer), viewer, trail)


def _roll(game: Game[Any], lanes: rollout.Lanes, uniform: Array) -> rollout.Lanes:
    """Throws the dice in every lane that waits for them."""
    waits = jax.vmap(game.actor)(lanes.state) == CHANCE

    def settle(lanes: rollout.Lanes) -> rollout.Lanes:
        state = jax.vmap(functools.partial(rollout.settle_chance, game))(lanes.state, uniform)
        return rollout.Lanes(state, lanes.steps + waits.astype(jnp.int32))

    # A branch, which XLA does not look into: it would compute the rolled state anew for all that follows from it.
    return jax.lax.cond(waits.any(), settle, lambda lanes: lanes, lanes)


def _pick(batch: Any, mask: Array) -> Any:
    """The one entry of [A] stacked states that a [A] one-hot mask marks."""

    def pick(leaf: Array) -> Array:
        wide = mask.reshape(mask.shape + (1,) * (leaf.ndim - 1))
        if leaf.dtype == jnp.bool_:
            return (leaf & wide).any(0)
        return jnp.where(wide, leaf, jnp.zeros_like(leaf)).sum(0, dtype=leaf.dtype)

    return jax.tree.map(pick, batch)


def _pending_slot(game: Game[Any], state: TrainState) -> Window:
    """The pending afterstates as a slot; their values are not needed, as nothing before them learns any more."""
    no = jnp.zeros_like(state.pending.waits)
    nothing = jnp.zeros((no.size, game.spec.num_players), jnp.float32)
    trail = Trail(state.pending.waits, nothing, no, nothing, no, nothing)
    return Window(state.pending.inputs, state.pending.viewer, trail)


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


def _loss(
    config: Config, net: nets.ValueNet, params: Any, window: Window, targets: Targets
) -> tuple[Array, dict[str, Array]]:
    """Cross-entropy −Σ_i s_i log p_i (one a player without a fixed sum) or ½ Σ_i (s_i − p_i)², summed, and metrics."""
    spec, num_known = net.game.spec, jnp.maximum(targets.known.sum(), 1).astype(jnp.float32)
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
    return loss, {"loss": loss / num_known, "td_error": jnp.sqrt((error**2).sum() / (num_known * spec.num_players))}


def _optimizer(config: Config) -> optax.GradientTransformation:
    return optax.scale_by_adam() if config.optimizer == "adam" else optax.identity()
