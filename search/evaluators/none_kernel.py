"""No evaluation: the returns so far, which are 0 for all in most games until they are over."""

from __future__ import annotations

import numpy as np

from boardrl.host.compile_options import compiled, inner
from boardrl.host.slots import NUM_PLAYERS, returns

BATCHED = False  # whether `prepare` does anything


@inner
def prepare(rows, first, count, seat, weights, scratch, work):
    """Nothing is gained by many at once."""


@inner
def prepare_all(rows, first, count, weights, scratch, work):
    """Nothing is gained by many at once."""


@compiled
def evaluate(rows, at, seat, weights, scratch, work):
    returns(rows[at], scratch, work)
    return np.float64(scratch[seat])


@compiled
def evaluate_all(rows, at, out, weights, scratch, work):
    returns(rows[at], scratch, work)
    for player in range(NUM_PLAYERS):
        out[player] = scratch[player]


@inner
def sample_all(rows, at, out, stream, weights, scratch, work):
    """Nothing is left to chance."""
    evaluate_all(rows, at, out, weights, scratch, work)
