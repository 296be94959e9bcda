"""Schedules over the games of a training: learning rates, exploration rates, and which games an update plays."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array


def annealed(start: float, end: float, games: Array, over: int) -> Array:
    """[] float32 on the straight line from `start` to `end`, which is reached after `over` games."""
    share = jnp.minimum(games.astype(jnp.float32) / over, 1.0)
    return start + share * (end - start)


def remaining(games: Array, num_games: int) -> Array:
    """[] float32: the fraction of the training that is still to come, as a factor of an annealed learning rate."""
    return jnp.maximum(1 - games.astype(jnp.float32) / num_games, 0.0)


def game_numbers(done: int, per_update: int, num_games: int) -> range:
    """The numbers of the games that the next update plays; the last update plays only those that are left."""
    return range(done, num_games if done < num_games < done + per_update else done + per_update)
