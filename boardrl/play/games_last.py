"""The layout of many games that suits a CPU: the games along the last axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array


def games_last(function: Callable[[Any, Array], Any]) -> Callable[[Any, Array], Any]:
    """A function of (state, move) that under vmap is called once, with all games along the last axis of each leaf.

    `vmap` alone puts the games first, so that a compiler has short axes such as four pieces innermost, and makes
    poor use of vector instructions. The function must take arrays with or without an axis of games behind their
    own, and give every leaf of its result the axes of games that its arguments have.
    """
    call = jax.custom_batching.custom_vmap(function)

    @call.def_vmap
    def batched(axis_size: int, in_batched: Any, state: Any, move: Array) -> tuple[Any, Any]:
        def behind(leaf: Array, has_games: bool) -> Array:
            if has_games:
                return jnp.moveaxis(leaf, 0, -1)
            return jnp.broadcast_to(leaf[..., None], (*leaf.shape, axis_size))

        after = call(*jax.tree.map(behind, (state, move), tuple(in_batched)))  # again so under a vmap around this one
        after = jax.tree.map(lambda leaf: jnp.moveaxis(leaf, -1, 0), after)
        return after, jax.tree.map(lambda leaf: True, after)

    return call
