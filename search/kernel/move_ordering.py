"""The order in which moves are tried: the table's move, killers, history, else as the game gives them.

A move is known by its signature, 16 bits of what it changes in the row: the same move in another position has the
same one, however the game numbers its moves. Two moves may share a signature; that costs time, never a wrong value.
"""

from __future__ import annotations

import numba
import numpy as np

KILLERS_A_PLY = 2
SIGNATURES = 1 << 16
HISTORY_SIZE = 1 << 11  # signatures that history tells apart, a player
MOST_HISTORY = 1 << 24
TABLE_SCORE, KILLER_SCORE = 1 << 30, 1 << 28
DONE = -(1 << 30)


@numba.njit(cache=True, nogil=True)
def signature(row, after):
    """1 to 65535: a hash of the changed bits."""
    mixed = np.uint64(0x9E3779B97F4A7C15)
    for word in range(row.shape[0]):
        mixed = (mixed ^ row[word] ^ after[word]) * np.uint64(0xD6E8FEB86659FD93)
        mixed ^= mixed >> np.uint64(32)
    return max(np.int64(mixed & np.uint64(SIGNATURES - 1)), 1)


@numba.njit(cache=True, nogil=True)
def score(move, table_move, killers, history, ply, seat, use_killers, use_history):
    """How early to try a move: the most first, 0 for a move of which nothing is known."""
    if move == table_move:
        return TABLE_SCORE
    if use_killers and (killers[ply, 0] == move or killers[ply, 1] == move):
        return KILLER_SCORE
    if use_history:
        return history[seat, move & (HISTORY_SIZE - 1)]
    return 0


@numba.njit(cache=True, nogil=True)
def note_cutoff(move, killers, history, ply, seat, depth):
    """Remembers a move that refuted the one before it."""
    if killers[ply, 0] != move:
        killers[ply, 1] = killers[ply, 0]
        killers[ply, 0] = move
    place = move & (HISTORY_SIZE - 1)
    history[seat, place] = min(history[seat, place] + depth * depth, MOST_HISTORY)


@numba.njit(cache=True, nogil=True)
def best_left(scores, start, count):
    """The first of the moves with the highest score."""
    best = start
    for place in range(start + 1, start + count):
        if scores[place, 0] > scores[best, 0]:
            best = place
    return best
