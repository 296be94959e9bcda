"""Gradient steps by hand."""

import jax.numpy as jnp
import numpy as np
import pytest

from algorithms.learning import optimizers


def test_a_plain_step_is_the_rate_times_the_gradient():
    params, state = {"w": jnp.array([1.0, 2.0])}, optimizers.init("sgd", {"w": jnp.zeros(2)})
    params, _ = optimizers.step("sgd", params, state, {"w": jnp.array([10.0, -4.0])}, rate=jnp.float32(0.1))
    np.testing.assert_allclose(params["w"], [0.0, 2.4], rtol=1e-6)


def test_adam_scales_steps_and_remembers_them():
    """Its first step is as long as the rate, whatever the gradient; the next follows the mean of both.

    m = 0.9 · 0.1 · 4 + 0.1 · 1 = 0.46 over 1 − 0.81, v = 0.999 · 0.001 · 16 + 0.001 · 1 over 1 − 0.999² (Kingma, Ba
    2015).
    """
    start = {"w": jnp.array([1.0])}
    one, state = optimizers.step(
        "adam", start, optimizers.init("adam", start), {"w": jnp.array([4.0])}, rate=jnp.float32(0.5)
    )
    assert float(one["w"][0]) == pytest.approx(0.5, abs=1e-5)
    two, _ = optimizers.step("adam", one, state, {"w": jnp.array([1.0])}, rate=jnp.float32(0.5))
    wanted = (0.46 / (1 - 0.81)) / np.sqrt((0.999 * 0.001 * 16 + 0.001) / (1 - 0.999**2))
    assert float(two["w"][0]) == pytest.approx(0.5 - 0.5 * wanted, abs=1e-4)
