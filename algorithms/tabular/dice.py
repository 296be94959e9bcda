"""Random numbers of compiled play: a stream is a counter, whose words are mixed; draws in proportion to weights."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def drawn(weights, dice):
    """An index in proportion to its weight."""
    total = 0.0
    for index in range(len(weights)):
        total += weights[index]
    rest, found = uniform(dice) * total, 0
    for index in range(len(weights)):
        if weights[index] > 0:
            found = index
            rest -= weights[index]
            if rest < 0:
                break
    return found


@njit(cache=True, nogil=True)
def uniform(dice):
    """A number in [0, 1), the next of a sequence (SplitMix64, Steele et al. 2014)."""
    dice[0] += np.uint64(0x9E3779B97F4A7C15)
    return np.float64(mix(dice[0]) >> np.uint64(11)) * 2.0**-53


@njit(cache=True, nogil=True)
def mix(word):
    """64 bits, well mixed."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))
