"""Replay buffer: a ring of transitions on the device, sampled uniformly."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array


class Replay(NamedTuple):
    """The last N transitions that were added."""

    transitions: Any  # a pytree with a leading axis [N]
    added: Array  # [] int32: transitions ever added, modulo a multiple of N once the ring is full
    # Counted so that it never overflows: from 2N on it is brought back to N to 2N - 1, which is the same place.


def empty(example: Any, capacity: int) -> Replay:
    """Room for that many transitions like the example."""
    return Replay(
        jax.tree.map(lambda leaf: jnp.zeros((capacity, *leaf.shape), leaf.dtype), example),
        jnp.int32(0),
    )


def capacity(replay: Replay) -> int:
    return jax.tree.leaves(replay.transitions)[0].shape[0]


def size(replay: Replay) -> Array:
    """[] int32: how many transitions there are."""
    return jnp.minimum(replay.added, capacity(replay))


def add(replay: Replay, new: Any, mask: Array) -> Replay:
    """Adds the [M] transitions that the [M] mask marks, in order, over the oldest; of more than N the last N stay."""
    room, number = capacity(replay), mask.sum(dtype=jnp.int32)
    place = jnp.cumsum(mask.astype(jnp.int32)) - 1  # among the new ones
    kept = mask & (place >= number - room)
    slot = jnp.where(kept, (replay.added + place) % room, room)  # past the end: dropped
    stored = jax.tree.map(lambda leaf, more: leaf.at[slot].set(more, mode="drop"), replay.transitions, new)
    added = replay.added + number
    return Replay(stored, jnp.where(added >= 2 * room, room + added % room, added))


def sample(replay: Replay, batch: int, key: Array) -> Any:
    """[batch] transitions, each drawn uniformly from all there are; all of them once if `batch` is the capacity.

    At least one transition must be there; where `batch` is the capacity, the buffer must be full.
    """
    if batch == capacity(replay):
        return replay.transitions
    index = jax.random.randint(key, (batch,), 0, jnp.maximum(size(replay), 1))
    return jax.tree.map(lambda leaf: leaf[index], replay.transitions)
