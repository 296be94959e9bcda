"""Evaluation features beyond the paper's: immediate jumps, positions of pieces, safe cells.

Every count is the player's minus the opponent's, and appears twice: plain, and multiplied by the fraction of empty
cells, so that its weight can change over the game.
"""

from __future__ import annotations

import functools

import jax.numpy as jnp
import numpy as np
from jax import Array

from games.jumper.features import AXES, has_both_sides
from games.jumper.rules import DIRECTIONS, Rules, State, lands_inside, shifted

COUNTS = (
    "pieces",
    "safe",
    "axes",
    "attacked_axes",
    "attacked",
    "corners",
    "edges",
    "second",
    "safe_cells",
    "own_hops",
    "landings",
    "chains",
)
NAMES = (*COUNTS, *(f"{name}_early" for name in COUNTS), "threat", "threats", "chain_threat", "tempo", "last_move")


def extended(game: Rules, state: State, player: Array) -> Array:
    """[29] float32 from `player`'s view; n = size² cells, each count / n, counts of axes / 4n.

    pieces, safe, axes   as in features.py
    attacked_axes        axes along which pieces can be jumped now: an enemy on one side, an empty cell on the other
    attacked             pieces with such an axis
    corners, edges       pieces there, corners not counted as edges
    second               pieces beside the edge
    safe_cells           empty cells where an own piece could not be jumped along any axis
    own_hops             axes with an own piece on one side of an own piece and an empty cell on the other
    landings             empty cells that a hop over any piece leads to
    chains               empty cells that a hop from such a landing leads to
    …_early              the same times the fraction of empty cells
    threat, threats      if the player is to move, whether the opponent has attacked pieces, and how many / n;
                         else the same for its own pieces, negative
    chain_threat         if the player is to move, its chains / n; else the opponent's, negative
    tempo                1/8 if the player is to move, else −1/8
    last_move            tempo, with the sign flipped if the number of empty cells is even
    """
    mine, theirs = state.sides(player)
    own, other = _counts(game.size, mine, theirs, state.empty), _counts(game.size, theirs, mine, state.empty)
    empty = state.empty.sum(dtype=jnp.int32)
    cells = game.num_cells
    leads = (own - other).astype(jnp.float32) / jnp.asarray(_scale(cells))
    moves = state.turn == player
    attacked, chains = COUNTS.index("attacked"), COUNTS.index("chains")
    can_take = jnp.where(moves, other[attacked], own[attacked])
    tempo = jnp.where(moves, 0.125, -0.125).astype(jnp.float32)
    sign = jnp.where(moves, 1, -1)
    rest = [
        (sign * jnp.minimum(can_take, 1)).astype(jnp.float32) / 8.0,
        (sign * can_take).astype(jnp.float32) / cells,
        (sign * jnp.where(moves, own[chains], other[chains])).astype(jnp.float32) / cells,
        tempo,
        jnp.where(empty % 2 == 1, tempo, -tempo),
    ]
    early = empty.astype(jnp.float32) / cells
    return jnp.concatenate([leads, leads * early, jnp.stack(rest)])


def _counts(size: int, own: Array, other: Array, empty: Array) -> Array:
    """[12] int32: the counts of the own colour."""
    jumpable, attacked, hops = [], [], []
    for (row, column), inside in zip(AXES, has_both_sides(size), strict=True):
        step = row * size + column
        ends = [(shifted(plane, step), shifted(plane, -step)) for plane in (empty, other, own)]
        (empty_one, empty_two), (other_one, other_two), (own_one, own_two) = ends
        at_once = empty_one & other_two | empty_two & other_one
        jumpable.append((empty_one & empty_two | at_once) & jnp.asarray(inside))
        attacked.append(own & at_once & jnp.asarray(inside))
        hops.append(own & (empty_one & own_two | empty_two & own_one) & jnp.asarray(inside))
    anywhere = functools.reduce(jnp.logical_or, jumpable)
    corner, edge, second = (jnp.asarray(ring) for ring in rings(size))
    first = _landings(size, own | other, empty, own)
    planes = [
        own,
        own & ~anywhere,
        jnp.concatenate([own & axis for axis in jumpable]),
        jnp.concatenate(attacked),
        functools.reduce(jnp.logical_or, attacked),
        own & corner,
        own & edge,
        own & second,
        empty & ~anywhere,
        jnp.concatenate(hops),
        first,
        _landings(size, own | other, empty, first),
    ]
    return jnp.stack([plane.sum(dtype=jnp.int32) for plane in planes])


def _landings(size: int, held: Array, empty: Array, starts: Array) -> Array:
    """[size²] bool: empty cells that a hop from one of these cells over any piece leads to."""
    found = []
    for (row, column), inside in zip(DIRECTIONS, lands_inside(size), strict=True):
        step = row * size + column
        found.append(shifted(shifted(starts & jnp.asarray(inside), -step) & held, -step))
    return functools.reduce(jnp.logical_or, found) & empty


@functools.lru_cache
def rings(size: int) -> np.ndarray:
    """[3, size²] bool: the corners, the rest of the edge, the cells beside the edge."""
    row, column = np.divmod(np.arange(size * size), size)
    down, right = np.minimum(row, size - 1 - row), np.minimum(column, size - 1 - column)
    nearest = np.minimum(down, right)
    corner = np.maximum(down, right) == 0
    return np.stack([corner, (nearest == 0) & ~corner, nearest == 1])


@functools.lru_cache
def _scale(cells: int) -> np.ndarray:
    return np.array(
        [4 * cells if name in ("axes", "attacked_axes", "own_hops") else cells for name in COUNTS], np.float32
    )
