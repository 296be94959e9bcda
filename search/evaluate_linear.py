"""A weighted sum of the game's features through tanh (Brunton and Cohney 2013, section 2.2)."""

from __future__ import annotations

import math

import numba
import numpy as np

from boardrl.facet import NUM_FEATURES, NUM_PLAYERS, features

LEAST = -1.0  # that a player can get
MOST = 1.0


@numba.njit(cache=True, nogil=True)
def evaluate(row, seat, weights, scratch, work):
    """tanh Σ w f(row, seat)."""
    features(row, seat, scratch, work)
    total = np.float32(0.0)
    for number in range(NUM_FEATURES):
        total += weights[number] * scratch[number]
    return min(max(np.float64(np.float32(math.tanh(total))), LEAST), MOST)


@numba.njit(cache=True, nogil=True)
def evaluate_all(row, out, weights, scratch, work):
    for player in range(NUM_PLAYERS):
        out[player] = evaluate(row, player, weights, scratch, work)
