"""The table holds what a dictionary holds, whether host code or JAX asks."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from algorithms.tabular import hash_table
from algorithms.tabular.hash_table import Table, find, lookup

ENTRIES = 64


def filled(number):
    """A table with random keys, and the same as a dictionary."""
    rng = np.random.default_rng(0)
    table = Table(*(np.array(leaf) for leaf in hash_table.empty(ENTRIES, words=2, values=3)))
    known = {}
    for key in rng.integers(0, 9, (number, 2)).astype(np.uint32):
        place = find(key, table.keys, table.counts)
        if table.counts[place]:
            assert (table.keys[place] == key).all()
        else:
            table.keys[place] = key
        table.counts[place] += 1
        table.values[place] = known[tuple(key.tolist())] = rng.random(3).astype(np.float32)
    return table, known


def test_find_and_lookup_agree_with_a_dictionary():
    table, known = filled(80)
    assert 40 < len(known) <= hash_table.room(ENTRIES) == 56
    assert (table.counts > 0).sum() == len(known)
    # Some lie behind others, and some of those round the end: else the test would be too easy.
    homes = {key: int(hash_table.home(jnp.array(key, jnp.uint32), ENTRIES)) for key in known}
    places = {key: find(np.array(key, np.uint32), table.keys, table.counts) for key in known}
    assert sum(homes[key] != places[key] for key in known) > 10
    assert any(places[key] < homes[key] for key in known)
    keys = np.array([(a, b) for a in range(9) for b in range(9)], np.uint32)
    values = jax.vmap(functools.partial(lookup, Table(*map(jnp.asarray, table))))(keys)
    expected = [known.get(tuple(key), np.zeros(3, np.float32)) for key in keys.tolist()]
    np.testing.assert_array_equal(values, np.stack(expected))


def test_host_and_jax_begin_at_the_same_entry():
    keys = np.random.default_rng(1).integers(0, 2**32, (50, 3), np.uint32)
    empty = np.zeros((1 << 12, 3), np.uint32), np.zeros(1 << 12, np.int32)
    homes = [int(hash_table.home(jnp.asarray(key), 1 << 12)) for key in keys]
    assert [find(key, *empty) for key in keys] == homes
    assert len(set(homes)) > 45
