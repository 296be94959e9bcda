"""Turns distinguished by their paths, on boards of any size: counts, and the n-th path for uniform sampling.

Compiled, on one board [size²] int8 with moves made and unmade in place. Paths to the same board are followed
separately; search works on distinct boards instead (host.py).
"""

from __future__ import annotations

import numba
import numpy as np

from games.jumper.bits import Int
from games.jumper.rules import DEAD, DIRECTIONS, EMPTY

WAYS = np.array(DIRECTIONS, np.int64)
# In place of a chain's cell: the turn is about to begin. An int64, because a recursive function loaded from the cache
# crashes if the inner call has other argument types than the outer one, such as a literal's (numba issue 6061).
NO_CELL = np.int64(-1)
DONE = -1


@numba.njit(cache=True, nogil=True)
def count(board: np.ndarray, size: Int, mover: Int, cell: Int, depth: Int) -> Int:
    """The number of sequences of `depth` turns from here; a finished game is one sequence.

    With a cell, only those whose first turn continues from there by at least one hop.
    """
    total = 0
    if cell == NO_CELL:
        if depth == 0:
            return 1
        finished = True
        for at in range(size * size):
            if board[at] == EMPTY:
                finished = False
                board[at] = mover
                total += count(board, size, 3 - mover, NO_CELL, depth - 1) if depth > 1 else 1
                board[at] = EMPTY
            elif board[at] == mover:
                total += count(board, size, mover, at, depth)
        return 1 if finished else total
    for way in range(8):
        jumped, landing = hop(board, size, cell, way)
        if landing == NO_CELL:
            continue
        piece = board[jumped]
        board[jumped] = piece if piece == mover else DEAD
        board[landing] = mover
        total += count(board, size, 3 - mover, NO_CELL, depth - 1) if depth > 1 else 1
        total += count(board, size, mover, landing, depth)
        board[jumped] = piece
        board[landing] = EMPTY
    return total


@numba.njit(cache=True, nogil=True)
def play(board: np.ndarray, size: Int, mover: Int, cell: Int, number: Int) -> Int:
    """Makes the turn of that number, in the order of `count` with depth 1; DONE, or the rest of the number."""
    if cell == NO_CELL:
        for at in range(size * size):
            if board[at] == EMPTY:
                if number == 0:
                    board[at] = mover
                    return DONE
                number -= 1
            elif board[at] == mover:
                number = play(board, size, mover, at, number)
                if number == DONE:
                    return DONE
        return number
    for way in range(8):
        jumped, landing = hop(board, size, cell, way)
        if landing == NO_CELL:
            continue
        piece = board[jumped]
        board[jumped] = piece if piece == mover else DEAD
        board[landing] = mover
        number = DONE if number == 0 else play(board, size, mover, landing, number - 1)
        if number == DONE:
            return DONE
        board[jumped] = piece
        board[landing] = EMPTY
    return number


@numba.njit(cache=True, nogil=True)
def hop(board: np.ndarray, size: Int, cell: Int, way: Int) -> tuple[Int, Int]:
    """The jumped cell and the landing of a hop, or NO_CELL twice."""
    row, column = divmod(cell, size)
    end, far = row + 2 * WAYS[way, 0], column + 2 * WAYS[way, 1]
    if not (0 <= end < size and 0 <= far < size):
        return NO_CELL, NO_CELL
    landing = size * end + far
    jumped = (cell + landing) >> 1
    if board[landing] != EMPTY or board[jumped] == EMPTY or board[jumped] == DEAD:
        return NO_CELL, NO_CELL
    return jumped, landing
