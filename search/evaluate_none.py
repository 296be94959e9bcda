"""No evaluation: the game is scored as it stands, which is 0 for all until it is over."""

from __future__ import annotations

import numba
import numpy as np

from boardrl.facet import NUM_PLAYERS, returns


@numba.njit(cache=True, nogil=True)
def evaluate(row, seat, weights, scratch, work):
    returns(row, scratch, work)
    return np.float64(scratch[seat])


@numba.njit(cache=True, nogil=True)
def evaluate_all(row, out, weights, scratch, work):
    returns(row, scratch, work)
    for player in range(NUM_PLAYERS):
        out[player] = scratch[player]
