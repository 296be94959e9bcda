"""A value net, compiled (boardrl.host.lower_value): each player's value is what the net says as that player sees it."""

from __future__ import annotations

import numba
import numpy as np

from boardrl.evaluator import evaluate as expect
from boardrl.facet import NUM_PLAYERS

LEAST = -1.0  # that a player can get
MOST = 1.0
NET_WORK = NUM_PLAYERS + NUM_PLAYERS % 2  # where the net's workspace begins in the scratch memory, at a whole word


@numba.njit(cache=True, nogil=True)
def evaluate(row, seat, weights, scratch, work):
    expect(weights, row, seat, scratch, scratch[NET_WORK:].view(np.uint64))
    return min(max(np.float64(scratch[seat]), LEAST), MOST)


@numba.njit(cache=True, nogil=True)
def evaluate_all(row, out, weights, scratch, work):
    for player in range(NUM_PLAYERS):
        out[player] = evaluate(row, player, weights, scratch, work)
