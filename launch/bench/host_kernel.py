"""Random play in compiled code, for any game: the kernel of the host benchmark."""

import numpy as np

from boardrl.host.compile_options import compiled
from boardrl.host.masks import nth_set, num_set
from boardrl.host.slots import (
    MASK_WORDS,
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


@compiled
def play(num_steps, seed):
    """Plays whole games until `num_steps` steps are made; (steps, games, sum of seat 0's returns)."""
    rows, work = np.zeros((2, WORDS), np.uint64), np.zeros(WORK_WORDS, np.uint64)
    mask, probs = np.zeros(MASK_WORDS, np.uint64), np.zeros(NUM_OUTCOMES, np.float32)
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
            count = num_set(mask, MASK_WORDS)
            nth = np.int64(((bits >> np.uint64(32)) * np.uint64(count)) >> np.uint64(32))
            move = nth_set(mask, MASK_WORDS, nth)
        step(row, move, rows[1 - here], work)
        here = 1 - here
        steps += 1


@compiled
def repeat(function, rows, moves, times):
    """Calls one function (0 actor, 1 legal, 2 step, 3 returns, else none) on [N] rows in turn."""
    work, mask = np.zeros(WORK_WORDS, np.uint64), np.zeros(MASK_WORDS, np.uint64)
    value = np.zeros(NUM_PLAYERS, np.float32)
    out, seen, n = np.zeros(WORDS, np.uint64), 0.0, 0
    for _ in range(times):
        row = rows[n]
        if function == 0:
            seen += actor(row, work)
        elif function == 1:
            legal(row, mask, work)
            seen += mask[0] & np.uint64(1)
        elif function == 2:
            step(row, moves[n], out, work)
            seen += out[0] & np.uint64(1)
        elif function == 3:
            returns(row, value, work)
            seen += value[0]
        else:
            seen += row[0] & np.uint64(1)
        n += 1
        if n == len(rows):
            n = 0
    return seen


@compiled
def sample_rows(rows, moves, seed):
    """Fills [N] rows and moves with the decisions of random games; needs a game without chance."""
    work, mask, here = np.zeros(WORK_WORDS, np.uint64), np.zeros(MASK_WORDS, np.uint64), np.zeros(WORDS, np.uint64)
    bits = np.uint64(seed) | np.uint64(1)
    init(here)
    for n in range(len(rows)):
        if actor(here, work) < 0:
            init(here)
        legal(here, mask, work)
        bits ^= bits << np.uint64(13)
        bits ^= bits >> np.uint64(7)
        bits ^= bits << np.uint64(17)
        move = nth_set(mask, MASK_WORDS, np.int64(bits % np.uint64(num_set(mask, MASK_WORDS))))
        rows[n], moves[n] = here, move
        step(rows[n], move, here, work)
