"""How functions of kernels are compiled."""

from __future__ import annotations

from typing import Any

from numba import njit

# Kept on disk, and run beside other threads. Without the wrapper by which C code would call it, which nobody needs and
# which is a tenth of the time to compile a search.
OPTIONS: Any = {"cache": True, "nogil": True, "no_cfunc_wrapper": True}

compiled = njit(**OPTIONS)

# For functions that compiled code alone calls: with neither a wrapper for Python nor machine code of their own, which
# their callers have (boardrl.system.numba_inner).
INNER: Any = {**OPTIONS, "no_cpython_wrapper": True}

inner = njit(**INNER)
