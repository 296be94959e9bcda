"""Random numbers for compiled code: a stream is one 64-bit word, which is mixed to get the next.

The mixer is the finaliser of SplitMix64 (Steele, Lea and Flood 2014) behind its golden-ratio step.
"""

from __future__ import annotations

import numpy as np

from boardrl.host.compile_options import compiled

GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2⁶⁴ / the golden ratio


@compiled
def mix(word):
    """The next word of a stream."""
    word = word + GOLDEN
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@compiled
def fraction(word):
    """A number in [0, 1)."""
    return np.float64(word >> np.uint64(11)) * 2.0**-53


@compiled
def below(word, count):
    """An integer from 0 to count − 1, for counts below 2³²."""
    return np.int64(((word >> np.uint64(32)) * np.uint64(count)) >> np.uint64(32))
