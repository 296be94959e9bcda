"""Settings of all tests: strict promotion, warnings as errors (pyproject.toml), and bounds on time and memory."""

import ctypes
import gc
import os
import pathlib
import sys
from importlib import metadata

# Most tests compile much and run little: XLA compiles in a fourth of the time to slower code, in child processes too.
os.environ["JAX_DISABLE_MOST_OPTIMIZATIONS"] = "1"
if metadata.version("jaxlib").startswith("0.10."):  # a version that does not know a flag would end the process
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_cpu_use_fusion_emitters=false".strip()

import jax
import pytest
from numba.core.dispatcher import Dispatcher

from boardrl.lowering import cache

jax.config.update("jax_disable_most_optimizations", True)  # if a plugin has imported JAX before
jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_numpy_rank_promotion", "raise")

# Tracing and compiling make many objects that stay; by default Python looks for garbage among them far more often.
gc.set_threshold(50_000, 20, 20)

# Many files compile the same programs. Compiled once, they are read from here by every worker and every later file.
_FOLDER = pathlib.Path(os.environ.get("BOARDRL_CACHE", pathlib.Path.home() / ".cache" / "boardrl"))
jax.config.update("jax_compilation_cache_dir", str(_FOLDER / "jax"))
jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)


MOST_GROWTH = 300  # megabytes that a file may add to a worker before what JAX has compiled is dropped


def _megabytes() -> int:
    """Resident memory of this process."""
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20


@pytest.fixture(autouse=True, scope="module")
def _memory_of_files():
    """Frees what a file compiled: JAX keeps every program of the process, Numba every program's types.

    What is left is of use to other files, and is not looked at again when garbage is collected: to do so after every
    file took a fifth of the time of all tests.
    """
    yield _megabytes()
    for name, module in list(sys.modules.items()):
        if name.startswith(f"{cache.PACKAGE}."):
            for function in vars(module).values():
                if isinstance(function, Dispatcher):
                    _forget_types(function)
    _free()
    gc.freeze()


def _forget_types(function: Dispatcher) -> None:
    """Drops what Numba keeps of a function that it has compiled, to print it and to link it to others."""
    for types, compiled in function.overloads.items():
        if not isinstance(compiled.type_annotation, str):  # else it is from the cache
            function.overloads[types] = compiled._replace(type_annotation="")
            compiled.library._shared_module = None  # a copy, made again where it is needed


@pytest.fixture(autouse=True)
def _memory_of_tests(_memory_of_files):
    """Frees what the tests of a file compiled with JAX before the file is over, where that is much."""
    yield
    if _megabytes() > _memory_of_files + MOST_GROWTH:
        _free()


def _free():
    jax.clear_caches()
    gc.collect()
    ctypes.CDLL("libc.so.6").malloc_trim(0)


@pytest.fixture(scope="module")
def optimized():
    """For files whose tests run long: XLA compiles as it does for users, but for its way to emit code."""
    jax.config.update("jax_disable_most_optimizations", False)
    yield
    jax.config.update("jax_disable_most_optimizations", True)
