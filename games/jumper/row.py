"""A position as a row of 64-bit words, and the host functions that take one action at a time.

Up to 8×8 a row has four words: white, black, empty and the rest, and cell (r, c) is bit 8r + c. Up to 16×16 it has
thirteen: four words each of white, black and empty, with bit 16r + c, and the rest. The bit of a cell does not depend
on the size of the board, so the successor functions need not know it: cells off the board are in none of the three.

The rest: bit 0 the seat to move, from bit 8 on the bit number of a chain's cell plus 1, or 0 without a chain;
from bit 24 on the size; from bit 32 on the number of empty cells when the players begin, after the random deal.
"""

from __future__ import annotations

import functools
from typing import Any

import numba
import numpy as np

from boardrl.game import CHANCE, TERMINAL
from games.jumper.bits import Int, Word, popcount
from games.jumper.rules import BLACK, DEAD, DIRECTIONS, EMPTY, NO_CHAIN, PLANES, WHITE, Rules, of_board

NARROW_WORDS, WIDE_WORDS = 4, 13
NARROW_SIZE, WIDE_SIZE = 8, 16  # the largest boards
WAYS = np.array(DIRECTIONS, np.int64)
ONE, ZERO = np.uint64(1), np.uint64(0)
CHAIN_BITS = np.uint64(0xFFFF00)


# The rest


@numba.njit(cache=True, nogil=True)
def chain_bit(rest: Word) -> Int:
    """The bit number of the last cell of the unfinished chain, or NO_CHAIN."""
    return np.int64(rest >> np.uint64(8) & np.uint64(0xFFFF)) - 1


@numba.njit(cache=True, nogil=True)
def turn_ended(rest: Word) -> Word:
    """The last word after the turn: the other seat, no chain."""
    return rest & ~CHAIN_BITS ^ ONE


@numba.njit(cache=True, nogil=True)
def size_of(rest: Word) -> Int:
    return np.int64(rest >> np.uint64(24) & np.uint64(0xFF))


@numba.njit(cache=True, nogil=True)
def actor_of(rest: Word, num_empty: Int) -> Int:
    """The seat to act, CHANCE or TERMINAL."""
    if num_empty == 0:
        return TERMINAL
    return CHANCE if num_empty > np.int64(rest >> np.uint64(32)) else np.int64(rest & ONE)


# Cells


@numba.njit(cache=True, nogil=True)
def stride(row: np.ndarray) -> Int:
    """The distance between the bits of two neighbouring rows."""
    return 8 if row.shape[0] == NARROW_WORDS else 16


@numba.njit(cache=True, nogil=True)
def piece(row: np.ndarray, bit: Int) -> Int:
    """The content of a cell of the board, by its bit number."""
    part = row.shape[0] // 3
    word, mask = bit >> 6, ONE << np.uint64(bit & 63)
    if row[word] & mask:
        return WHITE
    if row[part + word] & mask:
        return BLACK
    return EMPTY if row[2 * part + word] & mask else DEAD


@numba.njit(cache=True, nogil=True)
def put(row: np.ndarray, bit: Int, what: Int) -> None:
    """Puts a piece on a cell, or makes it dead or empty."""
    part = row.shape[0] // 3
    word, mask = bit >> 6, ONE << np.uint64(bit & 63)
    for colour, start in ((WHITE, 0), (BLACK, part), (EMPTY, 2 * part)):
        if what == colour:
            row[start + word] |= mask
        else:
            row[start + word] &= ~mask


@numba.njit(cache=True, nogil=True)
def count_empty(row: np.ndarray) -> Int:
    part = row.shape[0] // 3
    total = 0
    for word in range(2 * part, 3 * part):
        total += popcount(row[word])
    return total


@numba.njit(cache=True, nogil=True)
def lands(row: np.ndarray, bit: Int, way: Int) -> bool:
    """Whether a piece on a cell could hop in a direction."""
    width, size = stride(row), size_of(row[-1])
    down, right = bit // width + 2 * WAYS[way, 0], bit % width + 2 * WAYS[way, 1]
    if not (0 <= down < size and 0 <= right < size):
        return False
    landing = width * down + right
    jumped = piece(row, (bit + landing) >> 1)
    return piece(row, landing) == EMPTY and jumped in (WHITE, BLACK)


# The functions of boardrl.host.slots that take one action at a time


@numba.njit(cache=True, nogil=True)
def write_first(row: np.ndarray, size: Int, num_dealt: Int) -> None:
    """Writes the initial state: the empty board."""
    row[:] = ZERO
    row[-1] = np.uint64(size) << np.uint64(24) | np.uint64(size * size - num_dealt) << np.uint64(32)
    for cell in range(size * size):
        put(row, stride(row) * (cell // size) + cell % size, EMPTY)


@numba.njit(cache=True, nogil=True)
def write_moves(row: np.ndarray, mask: np.ndarray) -> Int:
    """Writes the mask of the actions of the player to move, and returns their number."""
    mask[:] = False
    size, width, chain = size_of(row[-1]), stride(row), chain_bit(row[-1])
    mover = WHITE + np.int64(row[-1] & ONE)
    cells = size * size
    total = 0
    for cell in range(cells):
        bit = width * (cell // size) + cell % size
        here = piece(row, bit)
        if here == EMPTY and chain == NO_CHAIN:
            mask[cell] = True
            total += 1
        elif here == mover and chain in (NO_CHAIN, bit):
            for way in range(8):
                if lands(row, bit, way):
                    mask[cells * (1 + way) + cell] = True
                    total += 1
    return total


@numba.njit(cache=True, nogil=True)
def legal(row: np.ndarray, mask: np.ndarray, work: np.ndarray) -> None:
    """Writes [MASK_WORDS] uint64: the mask of legal actions."""
    mask[:] = ZERO
    if actor_of(row[-1], count_empty(row)) < 0:
        return
    size = size_of(row[-1])
    flags = np.zeros(9 * size * size + 1, np.bool_)
    write_moves(row, flags)
    flags[-1] = chain_bit(row[-1]) != NO_CHAIN
    for action in range(flags.shape[0]):
        mask[action >> 6] |= np.uint64(flags[action]) << np.uint64(action & 63)


@numba.njit(cache=True, nogil=True)
def chance(row: np.ndarray, probs: np.ndarray, work: np.ndarray) -> None:
    """Writes [C] float32: probabilities of the outcomes."""
    probs[:] = 0
    if actor_of(row[-1], count_empty(row)) == CHANCE:
        total = write_moves(row, probs)
        for outcome in range(probs.shape[0]):
            probs[outcome] /= np.float32(total)


@numba.njit(cache=True, nogil=True)
def step(row: np.ndarray, move: Int, out: np.ndarray, work: np.ndarray) -> None:
    """Writes the state after an action or an outcome."""
    out[:] = row
    now = actor_of(row[-1], count_empty(row))
    if now == TERMINAL:
        return
    size, width = size_of(row[-1]), stride(row)
    kind, cell = divmod(move, size * size)
    bit = width * (cell // size) + cell % size
    mover = WHITE + np.int64(row[-1] & ONE)
    out[-1] = turn_ended(row[-1])
    if kind == 0:
        put(out, bit, mover)
    elif kind <= 8:
        offset = width * WAYS[kind - 1, 0] + WAYS[kind - 1, 1]
        if piece(row, bit + offset) != mover:
            put(out, bit + offset, DEAD)
        landing = bit + 2 * offset
        put(out, landing, mover)
        for way in range(8):
            if now != CHANCE and lands(out, landing, way):
                out[-1] = row[-1] & ~CHAIN_BITS | np.uint64(landing + 1) << np.uint64(8)


@numba.njit(cache=True, nogil=True)
def observe(row: np.ndarray, player: Int, out: np.ndarray, work: np.ndarray) -> None:
    """Writes the planes of Rules.observe."""
    size, width, chain = size_of(row[-1]), stride(row), chain_bit(row[-1])
    my_turn = np.int64(row[-1] & ONE) == player
    for cell in range(size * size):
        bit = width * (cell // size) + cell % size
        here, at = piece(row, bit), PLANES * cell
        out[at] = here == WHITE + player
        out[at + 1] = here == BLACK - player
        out[at + 2] = here == DEAD
        out[at + 3] = chain == bit
        out[at + 4] = my_turn


# States to rows and back


def pack(game: Rules, state: Any) -> np.ndarray:
    """[..., WORDS] rows of a state or a batch of states."""
    board, turn, chain = np.asarray(state.board), np.asarray(state.turn), np.asarray(state.chain)
    words, width, part = _layout(game)
    word, place = _bits(game)
    rows = np.zeros((*board.shape[:-1], words), np.uint64)
    for colour, start in ((WHITE, 0), (BLACK, part), (EMPTY, 2 * part)):
        held = (board == colour).astype(np.uint64) << place
        for number in range(part):
            rows[..., start + number] = np.where(word == number, held, ZERO).sum(-1, dtype=np.uint64)
    reached = np.where(chain == NO_CHAIN, 0, width * (chain // game.size) + chain % game.size + 1)
    fixed = game.size << 24 | (game.num_cells - game.num_dealt) << 32
    rows[..., -1] = turn.astype(np.uint64) | reached.astype(np.uint64) << np.uint64(8) | np.uint64(fixed)
    return rows


def unpack(game: Rules, rows: np.ndarray) -> Any:
    """The state packed in [WORDS], or the batch of states packed in [B, WORDS], with NumPy leaves."""
    _, width, part = _layout(game)
    word, place = _bits(game)
    board = np.full((*rows.shape[:-1], game.num_cells), DEAD, np.int8)
    for colour, start in ((WHITE, 0), (BLACK, part), (EMPTY, 2 * part)):
        board[rows[..., start + word] >> place & ONE == ONE] = colour
    rest = rows[..., -1]
    reached = (rest >> np.uint64(8) & np.uint64(0xFFFF)).astype(np.int32) - 1
    chain = np.where(reached < 0, NO_CHAIN, game.size * (reached // width) + reached % width)
    leaves: Any = board, (rest & ONE).astype(np.int32), chain.astype(np.int32)
    return of_board(*leaves)


@functools.cache
def _bits(game: Rules) -> tuple[np.ndarray, np.ndarray]:
    """[size²] for each cell: the index of its word within a colour, and its bit in that word."""
    cells = np.arange(game.num_cells)
    bits = _layout(game)[1] * (cells // game.size) + cells % game.size
    return bits // 64, (bits % 64).astype(np.uint64)


def _layout(game: Rules) -> tuple[int, int, int]:
    """The number of words of a row, the stride of its bits, and the number of words of one colour."""
    return (NARROW_WORDS, 8, 1) if game.size <= NARROW_SIZE else (WIDE_WORDS, 16, 4)
