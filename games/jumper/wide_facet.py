"""The facet of boards up to 16×16: every game has a copy of this module, with its own constants.

Functions that take long to compile are imported, so that boards of all sizes share them.
"""

from __future__ import annotations

import numba
import numpy as np

from games.jumper.bits import TRUNCATED
from games.jumper.row import chance, legal, observe, step, write_first
from games.jumper.symmetry import symmetric_cells as symmetric
from games.jumper.wide import WORDS, WORK_WORDS, actor, features, key, returns, successors

__all__ = [
    "ROOM",
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
    "symmetric",
]

SIZE = 16
NUM_DEALT = 0
ROOM = 256  # for a place on every cell


@numba.njit(cache=True, nogil=True)
def init(row: np.ndarray) -> None:
    """Writes the initial state."""
    write_first(row, SIZE, NUM_DEALT)
