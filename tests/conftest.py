"""Strict settings for every test: no silent promotion, and warnings are errors (see pyproject.toml)."""

import jax
import pytest

jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_numpy_rank_promotion", "raise")


@pytest.fixture
def quick_compile():
    """For tests that compile much and run little: compile in half the time, to slower code."""
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)
