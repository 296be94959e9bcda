"""Bitboard primitives on the host: two machine instructions, a hash, and the workspace of a successor function."""

from __future__ import annotations

from typing import Any, TypeAlias

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

# In compiled code an Int is an int64 and a Word a uint64; mypy sees Python's types, in which these would not mix.
Int: TypeAlias = Any
Word: TypeAlias = Any

# A workspace is one uint64 array, initially zero: a header, a stack of chains to follow, and as many notes and slots
# of a hash table as fit. A row's note holds the cells from which it was followed; the table finds rows by their board.
STAMP, TRUNCATED, CHAINS, SCRATCH = 0, 1, 2, 4  # words of the header; SCRATCH has four
HEADER = 8
NOT_FOUND = -1


def _popcount(context: Any, word: Any) -> Any:
    """The number of set bits of a uint64, as int64."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), emit


def _lowest(context: Any, word: Any) -> Any:
    """The index of the lowest set bit of a nonzero uint64, as int64."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), emit


popcount: Any = intrinsic(_popcount)
lowest: Any = intrinsic(_lowest)


@numba.njit(cache=True, nogil=True)
def mix(key: Word, word: Word) -> Word:
    """Adds a word to a hash (multiply and fold; the constant is 2⁶⁴ divided by φ)."""
    key = (key ^ word) * np.uint64(0x9E3779B97F4A7C15)
    return key ^ (key >> np.uint64(29))


def work_words(chains: int, *, stack: int, note: int) -> int:
    """The length of a workspace for that many chains, a power of two, with notes of `note` words."""
    return HEADER + stack + chains * (note + 2)


@numba.njit(cache=True, nogil=True)
def begin_chains(work: np.ndarray, stack: Int, note: Int) -> Int:
    """Empties the table, by a new stamp, and returns the number of chains that the workspace can hold."""
    if work[CHAINS] == np.uint64(0):
        most = 1
        while HEADER + stack + 2 * most * (note + 2) <= work.shape[0]:
            most *= 2
        work[CHAINS] = np.uint64(most)
    chains = np.int64(work[CHAINS])
    work[STAMP] += np.uint64(1)
    if work[STAMP] >> np.uint64(32):  # all stamps used
        work[HEADER + stack + chains * note :] = np.uint64(0)
        work[STAMP] = np.uint64(1)
    return chains


@numba.njit(cache=True, nogil=True)
def slot_row(work: np.ndarray, slot: Int) -> Int:
    """The row in a slot of the table, or NOT_FOUND; entries of earlier calls count as empty."""
    entry = work[slot]
    return np.int64(entry & np.uint64(0xFFFFFFFF)) if entry >> np.uint64(32) == work[STAMP] else NOT_FOUND


@numba.njit(cache=True, nogil=True)
def fill_slot(work: np.ndarray, slot: Int, row: Int) -> None:
    work[slot] = work[STAMP] << np.uint64(32) | np.uint64(row)
