"""Games of a few states, whose every number is known beforehand."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import jax.numpy as jnp
from jax import Array

from boardrl.game import CHANCE, TERMINAL, Spec


@dataclasses.dataclass(frozen=True)
class Fixed:
    """Seat 0 makes the only move there is, and each seat gets what is fixed for it."""

    gets: tuple[float, ...]

    @property
    def spec(self) -> Spec:
        return Spec("fixed", len(self.gets), 1, 0, (1,), max_steps=1, min_return=0, max_return=9, return_sum=None)

    def init(self) -> Array:
        return jnp.array(False)

    def actor(self, state: Array) -> Array:
        return jnp.where(state, TERMINAL, 0)

    def legal(self, state: Array) -> Array:
        return ~state[None]

    def chance(self, state: Array) -> Array:
        return jnp.zeros(0, jnp.float32)

    def step(self, state: Array, move: Array) -> Array:
        return jnp.array(True)

    def returns(self, state: Array) -> Array:
        return jnp.where(state, jnp.array(self.gets, jnp.float32), 0.0)

    def observe(self, state: Array, player: Array) -> Array:
        return jnp.zeros(1, jnp.float32)


class Waiting(NamedTuple):
    phase: Array  # [] int32: 0 the coin is in the air, 1 seat 0 moves on, 2 over
    left: Array  # [] int32: moves still to make
    winner: Array  # [] int32


@dataclasses.dataclass(frozen=True)
class Coin:
    """With `heads` seat 0 wins at once; otherwise the toss is repeated, or seat 1 wins after `delay` moves."""

    heads: float
    delay: int = 0  # 0: the toss is repeated
    max_steps: int = 1000

    @property
    def spec(self) -> Spec:
        return Spec("coin", 2, 1, 2, (1,), max_steps=self.max_steps)

    def init(self) -> Waiting:
        return Waiting(jnp.int32(0), jnp.int32(self.delay), jnp.int32(-1))

    def actor(self, state: Waiting) -> Array:
        return jnp.array([CHANCE, 0, TERMINAL], jnp.int32)[state.phase]

    def legal(self, state: Waiting) -> Array:
        return (state.phase == 1)[None]

    def chance(self, state: Waiting) -> Array:
        return jnp.where(state.phase == 0, jnp.array([self.heads, 1 - self.heads], jnp.float32), 0.0)

    def step(self, state: Waiting, move: Array) -> Waiting:
        tossed = jnp.where(move == 0, 2, 1 if self.delay else 0)
        left = jnp.where(state.phase == 1, state.left - 1, state.left)
        phase = jnp.where(state.phase == 0, tossed, jnp.where(left == 0, 2, state.phase))
        winner = jnp.where(phase == 2, jnp.where(state.phase == 0, 0, 1), -1)
        after = Waiting(phase.astype(jnp.int32), left, winner.astype(jnp.int32))
        return Waiting(*(jnp.where(state.phase == 2, old, new) for old, new in zip(state, after, strict=True)))

    def returns(self, state: Waiting) -> Array:
        won = jnp.where(jnp.arange(2) == state.winner, 1.0, -1.0)
        return jnp.where(state.winner >= 0, won, 0.0).astype(jnp.float32)

    def observe(self, state: Waiting, player: Array) -> Array:
        return jnp.zeros(1, jnp.float32)
