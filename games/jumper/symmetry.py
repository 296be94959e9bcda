"""The eight symmetries of a board: bit 1 of the number reverses the columns, 2 the rows, 4 transposes the board.

A number with several bits applies them in this order.
"""

from __future__ import annotations

import functools

import jax.numpy as jnp
import numpy as np
from jax import Array

from games.jumper.rules import NO_CHAIN, State

NUM_SYMMETRIES = 8
COLUMNS, ROWS, EXCHANGE = 1, 2, 4


def symmetric(size: int, state: State, number: Array) -> State:
    """The state under the symmetry of that number."""
    shown = jnp.asarray(cells_shown(size))[number]
    goes = jnp.asarray(np.argsort(cells_shown(size), axis=1).astype(np.int32))[number]
    chain = jnp.where(state.chain == NO_CHAIN, NO_CHAIN, goes[jnp.maximum(state.chain, 0)])

    def seen(plane: Array) -> Array:
        # No index is out of bounds or negative: told so, compiled code takes two thirds of the time.
        return plane.at[shown].get(mode="promise_in_bounds", wrap_negative_indices=False)

    return State(seen(state.white), seen(state.black), seen(state.dead), state.turn, chain)


@functools.lru_cache
def cells_shown(size: int) -> np.ndarray:
    """[8, size²] int32: the original cell that each cell of the image shows."""
    images = []
    for number in range(NUM_SYMMETRIES):
        square = np.arange(size * size, dtype=np.int32).reshape(size, size)
        square = square[:, ::-1] if number & COLUMNS else square
        square = square[::-1] if number & ROWS else square
        images.append((square.T if number & EXCHANGE else square).ravel())
    return np.stack(images)
