"""What was lived through lately, to be drawn from at random: a ring of rows on the device."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array


class Replay(NamedTuple):
    """The last N rows that were added."""

    rows: Any  # a pytree with a leading axis [N]
    added: Array  # [] int32: rows ever added, modulo a multiple of N once the ring is full
    # Counted so that it never overflows: from 2N on it is brought back to N to 2N - 1, which is the same place.


def empty(example: Any, capacity: int) -> Replay:
    """Room for that many rows like the example."""
    rows = jax.tree.map(lambda leaf: jnp.zeros((capacity, *leaf.shape), leaf.dtype), example)
    return Replay(rows, jnp.int32(0))


def capacity(replay: Replay) -> int:
    return jax.tree.leaves(replay.rows)[0].shape[0]


def size(replay: Replay) -> Array:
    """[] int32: how many rows there are."""
    return jnp.minimum(replay.added, capacity(replay))


def add(replay: Replay, rows: Any, mask: Array) -> Replay:
    """Adds those of [M] rows that the [M] mask marks, in order, over the oldest; of more than N the last N stay."""
    room, number = capacity(replay), mask.sum(dtype=jnp.int32)
    place = jnp.cumsum(mask.astype(jnp.int32)) - 1  # among the new rows
    kept = mask & (place >= number - room)
    slot = jnp.where(kept, (replay.added + place) % room, room)  # past the end: dropped
    stored = jax.tree.map(lambda leaf, new: leaf.at[slot].set(new, mode="drop"), replay.rows, rows)
    added = replay.added + number
    return Replay(stored, jnp.where(added >= 2 * room, room + added % room, added))


def sample(replay: Replay, num_rows: int, key: Array) -> Any:
    """[num_rows] rows, each drawn evenly from all there are; all of them once if as many are asked for as there are.

    At least one row must be there; where `num_rows` is the capacity, it must be full.
    """
    if num_rows == capacity(replay):
        return replay.rows
    index = jax.random.randint(key, (num_rows,), 0, jnp.maximum(size(replay), 1))
    return jax.tree.map(lambda leaf: leaf[index], replay.rows)
