"""Random play in compiled code, for any game: the kernel of the host benchmark."""

import numpy as np
from numba import njit

from boardrl.facet import (
    NUM_ACTIONS,
    NUM_OUTCOMES,
    NUM_PLAYERS,
    WORDS,
    WORK_WORDS,
    actor,
    chance,
    init,
    legal,
    returns,
    step,
)


@njit(cache=True, nogil=True)
def play(num_steps, seed):
    """Whole games until so many steps are made; (steps, games, seat 0's returns in all)."""
    rows, work = np.zeros((2, WORDS), np.uint64), np.zeros(WORK_WORDS, np.uint64)
    mask, probs = np.zeros(NUM_ACTIONS, np.bool_), np.zeros(NUM_OUTCOMES, np.float32)
    value = np.zeros(NUM_PLAYERS, np.float32)
    here, games, steps, total = 0, 0, 0, 0.0
    bits = np.uint64(seed) | np.uint64(1)  # xorshift: 0 would stay 0
    init(rows[0])
    while True:
        row = rows[here]
        who = actor(row, work)
        if who == -2:
            returns(row, value, work)
            games += 1
            total += value[0]
            if steps >= num_steps:
                return steps, games, total
            init(row)
            continue
        bits ^= bits << np.uint64(13)
        bits ^= bits >> np.uint64(7)
        bits ^= bits << np.uint64(17)
        move = 0
        if who == -1:
            chance(row, probs, work)
            share = np.float32(bits >> np.uint64(40)) / np.float32(1 << 24)
            running = np.float32(0)
            for k in range(NUM_OUTCOMES):
                running += probs[k]
                if probs[k] > 0:
                    move = k
                if share < running:
                    break
        else:
            legal(row, mask, work)
            count = 0
            for k in range(NUM_ACTIONS):
                count += mask[k]
            left = np.int64(((bits >> np.uint64(32)) * np.uint64(count)) >> np.uint64(32))
            for k in range(NUM_ACTIONS):
                if mask[k]:
                    if left == 0:
                        move = k
                        break
                    left -= 1
        step(row, move, rows[1 - here], work)
        here = 1 - here
        steps += 1
