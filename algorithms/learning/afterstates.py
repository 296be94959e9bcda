"""Windows of play for TD learning: T turns in all lanes, recorded as the afterstates of decisions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from algorithms.learning import experience, seats
from algorithms.learning.returns import Targets, Trail, Window
from boardrl.game import Game, acting, one_hot, select
from boardrl.play import rollout, sampling
from boardrl.play.policy import Policy, Utility, afterstate_value, afterstate_values, utilities
from boardrl.values import nets


class Choice(NamedTuple):
    """What a learner wants to do in a state."""

    best: Array  # [] int32: the best known action
    value: Array  # [P] value of its afterstate
    random: Array  # [] int32: a random action
    explores: Array  # [] bool: whether it takes the random action in place of the best


Choose = Callable[[Any, Array, Array], Choice]  # (state, [] bool whether the game opens, [2] numbers in [0, 1))


def choose(
    net: nets.ValueNet,
    params: nets.ScaledParams,
    state: Any,
    opens: Array,
    uniform: Array,
    *,
    utility: Utility,
    epsilon: float,
) -> Choice:
    """ε-greedy on the utilities of all afterstates."""
    game = net.game
    legal, player = game.legal(state), jnp.maximum(game.actor(state), 0)
    values = afterstate_values(game, nets.Scaled(net), params, state)  # [A, P]
    best = jnp.argmax(jnp.where(legal, utilities(utility, values, player), -jnp.inf)).astype(jnp.int32)
    return Choice(
        best=best,
        value=jnp.where(one_hot(best, game.spec.num_actions)[:, None], values, 0.0).sum(0),
        random=sampling.sample(legal.astype(jnp.float32), uniform[1]),
        explores=opens | (uniform[0] < epsilon),
    )


class Pending(NamedTuple):
    """The last afterstate of each lane: it learns when its successor is seen."""

    inputs: Any  # [B] of the net, dense or sparse
    viewer: Array  # [B] int32
    waits: Array  # [B] bool


class PlayedWindow(NamedTuple):
    lanes: rollout.Lanes  # after it
    window: Window
    rolls: Array  # [] int32: how often dice were thrown


def no_pending(net: nets.ValueNet, num_lanes: int) -> Pending:
    """A fresh start, in which no afterstate waits."""
    first = net.inputs(net.game.init(), jnp.int32(0))
    inputs = jax.tree.map(lambda leaf: jnp.zeros((num_lanes, *leaf.shape), leaf.dtype), first)
    return Pending(inputs, jnp.zeros(num_lanes, jnp.int32), jnp.zeros(num_lanes, bool))


def play_window(
    net: nets.ValueNet,
    params: nets.ScaledParams,
    choose: Choose,
    opponents: Sequence[Policy],
    lanes: rollout.Lanes,
    pending: Pending,
    seat_of: Array,
    key: Array,
    *,
    num_turns: int,
    opening: int = 0,
) -> PlayedWindow:
    """Plays T turns in every lane; slot 0 of the window is what was pending before.

    Args:
      seat_of: [B, P] int32, see algorithms.learning.seats.
      opening: how many steps each game begins with in which the learner is told that the game opens.
    """
    uniforms = draw_uniforms(key, num_turns, lanes.steps.shape[0])
    return play_drawn(net, params, choose, opponents, lanes, pending, seat_of, uniforms, opening=opening)


def draw_uniforms(key: Array, num_turns: int, num_lanes: int) -> Array:
    """[T, 3 + ROLLS, B] numbers in [0, 1): whether to explore, the choice, the viewer, then the rolls of each turn."""
    shape = (3 + experience.ROLLS, num_lanes)
    return jax.vmap(lambda key_turn: jax.random.uniform(key_turn, shape))(jax.random.split(key, num_turns))


def play_drawn(
    net: nets.ValueNet,
    params: nets.ScaledParams,
    choose: Choose,
    opponents: Sequence[Policy],
    lanes: rollout.Lanes,
    pending: Pending,
    seat_of: Array,
    uniforms: Array,
    *,
    opening: int = 0,
) -> PlayedWindow:
    """`play_window` with the random numbers of `draw_uniforms`."""
    game = net.game

    def decide(state: Any, due: Array, opens: Array, seat_of: Array, uniform: Array) -> rollout.Decided:
        return _decide(net, params, choose, opponents, state, due, opens, seat_of, uniform)

    def play_turn(lanes: rollout.Lanes, uniform: Array) -> tuple[rollout.Lanes, tuple[Window, Array]]:

        def decide_all(lanes: rollout.Lanes, due: Array) -> rollout.Decided:
            return jax.vmap(decide, (0, 0, 0, 0, 1))(lanes.state, due, lanes.steps < opening, seat_of, uniform[:3])

        turn = rollout.turn(game, lanes, decide_all, uniform[3:])
        slot = turn.notes._replace(trail=turn.notes.trail._replace(ended=turn.ended.over, returns=turn.ended.returns))
        rolls = sum((rolled.sum(dtype=jnp.int32) for rolled in turn.rolled), jnp.int32(0))
        return turn.lanes, (slot, rolls)

    lanes, (slots, rolls) = jax.lax.scan(play_turn, lanes, uniforms)
    window = jax.tree.map(lambda first, rest: jnp.concatenate([first[None], rest]), _pending_slot(game, pending), slots)
    return PlayedWindow(lanes, window, rolls.sum())


def _decide(
    net: nets.ValueNet,
    params: nets.ScaledParams,
    choose: Choose,
    opponents: Sequence[Policy],
    state: Any,
    due: Array,
    opens: Array,
    seat_of: Array,
    uniform: Array,
) -> rollout.Decided:
    """One decision if one is due, with the slot that it fills as notes."""
    game = net.game
    seat = jnp.maximum(game.actor(state), 0)
    who = seats.sitting(game, seat_of, seat)
    choice = choose(state, opens, uniform[:2])
    explores = choice.explores & (who == seats.LEARNER)
    action = jnp.where(explores, choice.random, choice.best)
    action = seats.seated_action(game, opponents, state, who, action, uniform[1])
    # A barrier, as XLA would otherwise compute the state anew for each of the many things that are read off it.
    state = jax.lax.optimization_barrier(select(due, acting(game)(state, action), state))
    # Shown to the learner from a seat drawn anew each time, so that the net is right from every seat. Its value, from
    # which earlier positions learn, is the one that the mover saw: where a net chose the move, it is known already.
    viewer = net.viewer(state, (uniform[2] * game.spec.num_players).astype(jnp.int32))
    trail = Trail(
        decided=due,
        value=afterstate_value(game, nets.Scaled(net), params, state, seat),
        explored=due & explores & (action != choice.best),
        best=choice.value,
        ended=jnp.array(False),  # filled in at the end of the turn
        returns=jnp.zeros(game.spec.num_players, jnp.float32),
    )
    return rollout.Decided(state, notes=Window(net.inputs(state, viewer), viewer, trail))


def _pending_slot(game: Game[Any], pending: Pending) -> Window:
    """The pending afterstates as a slot; their values are not needed, as nothing before them learns any more."""
    no = jnp.zeros_like(pending.waits)
    nothing = jnp.zeros((no.size, game.spec.num_players), jnp.float32)
    trail = Trail(pending.waits, nothing, no, nothing, no, nothing)
    return Window(pending.inputs, pending.viewer, trail)


def still_open(window: Window, targets: Targets) -> Pending:
    """The one afterstate in each lane whose successor is not known yet."""
    last = targets.open
    return Pending(
        inputs=jax.tree.map(lambda x: jnp.where(last[..., None], x, 0).sum(0, dtype=x.dtype), window.inputs),
        viewer=jnp.where(last, window.viewer, 0).sum(0),
        waits=last.any(0),
    )


def thinned(window: Window, targets: Targets, place: Array, *, thin: int) -> tuple[Window, Targets]:
    """One of every `thin` successive slots from `place` on, the same in all lanes; the last of all is never known.

    Inputs may be those of the chosen slots already.
    """
    num_slots = window.viewer.shape[0]

    def take(leaf: Array) -> Array:
        groups = leaf[:-1].reshape(-1, thin, *leaf.shape[1:])
        return jax.lax.dynamic_index_in_dim(groups, place, axis=1, keepdims=False)

    inputs = jax.tree.map(lambda leaf: take(leaf) if leaf.shape[0] == num_slots else leaf, window.inputs)
    viewer, trail, targets = jax.tree.map(take, (window.viewer, window.trail, targets))
    return Window(inputs, viewer, trail), targets
