"""Sets of actions as bits of words: action k is bit k % 64 of word k // 64, as `legal` of a facet writes them."""

from __future__ import annotations

import numpy as np

from boardrl.host.compile_options import compiled
from boardrl.lowering.intrinsics import cttz, popcount

BITS = 64  # of a word


def num_words(num_actions: int) -> int:
    """The number of words that hold a set of so many actions."""
    return -(-num_actions // BITS)


def pack(flags: np.ndarray) -> np.ndarray:
    """[W] uint64 of [A] bool."""
    padded = np.zeros(num_words(flags.size) * BITS, np.uint8)
    padded[: flags.size] = flags.reshape(-1)
    return np.packbits(padded, bitorder="little").view(np.uint64)


def unpack(mask: np.ndarray, num_actions: int) -> np.ndarray:
    """[..., A] bool of [..., W] words."""
    bytes_of = np.ascontiguousarray(mask).view(np.uint8)
    return np.unpackbits(bytes_of, axis=-1, count=num_actions, bitorder="little").astype(np.bool_)


@compiled
def is_set(mask, action):
    """Whether an action is in the set."""
    return (mask[action >> 6] >> np.uint64(action & 63)) & np.uint64(1) != np.uint64(0)


@compiled
def num_set(mask, words):
    """How many actions are in the set."""
    total = np.int64(0)
    for word in range(words):
        total += np.int64(popcount(mask[word]))
    return total


@compiled
def nth_set(mask, words, nth):
    """The action of that number in the set, the first being 0; -1 if there are not so many."""
    for word in range(words):
        bits = mask[word]
        count = np.int64(popcount(bits))
        if nth < count:
            for _ in range(nth):
                bits &= bits - np.uint64(1)
            return word * 64 + np.int64(cttz(bits))
        nth -= count
    return -1


@compiled
def pick(mask, words, fraction):
    """One of the actions in the set, each for an equal part of 0 ≤ fraction < 1; 0 where the set is empty."""
    return max(nth_set(mask, words, np.int64(fraction * num_set(mask, words))), 0)


@compiled
def next_set(mask, words, start):
    """The first action of the set from `start` on; -1 if there is none."""
    word = start >> 6
    if word >= words:
        return -1
    bits = mask[word] & (~np.uint64(0) << np.uint64(start & 63))
    while bits == np.uint64(0):
        word += 1
        if word == words:
            return -1
        bits = mask[word]
    return word * 64 + np.int64(cttz(bits))
