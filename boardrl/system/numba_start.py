"""A faster first call of Numba: SciPy's linear algebra is imported when compiled code needs it, not before.

Before its first compilation Numba imports `scipy.linalg`, to see whether `np.dot` can be compiled. That is a sixth of
the start of a command whose compiled code is cached, and our kernels have products of their own
(boardrl.lowering.vectors).
"""

from __future__ import annotations

import importlib.util
import sys


def import_array_functions() -> None:
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
