"""The facet of boards up to 8×8: every game has a copy of this module, with constants of its own.

What takes long to compile is imported, so that boards of all sizes share it.
"""

from __future__ import annotations

import numba
import numpy as np

from games.jumper.bits import TRUNCATED
from games.jumper.narrow import WORDS, WORK_WORDS, actor, features, key, returns, successors
from games.jumper.row import chance, legal, observe, step, write_first

__all__ = [
    "TRUNCATED",
    "WORDS",
    "WORK_WORDS",
    "actor",
    "chance",
    "features",
    "init",
    "key",
    "legal",
    "observe",
    "returns",
    "step",
    "successors",
]

SIZE = 6
NUM_DEALT = 0


@numba.njit(cache=True, nogil=True)
def init(row: np.ndarray) -> None:
    """Writes the first state."""
    write_first(row, SIZE, NUM_DEALT)
