"""Random numbers of compiled play: a stream is a counter, whose words are mixed; draws in proportion to weights."""

from __future__ import annotations

import numpy as np

from boardrl.host.compile_options import compiled

GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2⁶⁴ / the golden ratio, the step of a stream


@compiled
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


@compiled
def uniform(dice):
    """A number in [0, 1), the next of a sequence (SplitMix64, Steele et al. 2014)."""
    dice[0] += GOLDEN
    return np.float64(mix(dice[0]) >> np.uint64(11)) * 2.0**-53


@compiled
def mix(word):
    """64 bits, well mixed."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@compiled
def stream(seed, number):
    """The word that stream `number` of a seed begins with."""
    return mix(np.uint64(seed) ^ mix(np.uint64(number)))


@compiled
def fraction(first, index):
    """float32 in [0, 1): number `index` of the stream that begins with `first`, without those before it."""
    word = mix(first + GOLDEN * np.uint64(index + 1))
    return np.float32(word >> np.uint64(40)) * np.float32(2.0**-24)


@compiled
def sampled(weights, count, share):
    """An index below `count` in proportion to float32 weights, by a number in [0, 1), as `sampling.sample` draws it."""
    total = np.float32(0)
    for index in range(count):
        total += weights[index]
    drawn_share, running, found = np.float32(share * total), np.float32(0), 0
    for index in range(count):
        running += weights[index]
        if weights[index] > 0:
            found = index
            if running > drawn_share:
                break
    return found
