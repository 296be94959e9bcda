"""The replay buffer, a ring of transitions."""

import jax
import jax.numpy as jnp
import numpy as np

from algorithms.learning import replay


def filled(memory):
    return sorted(np.asarray(memory.transitions["x"])[: int(replay.size(memory))].tolist())


def add(memory, values, mask=None):
    values = jnp.array(values, jnp.int32)
    mask = jnp.ones(len(values), bool) if mask is None else jnp.array(mask)
    return jax.jit(replay.add)(memory, {"x": values, "y": -values[:, None].astype(jnp.float32)}, mask)


EMPTY = replay.empty({"x": jnp.int32(0), "y": jnp.zeros(1)}, 5)


def test_only_marked_transitions_are_kept_and_the_oldest_go_first():
    memory = add(EMPTY, [1, 2, 3], [True, False, True])
    assert filled(memory) == [1, 3]
    memory = add(memory, [4, 5, 6, 7])
    assert filled(memory) == [3, 4, 5, 6, 7]
    memory = add(memory, [8, 9])
    assert filled(memory) == [5, 6, 7, 8, 9]
    np.testing.assert_array_equal(memory.transitions["y"][:, 0], -memory.transitions["x"])


def test_of_too_many_the_last_stay():
    assert filled(add(EMPTY, list(range(13)))) == [8, 9, 10, 11, 12]
    assert filled(add(add(EMPTY, [1, 2]), list(range(10, 22)), [i != 11 for i in range(12)])) == [16, 17, 18, 19, 20]


def test_the_count_never_grows_large():
    memory = EMPTY
    for start in range(0, 70, 7):
        memory = add(memory, list(range(start, start + 7)))
        assert filled(memory) == list(range(start + 2, start + 7))
    assert int(memory.added) < 10


def test_samples_are_even_and_of_what_is_there():
    memory = add(EMPTY, [1, 2, 3])
    drawn = np.asarray(jax.jit(replay.sample, static_argnums=1)(memory, 3000, jax.random.key(0))["x"])
    values, counts = np.unique(drawn, return_counts=True)
    assert values.tolist() == [1, 2, 3]
    assert (np.abs(counts - 1000) < 4 * np.sqrt(1000)).all()


def test_as_many_as_there_are_is_all_of_them():
    memory = add(EMPTY, [1, 2, 3, 4, 5])
    assert sorted(replay.sample(memory, 5, jax.random.key(0))["x"].tolist()) == [1, 2, 3, 4, 5]
