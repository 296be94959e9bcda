"""Scripted players of Jumper; each decides hop by hop, one landing of a chain at a time."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array

from boardrl.game import one_hot
from boardrl.play.policy import action_values
from games.jumper.features import features
from games.jumper.rules import Rules, State


def corner(game: Rules, state: State) -> Array:
    """[A] logits: random, except that White opens at 0 0, like the paper's random player."""
    opening = state.empty.all()
    return jnp.where(opening & ~one_hot(jnp.int32(0), game.spec.num_actions), -jnp.inf, 0.0)


def linear(
    game: Rules, state: State, *, pieces: float = 0.4, safe: float = 0.6, axes: float = 0.0, density: float = 0.0
) -> Array:
    """[A] logits: the action whose afterstate has the greatest weighted sum of features; ties are broken at random.

    The default weights are the paper's final ones.
    """
    weights = np.array([pieces, safe, axes, density], np.float32)  # NumPy: a traced value must not outlive its trace

    def value(params: None, after: State, player: Array) -> Array:
        mine = jnp.tanh(features(game.size, after, player) @ weights)
        return jnp.where(one_hot(player, 2), mine, -mine)

    values = action_values(game, value, None, state)
    best = jnp.where(game.legal(state), values, -jnp.inf).max()
    return jnp.where(values >= best, 0.0, -jnp.inf)


def piece_lead(game: Rules, state: State, player: Array) -> Array:
    """[P] in [-1, 1]: each player's lead in pieces divided by the cells; the value of `greedy(value=pieces)`.

    A hop over an enemy gains 2, any other hop or place 1, and a stop 0, so that its chains are as long as possible.
    """
    white, black = state.white.sum(dtype=jnp.int32), state.black.sum(dtype=jnp.int32)
    return jnp.stack([white - black, black - white]).astype(jnp.float32) / game.num_cells
