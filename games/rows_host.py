"""The host facet of games in which pieces in a row win, on bitboards: tic-tac-toe and connect four.

A row has three words: the pieces of seat 0, those of seat 1, and the rest: bit 0 the seat to move, from bit 8 on the
winner's seat plus 1, or 0. Cell (r, c) is bit STRIDE · r + c, with a column to spare, so that no row goes on into
the next. Every game has a copy of this module with its own constants.
"""

from __future__ import annotations

import sys
from typing import Any

import numba
import numpy as np

from boardrl.game import TERMINAL
from boardrl.host import Handwritten

HEIGHT = 3
WIDTH = 3
LENGTH = 3  # in a row wins
DROPS = False  # whether pieces fall to the bottom of a column
PLANES_LAST = False  # in observations
SHOWN = (0, 1, 2, 3, 4, 5, 6, 7, 8)  # for each mirror image the cell that each cell shows
NUM_ACTIONS = 9

WORDS = 3
REST = 2
WORK_WORDS = 1
TRUNCATED = 0  # successors never lack room
ROOM = NUM_ACTIONS
STRIDE = WIDTH + 1
CELLS = HEIGHT * WIDTH
ONE = np.uint64(1)
BOARD = np.uint64(sum(1 << (STRIDE * r + c) for r in range(HEIGHT) for c in range(WIDTH)))
COLUMN = np.uint64(sum(1 << (STRIDE * r) for r in range(HEIGHT)))
TOP = np.uint64((1 << WIDTH) - 1)
SHIFTS = (np.uint64(1), np.uint64(STRIDE - 1), np.uint64(STRIDE), np.uint64(STRIDE + 1))
IMAGES = np.array(SHOWN, np.int64)


@numba.njit(cache=True, nogil=True)
def init(row):
    row[:] = np.uint64(0)


@numba.njit(cache=True, nogil=True)
def actor(row, work):
    if row[REST] >> np.uint64(8) or row[0] | row[1] == BOARD:
        return TERMINAL
    return np.int64(row[REST])


@numba.njit(cache=True, nogil=True)
def landing(held, action):
    """The bit on which a piece ends up, 0 where there is no room."""
    if not DROPS:
        return (ONE << np.uint64(STRIDE * (action // WIDTH) + action % WIDTH)) & ~held
    # The pieces of a column lie below its empty cells, whose bits are lower: the highest empty one.
    column = (COLUMN << np.uint64(action)) & ~held
    last = np.uint64(0)
    for _ in range(HEIGHT):
        if column:
            last = column & (np.uint64(0) - column)
            column ^= last
    return last


@numba.njit(cache=True, nogil=True)
def in_a_row(mine):
    """Whether LENGTH pieces are in a row."""
    for way in range(4):
        shift = SHIFTS[way]
        pairs = mine & (mine >> shift)
        rest = mine if LENGTH == 3 else pairs
        if pairs & (rest >> (shift + shift)):
            return True
    return False


@numba.njit(cache=True, nogil=True)
def place(row, bit, out):
    """Writes the row after a piece is put on a bit."""
    seat = np.int64(row[REST] & ONE)
    mine = row[seat] | bit
    out[seat] = mine
    out[1 - seat] = row[1 - seat]
    out[REST] = np.uint64(1 - seat) | (np.uint64(seat + 1) << np.uint64(8) if in_a_row(mine) else np.uint64(0))


@numba.njit(cache=True, nogil=True)
def successors(row, buffer, work):
    if actor(row, work) == TERMINAL:
        return 0
    held = row[0] | row[1]
    count = 0
    for action in range(NUM_ACTIONS):
        bit = landing(held, action)
        if bit:
            place(row, bit, buffer[count])
            count += 1
    return count


@numba.njit(cache=True, nogil=True)
def legal(row, mask, work):
    mask[0] = np.uint64(0)
    over = actor(row, work) == TERMINAL
    for action in range(NUM_ACTIONS):
        free = not over and landing(row[0] | row[1], action) != np.uint64(0)
        mask[0] |= np.uint64(free) << np.uint64(action)


@numba.njit(cache=True, nogil=True)
def step(row, move, out, work):
    if actor(row, work) == TERMINAL:
        out[:] = row
    else:
        place(row, landing(row[0] | row[1], np.int64(move)), out)


@numba.njit(cache=True, nogil=True)
def chance(row, probs, work):
    """There are no dice."""


@numba.njit(cache=True, nogil=True)
def returns(row, out, work):
    winner = np.int64(row[REST] >> np.uint64(8))
    out[0] = (winner == 1) - (winner == 2)
    out[1] = -out[0]


@numba.njit(cache=True, nogil=True)
def observe(row, player, out, work):
    for cell in range(CELLS):
        bit = ONE << np.uint64(STRIDE * (cell // WIDTH) + cell % WIDTH)
        at, apart = (3 * cell, 1) if PLANES_LAST else (cell, CELLS)
        out[at] = row[player] & bit != np.uint64(0)
        out[at + apart] = row[1 - player] & bit != np.uint64(0)
        out[at + 2 * apart] = np.int64(row[REST] & ONE) == player


@numba.njit(cache=True, nogil=True)
def symmetric(row, number, out, work):
    out[0] = out[1] = np.uint64(0)
    out[REST] = row[REST]
    for cell in range(CELLS):
        shown = IMAGES[CELLS * number + cell]
        bit, shows = STRIDE * (cell // WIDTH) + cell % WIDTH, STRIDE * (shown // WIDTH) + shown % WIDTH
        for seat in range(2):
            out[seat] |= (row[seat] >> np.uint64(shows) & ONE) << np.uint64(bit)


@numba.njit(cache=True, nogil=True)
def key(row):
    """64 well-mixed bits; two rounds a word, so that no word's high bits are undone by the next."""
    mixed = np.uint64(0x9E3779B97F4A7C15)
    for word in range(WORDS):
        mixed = (mixed ^ row[word]) * np.uint64(0xD6E8FEB86659FD93)
        mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(0xFF51AFD7ED558CCD)
        mixed ^= mixed >> np.uint64(29)
    return mixed


def facet(
    state: Any, *, height: int, width: int, length: int, drops: bool, planes_last: bool, shown: np.ndarray
) -> Handwritten | None:
    """The facet of a game whose states are `state(board, turn, winner)`, if its board fits into a word.

    Args:
      shown: [S, cells] for each mirror image the cell that each cell shows.
    """
    if height * (width + 1) > 64:
        return None
    bits = np.array([(width + 1) * r + c for r in range(height) for c in range(width)], np.uint64)
    shape = (height, width) if planes_last else (height * width,)

    def pack(states: Any) -> np.ndarray:
        board, turn, winner = (np.asarray(leaf) for leaf in (states.board, states.turn, states.winner))
        cells = board.reshape(*turn.shape, height * width)
        words = [((cells == mark).astype(np.uint64) << bits).sum(-1, dtype=np.uint64) for mark in (1, 2)]
        rest = turn.astype(np.uint64) | (winner + 1).astype(np.uint64) << np.uint64(8)
        return np.stack([*words, rest], -1)

    def unpack(rows: np.ndarray) -> Any:
        cells = [(rows[..., seat, None] >> bits & ONE).astype(np.int8) for seat in range(2)]
        board = (cells[0] + 2 * cells[1]).reshape(*rows.shape[:-1], *shape)
        turn = (rows[..., REST] & ONE).astype(np.int32)
        return state(board, turn, (rows[..., REST] >> np.uint64(8)).astype(np.int32) - 1)

    constants = {
        "HEIGHT": height,
        "WIDTH": width,
        "LENGTH": length,
        "DROPS": drops,
        "PLANES_LAST": planes_last,
        "SHOWN": tuple(shown.ravel().tolist()),
    }
    return Handwritten(sys.modules[__name__], constants, pack, unpack)
