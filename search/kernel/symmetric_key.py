"""A position key that is the same for all mirror images: the least of their keys (fills `search.kernel.key_slots`)."""

from __future__ import annotations

import numpy as np

from boardrl.host.compile_options import compiled
from boardrl.host.slots import NUM_SYMMETRIES, key, symmetric
from search.kernel.control_block import SALT


@compiled
def position_key(rows, at, top, control, work):
    least = np.uint64(key(rows[at]))
    for number in range(1, NUM_SYMMETRIES):
        symmetric(rows[at], number, rows[top], work)
        least = min(least, np.uint64(key(rows[top])))
    return least ^ np.uint64(control[SALT])
