"""A points game of which results span a known part of the range that it declares."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import jax.numpy as jnp
from jax import Array

from boardrl.game import TERMINAL, Spec


class Purse(NamedTuple):
    coins: Array  # [3] int32: what each seat has taken
    moves: Array  # [] int32: made so far


@dataclasses.dataclass(frozen=True)
class Coins:
    """Three players in turn take 0, 1 or 2 coins, `rounds` times each; a coin is worth `worth` points.

    The most that the game declares is what `declared` coins are worth, however few can be taken.
    """

    rounds: int = 5
    declared: int = 100
    worth: float = 1.0

    @property
    def spec(self) -> Spec:
        return Spec(
            "coins",
            num_players=3,
            num_actions=3,
            num_outcomes=0,
            obs_shape=(7,),
            max_steps=3 * self.rounds,
            min_return=0.0,
            max_return=self.declared * self.worth,
            return_sum=None,
            running_returns=True,
        )

    def init(self) -> Purse:
        return Purse(jnp.zeros(3, jnp.int32), jnp.int32(0))

    def actor(self, state: Purse) -> Array:
        return jnp.where(state.moves == 3 * self.rounds, TERMINAL, state.moves % 3)

    def legal(self, state: Purse) -> Array:
        return jnp.broadcast_to(state.moves < 3 * self.rounds, (3,))

    def chance(self, state: Purse) -> Array:
        return jnp.zeros(0, jnp.float32)

    def step(self, state: Purse, move: Array) -> Purse:
        goes_on = state.moves < 3 * self.rounds
        taken = jnp.where(goes_on & (jnp.arange(3) == state.moves % 3), move, 0)
        return Purse(state.coins + taken, state.moves + goes_on.astype(jnp.int32))

    def returns(self, state: Purse) -> Array:
        return state.coins.astype(jnp.float32) * jnp.float32(self.worth)

    def observe(self, state: Purse, player: Array) -> Array:
        """Coins from mine on, the seat to act counted from mine, and how far the game has come."""
        coins = jnp.roll(state.coins, -player).astype(jnp.float32) / (2.0 * self.rounds)
        to_act = ((state.moves - player) % 3 == jnp.arange(3)).astype(jnp.float32)
        return jnp.concatenate([coins, to_act, state.moves.astype(jnp.float32)[None] / (3.0 * self.rounds)])

    def rotate(self, state: Purse) -> Purse:
        return state._replace(coins=jnp.roll(state.coins, 1))
