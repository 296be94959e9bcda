"""A value net, compiled (boardrl.host.lower_value): each player's value is what the net says as that player sees it."""

from __future__ import annotations

import numpy as np

from boardrl.host.compile_options import compiled, inner
from boardrl.host.slots import NUM_PLAYERS
from boardrl.host.value_slots import evaluate as expect
from boardrl.host.value_slots import evaluate_all as expect_all

NET_WORK = NUM_PLAYERS + NUM_PLAYERS % 2  # where the net's workspace begins in the scratch memory, at a whole word
BATCHED = False  # whether `prepare` does anything


@inner
def prepare(rows, first, count, seat, weights, scratch, work):
    """Nothing is gained by many at once."""


@inner
def prepare_all(rows, first, count, weights, scratch, work):
    """Nothing is gained by many at once."""


@compiled
def evaluate(rows, at, seat, weights, scratch, work):
    expect(weights, rows[at], seat, scratch, scratch[NET_WORK:].view(np.uint64))
    return np.float64(scratch[seat])


@compiled
def evaluate_all(rows, at, out, weights, scratch, work):
    expect_all(weights, rows[at], scratch, scratch[NET_WORK:].view(np.uint64))
    for player in range(NUM_PLAYERS):
        out[player] = scratch[player]


@inner
def sample_all(rows, at, out, stream, weights, scratch, work):
    """Nothing is left to chance."""
    evaluate_all(rows, at, out, weights, scratch, work)
