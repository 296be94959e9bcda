"""Who sits where while a learner plays: seats of opponents, and their moves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from boardrl.game import Game, one_hot
from boardrl.play import rollout
from boardrl.play.policy import Apply, Policy

LEARNER = 0  # in a seating; k where opponent k sits


def seating(num_lanes: int, num_players: int, num_opponents: int, *, rotate: bool = True) -> Array:
    """[B, P] int32: LEARNER, or k where opponent k sits.

    Opponents move one seat on from lane to lane, or take the first seats in all lanes if they do not rotate.
    """
    lineup = jnp.arange(num_players, dtype=jnp.int32) + 1
    lineup = jnp.where(lineup > num_opponents, LEARNER, lineup)
    return jax.vmap(lambda lane: jnp.roll(lineup, lane))(jnp.arange(num_lanes) * int(rotate))


def sitting(game: Game[Any], seats: Array, player: Array) -> Array:
    """[] int32: who has the seat of a player in a lane with these [P] seats."""
    return jnp.where(one_hot(player, game.spec.num_players), seats, 0).sum()


def seated_action(
    game: Game[Any], opponents: Sequence[Policy], state: Any, who: Array, action: Array, uniform: Array
) -> Array:
    """[] int32: the learner's action, or that of the opponent who sits at the actor's seat."""
    for index, opponent in enumerate(opponents, 1):
        answer = rollout.choose(game, opponent.apply(opponent.params, state), state, uniform)
        action = jnp.where(who == index, answer, action)
    return action


def opponent_logits(game: Game[Any], opponents: Sequence[Apply]) -> Callable[[Any, Array], Array]:
    """(state, number) -> [A] logits of the opponent of that number, for kernels; zeros for other numbers."""

    def logits(state: Any, number: Array) -> Array:
        found = jnp.zeros(game.spec.num_actions, jnp.float32)
        for index, apply in enumerate(opponents):
            found = jnp.where(number == index, apply((), state).astype(jnp.float32), found)
        return found

    return logits
