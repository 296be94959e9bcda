"""The facet of boards up to 8×8: every game has a copy of this module, with its own constants.

Functions that take long to compile are imported, so that boards of all sizes share them.
"""

from __future__ import annotations

import numba
import numpy as np

from games.jumper.bits import TRUNCATED
from games.jumper.narrow import WORDS, WORK_WORDS, actor, features, key, returns, successors
from games.jumper.row import chance, legal, observe, step, write_first
from games.jumper.symmetry import symmetric_words as symmetric

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

SIZE = 6
NUM_DEALT = 0
ROOM = 64  # for a place on every cell


@numba.njit(cache=True, nogil=True)
def init(row: np.ndarray) -> None:
    """Writes the initial state."""
    write_first(row, SIZE, NUM_DEALT)
