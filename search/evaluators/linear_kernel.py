"""A weighted sum of the game's features through tanh (Brunton and Cohney 2013, section 2.2)."""

from __future__ import annotations

import math

import numpy as np

from boardrl.host.compile_options import compiled, inner
from boardrl.host.slots import NUM_PLAYERS
from search.evaluators.feature_slots import NUM_FEATURES, features

LEAST = -1.0  # that a player can get
MOST = 1.0
BATCHED = False  # whether `prepare` does anything


@inner
def prepare(rows, first, count, seat, weights, scratch, work):
    """Nothing is gained by many at once."""


@inner
def prepare_all(rows, first, count, weights, scratch, work):
    """Nothing is gained by many at once."""


@compiled
def evaluate(rows, at, seat, weights, scratch, work):
    """tanh Σ w f(position, seat)."""
    features(rows[at], seat, scratch, work)
    total = np.float32(0.0)
    for number in range(NUM_FEATURES):
        total += weights[number] * scratch[number]
    return min(max(np.float64(np.float32(math.tanh(total))), LEAST), MOST)


@compiled
def evaluate_all(rows, at, out, weights, scratch, work):
    for player in range(NUM_PLAYERS):
        out[player] = evaluate(rows, at, player, weights, scratch, work)


@inner
def sample_all(rows, at, out, stream, weights, scratch, work):
    """Nothing is left to chance."""
    evaluate_all(rows, at, out, weights, scratch, work)
