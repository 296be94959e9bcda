"""A hash table of fixed size: values by exact keys, the same for compiled host code and for JAX.

Open addressing: a key's entry is the first one from its home on, going forward and round the end, that holds it; the
first free one says that the table does not. Keys are compared whole, so that no two are ever taken for each other.
Words of 32 bits, as JAX has no others.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from boardrl.host.compile_options import compiled

FREE = 0  # the count of an entry that holds nothing
FULLEST = 0.875  # share of the entries that may be taken: beyond it the way to a free one grows long

_START, _ROUND, _LAST = 0x9E3779B9, 0x85EBCA6B, 0xC2B2AE35
_WORD = np.uint64(0xFFFFFFFF)


class Table(NamedTuple):
    """N entries, a power of 2; in JAX or in NumPy."""

    keys: Any  # [N, W] uint32
    values: Any  # [N, V] float32
    counts: Any  # [N] int32: how often each entry was written to; FREE where there is none


def empty(entries: int, *, words: int, values: int) -> Table:
    """A table that holds nothing yet."""
    return Table(
        jnp.zeros((entries, words), jnp.uint32),
        jnp.zeros((entries, values), jnp.float32),
        jnp.full(entries, FREE, jnp.int32),
    )


def room(entries: int) -> int:
    """How many entries may be taken."""
    return int(FULLEST * entries)


def home(key: Array, entries: int) -> Array:
    """[] uint32: where the entry of a key of [W] uint32 words lies if nothing is in its way."""
    mixed = jnp.uint32(_START)
    for word in range(key.shape[0]):
        mixed = (mixed ^ key[word]) * jnp.uint32(_ROUND)
        mixed = (mixed ^ (mixed >> jnp.uint32(15))) * jnp.uint32(_LAST)
        mixed = mixed ^ (mixed >> jnp.uint32(13))
    return mixed & jnp.uint32(entries - 1)


def lookup(table: Table, key: Array) -> Array:
    """[V] float32: the values of a key of [W] uint32 words, or zeros."""
    entries = table.counts.shape[0]

    def goes_on(place: Array) -> Array:
        return (table.counts[place] != FREE) & (table.keys[place] != key).any()

    def forward(place: Array) -> Array:
        return (place + jnp.uint32(1)) & jnp.uint32(entries - 1)

    place = jax.lax.while_loop(goes_on, forward, home(key, entries))
    return jnp.where(table.counts[place] != FREE, table.values[place], 0.0)


@compiled
def find(key, keys, counts):
    """The entry that holds a key, or else the free one where it belongs."""
    mixed = np.uint64(_START)
    for word in range(key.shape[0]):
        mixed = ((mixed ^ np.uint64(key[word])) * np.uint64(_ROUND)) & _WORD
        mixed = ((mixed ^ (mixed >> np.uint64(15))) * np.uint64(_LAST)) & _WORD
        mixed = mixed ^ (mixed >> np.uint64(13))
    last = np.int64(counts.shape[0] - 1)
    place = np.int64(mixed) & last
    while counts[place] != FREE:
        same = True
        for word in range(key.shape[0]):
            same &= keys[place, word] == key[word]
        if same:
            break
        place = (place + 1) & last
    return place
