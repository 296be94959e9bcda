"""A kernel that calls one function of a game repeatedly, to measure its time."""

from __future__ import annotations

import numpy as np

from boardrl.host.compile_options import compiled
from boardrl.host.slots import (
    MASK_WORDS,
    NUM_FEATURES,
    NUM_OUTCOMES,
    NUM_PLAYERS,
    OBS_SIZE,
    ROOM,
    WORDS,
    WORK_WORDS,
    act,
    actor,
    chance,
    key,
    legal,
    observe,
    returns,
    settle,
    step,
    successors,
)

try:  # not every game has them
    from boardrl.host.slots import features
except ImportError:
    features = observe
try:
    from boardrl.host.slots import symmetric
except ImportError:
    symmetric = step  # type: ignore[assignment]

FUNCTIONS = (
    *("actor", "legal", "chance", "step", "act", "settle", "successors"),
    *("returns", "observe", "features", "symmetric", "key"),
)
FUNCTION = -1  # the number of the function to call; -1: none


@compiled
def repeat(rows, moves, times):
    """Calls the function on [N] rows in turn; uses the results, so that the calls are not optimised away."""
    work, mask = np.zeros(WORK_WORDS, np.uint64), np.zeros(MASK_WORDS, np.uint64)
    floats = np.zeros(max(OBS_SIZE, NUM_FEATURES, NUM_OUTCOMES, NUM_PLAYERS), np.float32)
    buffer = np.zeros((ROOM if FUNCTION == 6 else 1, WORDS), np.uint64)
    seen, n = 0.0, 0
    for _ in range(times):
        row, move = rows[n], moves[n]
        if FUNCTION == 0:
            seen += actor(row, work)
        elif FUNCTION == 1:
            legal(row, mask, work)
            seen += mask[0] & np.uint64(1)
        elif FUNCTION == 2:
            chance(row, floats, work)
        elif FUNCTION == 3:
            step(row, move, buffer[0], work)
        elif FUNCTION == 4:
            act(row, move, buffer[0], work)
        elif FUNCTION == 5:
            settle(row, move, buffer[0], work)
        elif FUNCTION == 6:
            seen += successors(row, buffer, work)
        elif FUNCTION == 7:
            returns(row, floats, work)
        elif FUNCTION == 8:
            observe(row, 0, floats, work)
        elif FUNCTION == 9:
            features(row, 0, floats, work)
        elif FUNCTION == 10:
            symmetric(row, 1, buffer[0], work)
        elif FUNCTION == 11:
            seen += key(row) & np.uint64(1)
        seen += floats[0] + np.float64(buffer[0, 0] & np.uint64(1))
        n += 1
        if n == len(rows):
            n = 0
    return seen
