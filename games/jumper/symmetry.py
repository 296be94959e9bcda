"""The eight symmetries of a board: bit 1 of the number reverses the columns, 2 the rows, 4 transposes the board.

A number with several bits applies them in this order.
"""

from __future__ import annotations

import functools

import jax.numpy as jnp
import numba
import numpy as np
from jax import Array

from games.jumper.bits import Int, Word
from games.jumper.row import CHAIN_BITS, chain_bit, piece, put, size_of, stride
from games.jumper.rules import NO_CHAIN, State

NUM_SYMMETRIES = 8
COLUMNS, ROWS, EXCHANGE = 1, 2, 4


def symmetric(size: int, state: State, number: Array) -> State:
    """The state under the symmetry of that number."""
    shown = jnp.asarray(cells_shown(size))[number]
    goes = jnp.asarray(np.argsort(cells_shown(size), axis=1).astype(np.int32))[number]
    chain = jnp.where(state.chain == NO_CHAIN, NO_CHAIN, goes[jnp.maximum(state.chain, 0)])
    return State(state.white[shown], state.black[shown], state.dead[shown], state.turn, chain)


@functools.lru_cache
def cells_shown(size: int) -> np.ndarray:
    """[8, size²] int32: the original cell that each cell of the image shows."""
    images = []
    for number in range(NUM_SYMMETRIES):
        square = np.arange(size * size, dtype=np.int32).reshape(size, size)
        square = square[:, ::-1] if number & COLUMNS else square
        square = square[::-1] if number & ROWS else square
        images.append((square.T if number & EXCHANGE else square).ravel())
    return np.stack(images)


# On the host


@numba.njit(cache=True, nogil=True)
def moved(bit: Int, number: Int, size: Int, width: Int) -> Int:
    """The bit number of a cell's image."""
    row, column = bit // width, bit % width
    if number & COLUMNS:
        column = size - 1 - column
    if number & ROWS:
        row = size - 1 - row
    return width * column + row if number & EXCHANGE else width * row + column


@numba.njit(cache=True, nogil=True)
def rest_of(rest: Word, number: Int, width: Int) -> Word:
    """The last word of the image."""
    if chain_bit(rest) == NO_CHAIN:
        return rest
    return rest & ~CHAIN_BITS | np.uint64(moved(chain_bit(rest), number, size_of(rest), width) + 1) << np.uint64(8)


@numba.njit(cache=True, nogil=True)
def symmetric_cells(row: np.ndarray, number: Int, out: np.ndarray, work: np.ndarray) -> None:
    """Writes the image of a row of any width, cell by cell."""
    size, width = size_of(row[-1]), stride(row)
    out[:] = np.uint64(0)
    out[-1] = rest_of(row[-1], number, width)
    for cell in range(size * size):
        bit = width * (cell // size) + cell % size
        put(out, moved(bit, number, size, width), piece(row, bit))


@numba.njit(cache=True, nogil=True)
def symmetric_words(row: np.ndarray, number: Int, out: np.ndarray, work: np.ndarray) -> None:
    """Writes the image of a row of a board up to 8×8, a whole word per colour at once."""
    rest = row[-1]
    spare = np.uint64(8 - size_of(rest))  # number of columns and rows off the board
    for colour in range(3):
        word = row[colour]
        if number & COLUMNS:
            word = exchanged(word, np.uint64(1), np.uint64(0x5555555555555555))
            word = exchanged(word, np.uint64(2), np.uint64(0x3333333333333333))
            word = exchanged(word, np.uint64(4), np.uint64(0x0F0F0F0F0F0F0F0F)) >> spare
        if number & ROWS:
            word = exchanged(word, np.uint64(8), np.uint64(0x00FF00FF00FF00FF))
            word = exchanged(word, np.uint64(16), np.uint64(0x0000FFFF0000FFFF))
            word = exchanged(word, np.uint64(32), np.uint64(0x00000000FFFFFFFF)) >> (spare * np.uint64(8))
        if number & EXCHANGE:
            word = crossed(word, np.uint64(7), np.uint64(0x00AA00AA00AA00AA))
            word = crossed(word, np.uint64(14), np.uint64(0x0000CCCC0000CCCC))
            word = crossed(word, np.uint64(28), np.uint64(0x00000000F0F0F0F0))
        out[colour] = word
    out[-1] = rest_of(rest, number, 8)


@numba.njit(cache=True, nogil=True)
def exchanged(word: Word, shift: Word, low: Word) -> Word:
    """Swaps the bits under the mask `low` with those `shift` bits higher."""
    return (word >> shift & low) | (word & low) << shift


@numba.njit(cache=True, nogil=True)
def crossed(word: Word, shift: Word, mask: Word) -> Word:
    """Swaps the bits under the mask with those `shift` bits higher; all others stay."""
    differ = (word ^ word >> shift) & mask
    return word ^ differ ^ differ << shift
