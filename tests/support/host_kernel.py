"""A kernel for the tests: counts the games that can be played, for any game without chance and draws by returns."""

import numpy as np
from numba import njit

from boardrl.host.masks import next_set
from boardrl.host.slots import MASK_WORDS, NUM_PLAYERS, WORDS, WORK_WORDS, actor, legal, returns, step

DEPTH = 1  # moves to look ahead


@njit(cache=True)
def count(row):
    """(games, won by seat 0, won by seat 1, not decided), by a depth-first search on a stack of rows."""
    rows, work = np.zeros((DEPTH + 1, WORDS), np.uint64), np.zeros(WORK_WORDS, np.uint64)
    masks, moves = np.zeros((DEPTH + 1, MASK_WORDS), np.uint64), np.zeros(DEPTH + 1, np.int64)
    value = np.zeros(NUM_PLAYERS, np.float32)
    rows[0] = row
    games, first, second = 0, 0, 0
    depth = 0
    legal(rows[0], masks[0], work)
    while depth >= 0:
        if depth == DEPTH or actor(rows[depth], work) < 0:
            returns(rows[depth], value, work)
            games += 1
            first += value[0] > 0
            second += value[1] > 0
            depth -= 1
            continue
        move = next_set(masks[depth], MASK_WORDS, moves[depth])
        if move < 0:
            depth -= 1
            continue
        moves[depth] = move + 1
        step(rows[depth], move, rows[depth + 1], work)
        depth += 1
        moves[depth] = 0
        legal(rows[depth], masks[depth], work)
    return games, first, second, games - first - second
