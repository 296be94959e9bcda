"""A position key that tells all positions apart (fills `search.kernel.key_slots`)."""

from __future__ import annotations

import numpy as np

from boardrl.host.compile_options import compiled
from boardrl.host.slots import key
from search.kernel.control_block import SALT


@compiled
def position_key(rows, at, top, control, work):
    return np.uint64(key(rows[at])) ^ np.uint64(control[SALT])
