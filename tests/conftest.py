"""Settings of all tests: strict promotion, warnings as errors (pyproject.toml), and bounds on time and memory."""

import ctypes
import gc
import os
import pathlib

import jax
import pytest

jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_numpy_rank_promotion", "raise")

# Many files compile the same programs. Compiled once, they are read from here by every worker and every later file.
_FOLDER = pathlib.Path(os.environ.get("BOARDRL_CACHE", pathlib.Path.home() / ".cache" / "boardrl"))
jax.config.update("jax_compilation_cache_dir", str(_FOLDER / "jax"))
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.1)


@pytest.fixture(autouse=True, scope="module")
def _bounded_memory():
    """Frees what a file compiled: JAX keeps every program of the process, which came to 5 GB a worker.

    What is left is of use to other files (Numba's types above all), and is not looked at again when garbage is
    collected: to do so after every file took a fifth of the time of all tests.
    """
    yield
    jax.clear_caches()
    gc.collect()
    gc.freeze()
    ctypes.CDLL("libc.so.6").malloc_trim(0)


@pytest.fixture
def quick_compile():
    """For tests that compile much and run little: compile in half the time, to slower code."""
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)
