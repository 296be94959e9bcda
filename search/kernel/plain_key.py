"""The table tells all positions apart."""

from __future__ import annotations

import numba
import numpy as np

from boardrl.host.slots import key
from search.kernel.control_block import SALT


@numba.njit(cache=True, nogil=True)
def identity(rows, at, top, control, work):
    return np.uint64(key(rows[at])) ^ np.uint64(control[SALT])
