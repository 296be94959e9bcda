"""A faster start of Numba in a process whose compiled code is cached.

Numba imports all that it can compile, from dictionaries to polynomials, before it loads a function from its cache,
though only compiling needs it; and with it `scipy.linalg`, to see whether `np.dot` can be compiled. Together that was
a quarter of the start of a command. `install` leaves both to the first compilation, and the second to the first
function of linear algebra: our kernels have products of their own (boardrl.lowering.vectors).
"""

from __future__ import annotations

import importlib.util
import sys
from typing import Any

from numba.core.caching import FunctionCache
from numba.core.cpu import CPUContext
from numba.core.runtime import rtsys

_load_registries = CPUContext.load_additional_registries


def install() -> None:
    """Changes Numba for all functions of this process."""
    FunctionCache.load_overload = _load_overload  # type: ignore[method-assign]
    CPUContext.load_additional_registries = _load_additional_registries  # type: ignore[method-assign]


def _load_overload(cache: Any, sig: Any, target_context: Any) -> Any:
    """Numba's `Cache.load_overload` without `target_context.refresh()`, which the compiler itself calls.

    Of what that does, compiled code needs only the memory of arrays (`rtsys`).
    """
    rtsys.initialize(target_context)
    with cache._guard_against_spurious_io_errors():
        return cache._load_overload(sig, target_context)


def _load_additional_registries(context: Any) -> None:
    _import_array_functions()
    _load_registries(context)


def _import_array_functions() -> None:
    """Imports Numba's array functions as the first compilation would, but takes BLAS for granted if SciPy is there.

    Numba checks again, by the real import, when it compiles a function of linear algebra.
    """
    if "numba.np.arraymath" in sys.modules or importlib.util.find_spec("scipy") is None:
        return
    from numba.np import linalg

    check = linalg.ensure_blas
    linalg.ensure_blas = lambda: None
    try:
        from numba.np import arraymath
    finally:
        linalg.ensure_blas = check
    arraymath.ensure_blas = check
