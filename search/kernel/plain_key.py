"""A position key that tells all positions apart (fills `search.kernel.key_slots`)."""

from __future__ import annotations

import numba
import numpy as np

from boardrl.host.slots import key
from search.kernel.control_block import SALT


@numba.njit(cache=True, nogil=True)
def position_key(rows, at, top, control, work):
    return np.uint64(key(rows[at])) ^ np.uint64(control[SALT])
