"""Experience of a Q-learner: turns played in all lanes, recorded as transitions."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from algorithms.learning import rewards, seats, transitions
from algorithms.learning.transitions import NOBODY, Slot, Transition
from boardrl.game import Game, acting, select
from boardrl.play import rollout
from boardrl.play.policy import Policy

ROLLS = 2  # of the dice in one turn: a second one where the first leaves nothing to decide


class Decision(NamedTuple):
    """What a learner does in a state."""

    choice: Array  # [] int32: what it learns about
    action: Array  # [] int32: how that is played, the same unless choices are more than actions
    memo: Any  # what it will need to learn from this, such as the state


Decide = Callable[[Any, Array], Decision]  # (state, [2] numbers in [0, 1)) -> decision


class Experience(NamedTuple):
    """T turns in all lanes, as transitions."""

    lanes: rollout.Lanes  # after them
    pending: Slot  # [P, B] decisions whose successor is still to come
    transitions: Transition  # [P + T, B]
    known: Array  # [P + T, B] bool: where `transitions` means something
    games: Array  # [] int32: that ended
    turns: Slot  # [T, B]


def gather(
    game: Game[Any],
    decide: Decide,
    opponents: Sequence[Policy],
    worth: dict[str, float],
    lanes: rollout.Lanes,
    pending: Slot,
    key: Array,
    *,
    num_turns: int,
    discount: float,
    steps: int,
) -> Experience:
    """Plays T turns in every lane, and links decisions, pending ones included, to those that followed.

    Args: see `play` and `transitions.links`.
    """
    lanes, turns = play(game, decide, opponents, worth, lanes, key, num_turns=num_turns)
    return linked(lanes, turns, pending, discount=discount, steps=steps)


def linked(lanes: rollout.Lanes, turns: Slot, pending: Slot, *, discount: float, steps: int) -> Experience:
    """[T, B] turns that were played, with decisions, pending ones included, linked to those that followed."""
    slots = transitions.join(pending, turns)
    link = transitions.links(slots, discount=discount, steps=steps)
    ended = turns.ended.sum().astype(jnp.int32)
    return Experience(
        lanes=lanes,
        pending=transitions.still_open(slots, link),
        transitions=transitions.transitions(slots, link),
        known=link.known,
        games=ended,
        turns=turns,
    )


def play(
    game: Game[Any],
    decide: Decide,
    opponents: Sequence[Policy],
    worth: dict[str, float],
    lanes: rollout.Lanes,
    key: Array,
    *,
    num_turns: int,
    seat_of: Array | None = None,
) -> tuple[rollout.Lanes, Slot]:
    """Plays T turns in every lane; the slots have leading axes [T, B].

    Args:
      worth: of the events that are rewarded, see algorithms.learning.rewards.
      seat_of: [B, P] int32, see algorithms.learning.seats; None: these are all lanes.
    """
    num_lanes = lanes.steps.shape[0]
    shape = (2 + ROLLS, num_lanes)
    uniforms = jax.vmap(lambda key_turn: jax.random.uniform(key_turn, shape))(jax.random.split(key, num_turns))
    return play_drawn(game, decide, opponents, worth, lanes, uniforms, seat_of)


def play_drawn(
    game: Game[Any],
    decide: Decide,
    opponents: Sequence[Policy],
    worth: dict[str, float],
    lanes: rollout.Lanes,
    uniforms: Array,
    seat_of: Array | None = None,
) -> tuple[rollout.Lanes, Slot]:
    """`play` with [T, 2 + ROLLS, B] random numbers in [0, 1): two for the decision, then the rolls of each turn."""
    num_lanes, num_players = lanes.steps.shape[0], game.spec.num_players
    lineup = seats.seating(num_lanes, num_players, len(opponents)) if seat_of is None else seat_of
    reward = functools.partial(rewards.of_step, game, tuple(worth), jnp.array(list(worth.values()), jnp.float32))
    decide_one = functools.partial(_decide, game, decide, opponents)

    def play_turn(lanes: rollout.Lanes, uniform: Array) -> tuple[rollout.Lanes, Slot]:
        def decide_all(lanes: rollout.Lanes, due: Array) -> rollout.Decided:
            after, notes = jax.vmap(decide_one, (0, 0, 0, 1))(lanes.state, due, lineup, uniform[:2])
            return rollout.Decided(after, notes=notes)

        turn = rollout.turn(game, lanes, decide_all, uniform[2:])
        got = [jax.vmap(reward)(before, after) for before, after in itertools.pairwise(turn.states)]
        dice = functools.reduce(jnp.add, got[:-1], jnp.zeros((num_lanes, num_players), jnp.float32))
        player, decision = turn.notes
        return turn.lanes, Slot(player, decision.memo, decision.choice, dice, got[-1], turn.ended.over)

    return jax.lax.scan(play_turn, lanes, uniforms)


def _decide(
    game: Game[Any], decide: Decide, opponents: Sequence[Policy], state: Any, due: Array, seat_of: Array, uniform: Array
) -> tuple[Any, tuple[Array, Decision]]:
    """The state after a decision if one is due; the learner who made it, or NOBODY; and the decision."""
    actor = game.actor(state)
    who = seats.sitting(game, seat_of, actor)
    decision = decide(state, uniform)
    action = seats.seated_action(game, opponents, state, who, decision.action, uniform[1])
    after = select(due, acting(game)(state, action), state)
    return after, (jnp.where(due & (who == seats.LEARNER), actor, NOBODY), decision)
