"""Transposition table: values, bounds and best moves of positions searched before.

[N, 2] uint64, N a power of two. The first word of an entry is the position's key, the second holds, from the
highest bit down: the value's 32 bits as a float32, the best move's 16 bits, the depth's 8, and 8 bits for the age
(5), whether no unfinished line is below (1) and the bound (2).

An entry is used only where a search without the table would have found the same value: at the same depth, or at a
smaller one if every line below reached the end of the game. Positions that were cut short because memory ran out are
never stored. So the table never changes what a search returns.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.core import types
from numba.extending import intrinsic

from boardrl.host.compile_options import compiled

ENTRY_BYTES = 16
NO_ENTRY, LOWER, UPPER, EXACT = 0, 1, 2, 3  # the value is at least this, at most this, this
NO_MOVE = 0
MOST_DEPTH = 255
AGES = 32


def _float_bits(typing, value):
    """The 32 bits of a float32, as uint64."""

    def generate(context, builder, signature, args):
        bits = builder.bitcast(args[0], context.get_value_type(types.uint32))
        return builder.zext(bits, context.get_value_type(types.uint64))

    return types.uint64(types.float32), generate


def _bits_float(typing, word):
    """The float32 of the lowest 32 bits."""

    def generate(context, builder, signature, args):
        bits = builder.trunc(args[0], context.get_value_type(types.uint32))
        return builder.bitcast(bits, context.get_value_type(types.float32))

    return types.float32(types.uint64), generate


float_bits: Any = intrinsic(_float_bits)
bits_float: Any = intrinsic(_bits_float)


@compiled
def find(table, key):
    """The second word of the position's entry, or 0."""
    slot = np.int64(key & np.uint64(table.shape[0] - 1))
    if table[slot, 0] == key:
        return table[slot, 1]
    if table[slot ^ 1, 0] == key:
        return table[slot ^ 1, 1]
    return np.uint64(0)


@compiled
def value_of(entry):
    return np.float64(bits_float(entry >> np.uint64(32)))


@compiled
def move_of(entry):
    return np.int64(entry >> np.uint64(16) & np.uint64(0xFFFF))


@compiled
def depth_of(entry):
    return np.int64(entry >> np.uint64(8) & np.uint64(0xFF))


@compiled
def bound_of(entry):
    return np.int64(entry & np.uint64(3))


@compiled
def is_complete(entry):
    """Whether all lines below reached the end of the game."""
    return entry & np.uint64(4) != np.uint64(0)


@compiled
def answers(entry, depth):
    """Whether the entry's value or bound is that of a search to `depth`."""
    if entry == np.uint64(0):
        return False
    return depth_of(entry) == depth or (is_complete(entry) and depth_of(entry) < depth)


@compiled
def store(table, key, value, move, depth, complete, bound, age):
    """Stores an entry; of two buckets it replaces the older entry, then the shallower one."""
    slot = np.int64(key & np.uint64(table.shape[0] - 1))
    other = slot ^ 1
    if table[slot, 0] != key and (table[other, 0] == key or worth(table[other, 1], age) < worth(table[slot, 1], age)):
        slot = other
    table[slot, 0] = key
    table[slot, 1] = (
        float_bits(np.float32(value)) << np.uint64(32)
        | np.uint64(move) << np.uint64(16)
        | np.uint64(min(depth, MOST_DEPTH)) << np.uint64(8)
        | np.uint64(age) << np.uint64(3)
        | np.uint64(complete) << np.uint64(2)
        | np.uint64(bound)
    )


@compiled
def worth(entry, age):
    """The replacement priority of an entry: low ones are replaced first."""
    if entry == np.uint64(0):
        return -1
    return depth_of(entry) + (MOST_DEPTH + 1) * (np.int64(entry >> np.uint64(3) & np.uint64(AGES - 1)) == age)
