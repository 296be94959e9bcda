"""Move ordering: the table's move, killers, history, else the order of the game.

A move is identified by its signature, a 16-bit hash of the bits that it changes in the row: the same move in another
position has the same signature, however the game numbers its moves. A collision costs time, but never a wrong value.
"""

from __future__ import annotations

import numpy as np

from boardrl.host.compile_options import compiled

KILLERS_A_PLY = 2
SIGNATURES = 1 << 16
HISTORY_SIZE = 1 << 11  # entries of the history table for each player
MOST_HISTORY = 1 << 24
TABLE_SCORE, KILLER_SCORE = 1 << 30, 1 << 28
DONE = -(1 << 30)


@compiled
def signature(row, after):
    """1 to 65535: a hash of the changed bits."""
    mixed = np.uint64(0x9E3779B97F4A7C15)
    for word in range(row.shape[0]):
        mixed = (mixed ^ row[word] ^ after[word]) * np.uint64(0xD6E8FEB86659FD93)
        mixed ^= mixed >> np.uint64(32)
    return max(np.int64(mixed & np.uint64(SIGNATURES - 1)), 1)


@compiled
def score(move, table_move, killers, history, ply, seat, use_killers, use_history):
    """The score of a move: higher scores are tried first, 0 if nothing is known of it."""
    if move == table_move:
        return TABLE_SCORE
    if use_killers and (killers[ply, 0] == move or killers[ply, 1] == move):
        return KILLER_SCORE
    if use_history:
        return history[seat, move & (HISTORY_SIZE - 1)]
    return 0


@compiled
def note_cutoff(move, killers, history, ply, seat, depth):
    """Stores a move that caused a beta cutoff, as a killer and in the history."""
    if killers[ply, 0] != move:
        killers[ply, 1] = killers[ply, 0]
        killers[ply, 0] = move
    place = move & (HISTORY_SIZE - 1)
    history[seat, place] = min(history[seat, place] + depth * depth, MOST_HISTORY)


@compiled
def best_left(scores, start, count):
    """The first move of the highest score."""
    best = start
    for place in range(start + 1, start + count):
        if scores[place, 0] > scores[best, 0]:
            best = place
    return best
