"""Draws in proportion to weights, and from the true entries of a mask."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from boardrl.play import sampling


@pytest.mark.parametrize(
    ("weights", "uniform", "index"),
    [
        ([0.0, 1.0, 1.0], 0.0, 1),
        ([0.0, 1.0, 1.0], 0.499, 1),
        ([0.0, 1.0, 1.0], 0.5, 2),
        ([3.0, 1.0, 0.0], 1 - 2**-23, 1),
    ],
)
def test_sample_inverts_the_running_sum(weights, uniform, index):
    assert sampling.sample(jnp.array(weights, jnp.float32), jnp.float32(uniform)) == index


@pytest.mark.parametrize("size", [17, 33, 325, 1024, 1025])
def test_long_weights_are_sampled_in_proportion_and_zeros_never(size):
    chooser = np.random.default_rng(size)
    weights = chooser.random(size) ** 8 * (chooser.random(size) < 0.4)
    weights[[0, size - 1]] = 0
    weights = (weights / weights.sum()).astype(np.float32)
    uniforms = (np.arange(1 << 16, dtype=np.float32) + 0.5) / (1 << 16)
    edges = np.float32([0, 2**-23, 0.5, 1 - 2**-23])
    drawn = np.asarray(jax.jit(jax.vmap(sampling.sample, (None, 0)))(weights, np.concatenate([uniforms, edges])))
    assert (weights[drawn] > 0).all()
    assert (np.diff(drawn[: len(uniforms)]) >= 0).all()  # the running sum's inverse rises
    np.testing.assert_allclose(np.bincount(drawn[:-4], minlength=size) / len(uniforms), weights, atol=3e-5)


@pytest.mark.parametrize("size", [3, 17, 325, 1025, 2305])
def test_true_entries_are_sampled_each_as_likely(size):
    chooser = np.random.default_rng(size)
    draw = jax.jit(jax.vmap(sampling.sample_evenly, (None, 0)))
    for share in (0.05, 0.5, 1.0):
        mask = chooser.random(size) < share
        mask[chooser.integers(size)] = True
        true = np.flatnonzero(mask)
        uniforms = (np.repeat(np.arange(len(true)), 3) + np.tile([0.001, 0.5, 0.999], len(true))) / len(true)
        uniforms = np.concatenate([uniforms, np.full(3 * size - len(uniforms), 1 - 2**-23)])  # one length to compile
        drawn = np.asarray(draw(mask, uniforms.astype(np.float32)))
        np.testing.assert_array_equal(np.sort(drawn[: 3 * len(true)]), np.repeat(true, 3))
        assert mask[drawn].all()
