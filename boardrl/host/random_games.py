"""Kernel that plays random games on compiled rules, move by move or turn by turn, and counts or records them."""

from __future__ import annotations

import numpy as np

from boardrl.host.compile_options import compiled
from boardrl.host.masks import nth_set, num_set
from boardrl.host.slots import (
    MASK_WORDS,
    MAX_STEPS,
    NUM_OUTCOMES,
    NUM_PLAYERS,
    ROOM,
    WORDS,
    WORK_WORDS,
    actor,
    chance,
    init,
    key,
    legal,
    returns,
    step,
    successors,
)


@compiled
def count(num_steps, seed):
    """(steps, rolls, games) of random play with automatic restart: uniform over legal actions, chance by its odds."""
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


@compiled
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


@compiled
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


@compiled
def by_turns(num_games, seed, distinct, rows, ends, wins):
    """(turns, choices) of random games in which all turns of a position are alike; -1 where `rows` or `ends` is full.

    A turn is all that a player does until somebody else acts. Turns differ by their actions or, if `distinct`, by the
    positions that they lead to.

    Args:
      rows, ends: [N, WORDS] memory for positions within a turn, and for those after it.
      wins: [P] to which the games are added in which a player alone has the largest return.
    """
    np.random.seed(seed)  # noqa: NPY002
    row, after = np.zeros(WORDS, np.uint64), np.zeros(WORDS, np.uint64)
    mask, probs = np.zeros(MASK_WORDS, np.uint64), np.zeros(NUM_OUTCOMES, np.float32)
    work, result = np.zeros(WORK_WORDS, np.uint64), np.zeros(NUM_PLAYERS, np.float32)
    seen = np.zeros(2 * len(ends), np.int64)
    turns, choices = 0, 0
    for _ in range(num_games):
        init(row)
        seat = actor(row, work)
        while seat != -2:
            if seat == -1:
                move, seat = draw(row, mask, probs, work)
                step(row, move, after, work)
                row[:] = after
            else:
                count = turn_ends(row, rows, ends, work)
                if count < 0:
                    return np.int64(-1), np.int64(-1)
                if distinct:
                    count = drop_repeated(ends, count, seen)
                turns, choices = turns + 1, choices + count
                row[:] = ends[np.random.randint(count)]  # noqa: NPY002
            seat = actor(row, work)
        returns(row, result, work)
        best = result.argmax()
        wins[best] += (result == result[best]).sum() == 1
    return np.int64(turns), np.int64(choices)


@compiled
def turn_ends(row, rows, ends, work):
    """Writes the positions after every turn of who acts, one for each way there, and returns how many; -1 if full."""
    seat = actor(row, work)
    rows[0] = row
    stacked, count = 1, 0
    while stacked:
        stacked -= 1
        if stacked + 1 + ROOM > len(rows):
            return -1
        found = successors(rows[stacked], rows[stacked + 1 :], work)
        low = stacked
        for child in range(low + 1, low + 1 + found):
            if actor(rows[child], work) == seat:
                rows[stacked] = rows[child]  # behind those already read, so that nothing unread is overwritten
                stacked += 1
            else:
                if count == len(ends):
                    return -1
                ends[count] = rows[child]
                count += 1
    return count


@compiled
def drop_repeated(ends, count, seen):
    """Keeps each row once, in order, and returns how many; `seen` is memory for a hash table of row numbers."""
    size = 1
    while size < 2 * count and 2 * size <= len(seen):
        size *= 2
    seen[:size] = -1
    kept = 0
    for number in range(count):
        place = key(ends[number]) & np.uint64(size - 1)
        while seen[place] >= 0 and (ends[seen[place]] != ends[number]).any():
            place = (place + np.uint64(1)) & np.uint64(size - 1)
        if seen[place] < 0:
            ends[kept] = ends[number]
            seen[place] = kept
            kept += 1
    return kept
