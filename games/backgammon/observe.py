"""A player's observation of a position, after Tesauro's encoding of TD-Gammon."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax.numpy as jnp
from jax import Array

from games.backgammon.board import BAR, CHECKERS, FACES, POINTS

if TYPE_CHECKING:
    from games.backgammon.rules import State

SIDE = 4 * POINTS + 2
SIZE = 2 * SIDE + 2 + FACES + 3


def observe(state: State, player: Array) -> Array:
    """[207] both sides, the player's own first, each in its own view; whose turn it is; the dice that are left.

    A side is four units for each point (one checker, two or more, three or more, half of those above three up to …),
    the bar and the checkers that are off. The dice are one unit for each face that is left, and units for two, three
    and four moves that are left.
    """
    checkers = jnp.where(player == 1, state.checkers[::-1], state.checkers)
    mine = (state.turn == player.astype(jnp.int8)) & (state.left > -2)
    theirs = (state.turn != player.astype(jnp.int8)) & (state.left > -2)
    faces = jnp.arange(1, FACES + 1, dtype=jnp.int8)
    dice = (faces == state.high) | (faces == state.low)
    left = state.left >= jnp.arange(2, 5, dtype=jnp.int8)
    flags = jnp.concatenate([jnp.stack([mine, theirs]), dice, left]).astype(jnp.float32)
    return jnp.concatenate([side(checkers[0]), side(checkers[1]), flags])


def side(checkers: Array) -> Array:
    """[98] one player's checkers."""
    points = checkers[:POINTS]
    units = jnp.concatenate([points == 1, points >= 2, points >= 3]).astype(jnp.float32)
    more = jnp.maximum(points - 3, 0).astype(jnp.float32) / 6
    off = (CHECKERS - checkers.sum(dtype=jnp.int32)).astype(jnp.float32) / CHECKERS
    bar = checkers[BAR].astype(jnp.float32) / 4
    return jnp.concatenate([units, jnp.minimum(more, 1.0), jnp.stack([jnp.minimum(bar, 1.0), off])])
