"""How functions of kernels are compiled."""

from __future__ import annotations

from typing import Any

from numba import njit

# Kept on disk, and run beside other threads. Without the wrapper by which C code would call it, which nobody needs and
# which is a tenth of the time to compile a search.
OPTIONS: Any = {"cache": True, "nogil": True, "no_cfunc_wrapper": True}

compiled = njit(**OPTIONS)

# For functions that compiled code alone calls: without the wrapper for Python (boardrl.system.numba_wrappers), which
# takes the longer to compile the more arguments a function has.
INNER: Any = {**OPTIONS, "no_cpython_wrapper": True}

inner = njit(**INNER)
