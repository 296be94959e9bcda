"""The evaluation features and the network inputs of the paper (Brunton and Cohney 2013), in JAX."""

from __future__ import annotations

import functools

import jax.numpy as jnp
import numpy as np
from jax import Array

from games.jumper.rules import Rules, State, shifted

NAMES = ("pieces", "safe", "axes", "density")
AXES = ((0, 1), (1, 0), (1, 1), (1, -1))  # (row, column) steps


def features(size: int, state: State, player: Array) -> Array:
    """[4] float32 in [-1, 1]: the features of section 2.2 from `player`'s view.

    With n = size² cells, and "lead" for own minus opponent's:

        pieces    lead in pieces / n
        safe      lead in pieces that can be jumped along no axis / n
        axes      lead in Σ over pieces of the axes, 0 to 4, along which each can be jumped / 4n
        density   cells that are not empty / n, the same for both

    A piece can be jumped along an axis if one of the two cells beside it is empty and the other is empty or held by the
    opponent, who is there or may get there. Edges, dead cells and pieces of its own colour block.
    """
    mine, theirs = state.sides(player)
    cells, empty = size * size, state.empty
    own, other = _counts(size, mine, theirs, empty), _counts(size, theirs, mine, empty)
    filled = cells - empty.sum(dtype=jnp.int32)
    return jnp.concatenate([own - other, filled[None]]).astype(jnp.float32) / jnp.array(
        [cells, cells, 4 * cells, cells], jnp.float32
    )


def brunton2013(game: Rules, state: State, player: Array) -> Array:
    """[3n + 2] float32, appendix A: black, white and dead of each cell, a bias, and 1 if White is to move.

    The same for both players, because the paper's network outputs a probability for each colour.
    """
    planes = jnp.stack([state.black, state.white, state.dead], -1).reshape(-1)
    rest = jnp.stack([jnp.array(True), state.turn == 0])
    return jnp.concatenate([planes, rest]).astype(jnp.float32)


def own_first(game: Rules, state: State, player: Array) -> Array:
    """[3n + 2] float32: the same from `player`'s view: own, opponent's and dead of each cell, a bias, its turn.

    So both colours share what is learned.
    """
    planes = jnp.stack([*state.sides(player), state.dead], -1).reshape(-1)
    rest = jnp.stack([jnp.array(True), state.turn == player])
    return jnp.concatenate([planes, rest]).astype(jnp.float32)


def jumpable(size: int, own: Array, other: Array, empty: Array) -> list[Array]:
    """Four [size²] bool arrays: the own pieces that can be jumped along each axis."""
    open_to_other = empty | other
    axes = []
    for (row, column), inside in zip(AXES, has_both_sides(size), strict=True):
        step = row * size + column
        one_side = shifted(empty, step) & shifted(open_to_other, -step)
        other_side = shifted(empty, -step) & shifted(open_to_other, step)
        axes.append(own & (one_side | other_side) & jnp.asarray(inside))
    return axes


@functools.lru_cache
def has_both_sides(size: int) -> np.ndarray:
    """[4, size²] bool: whether both cells beside a cell along an axis are on the board."""
    row, column = np.divmod(np.arange(size * size), size)
    inner_row, inner_column = (row > 0) & (row < size - 1), (column > 0) & (column < size - 1)
    return np.stack([inner_column, inner_row, inner_row & inner_column, inner_row & inner_column])


def _counts(size: int, own: Array, other: Array, empty: Array) -> Array:
    """[3] int32: pieces, safe pieces and jumpable axes of the own colour."""
    axes = jumpable(size, own, other, empty)
    safe = own & ~functools.reduce(jnp.logical_or, axes)
    jumps = sum(axis.sum(dtype=jnp.int32) for axis in axes)
    return jnp.stack([own.sum(dtype=jnp.int32), safe.sum(dtype=jnp.int32), jumps])
