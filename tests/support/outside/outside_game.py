"""A game of another package: two players take 1 to 3 pieces in turn, and who takes the last one wins."""

import dataclasses
from typing import NamedTuple

import jax.numpy as jnp

from boardrl.game import TERMINAL, Spec


class State(NamedTuple):
    left: jnp.ndarray  # [] int32 pieces
    turn: jnp.ndarray  # [] int32


@dataclasses.dataclass(frozen=True)
class Subtraction:
    pieces: int = 9

    @property
    def spec(self):
        return Spec("subtraction", num_players=2, num_actions=3, num_outcomes=0, obs_shape=(5,), max_steps=self.pieces)

    def init(self):
        return State(jnp.int32(self.pieces), jnp.int32(0))

    def actor(self, state):
        return jnp.where(state.left == 0, TERMINAL, state.turn)

    def legal(self, state):
        return jnp.arange(1, 4) <= state.left

    def chance(self, state):
        return jnp.zeros(0)

    def step(self, state, move):
        return State(jnp.maximum(state.left - 1 - move, 0), 1 - state.turn)

    def returns(self, state):
        winner = jnp.where(jnp.arange(2) == 1 - state.turn, 1.0, -1.0)
        return jnp.where(state.left == 0, winner, 0.0)

    def observe(self, state, player):
        rest = (state.left % 4 == jnp.arange(4)).astype(jnp.float32)
        to_move = jnp.where(state.turn == player, 1.0, -1.0)
        return jnp.append(rest * to_move, to_move)
