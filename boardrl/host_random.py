"""A kernel: random games on a game's compiled rules, counted or written down."""

from __future__ import annotations

import numpy as np
from numba import njit

from boardrl.facet import (
    MASK_WORDS,
    MAX_STEPS,
    NUM_OUTCOMES,
    WORDS,
    WORK_WORDS,
    actor,
    chance,
    init,
    legal,
    step,
)
from boardrl.masks import nth_set, num_set


@njit(cache=True, nogil=True)
def count(num_steps, seed):
    """(steps, rolls, games) of random play with automatic restart: every legal action alike, chance as it is."""
    np.random.seed(seed)  # noqa: NPY002  Numba's generator
    row, after = np.zeros(WORDS, np.uint64), np.zeros(WORDS, np.uint64)
    mask, probs = np.zeros(MASK_WORDS, np.uint64), np.zeros(NUM_OUTCOMES, np.float32)
    work = np.zeros(WORK_WORDS, np.uint64)
    rolls, games, length = 0, 0, 0
    init(row)
    for _ in range(num_steps):
        move, seat = draw(row, mask, probs, work)
        rolls += seat == -1
        step(row, move, after, work)
        row, after = after, row
        length += 1
        if actor(row, work) == -2 or length == MAX_STEPS:
            games += 1
            length = 0
            init(row)
    return num_steps, rolls, games


@njit(cache=True, nogil=True)
def record(rows, moves, seed):
    """Fills [N, ...] arrays with random play: positions, and the move made in each."""
    np.random.seed(seed)  # noqa: NPY002
    row, after = np.zeros(WORDS, np.uint64), np.zeros(WORDS, np.uint64)
    mask, probs = np.zeros(MASK_WORDS, np.uint64), np.zeros(NUM_OUTCOMES, np.float32)
    work = np.zeros(WORK_WORDS, np.uint64)
    length = 0
    init(row)
    for index in range(len(moves)):
        moves[index], seat = draw(row, mask, probs, work)
        rows[index] = row
        step(row, moves[index], after, work)
        row, after = after, row
        length += 1
        # A game that is over is stepped once more, as a terminal state must stay as it is.
        if seat == -2 or length == MAX_STEPS:
            length = 0
            init(row)


@njit(cache=True, nogil=True)
def draw(row, mask, probs, work):
    """(move, actor): an outcome by its probability, or one of the legal actions; 0 where the game is over."""
    seat = actor(row, work)
    if seat == -1:
        chance(row, probs, work)
        rest = np.random.random()  # noqa: NPY002
        for move in range(NUM_OUTCOMES):
            rest -= probs[move]
            if rest < 0:
                return move, seat
        for move in range(NUM_OUTCOMES - 1, -1, -1):  # what rounding has left over
            if probs[move] > 0:
                return move, seat
    legal(row, mask, work)
    total = num_set(mask, MASK_WORDS)
    if total == 0:
        return 0, seat
    return nth_set(mask, MASK_WORDS, np.random.randint(total)), seat  # noqa: NPY002
