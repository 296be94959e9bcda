"""Kernel: the best whole turn of a player, where a turn is several actions of the same seat.

A value net that only judges positions at the end of turns, as in TD-Gammon, never sees the positions within one. All
sequences of actions up to the end of the turn are tried; equal positions, which different orders lead to, only once.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from boardrl.host.compile_options import compiled
from boardrl.host.masks import next_set
from boardrl.host.slots import MASK_WORDS, NUM_PLAYERS, WORDS, act, actor, legal
from boardrl.play.turn_kernel import FROM_PYTHON, OPTIONS, new_memory, utility, value_after

ACTIONS = 8  # of a turn that are looked ahead; a longer turn is decided in pieces
SEEN = 4096  # places of the table of positions, a power of 2
FULL = SEEN // 2  # positions beyond these are looked at as often as they come up


@compiled
def new_turn_memory():
    """Scratch memory for one thread: (rows, masks, path, best_path, keys, stamps, clock)."""
    return (
        np.zeros((ACTIONS + 1, WORDS), np.uint64),
        np.zeros((ACTIONS + 1, MASK_WORDS), np.uint64),
        np.zeros(ACTIONS, np.int64),
        np.zeros(ACTIONS, np.int64),
        np.zeros(SEEN, np.uint64),
        np.zeros(SEEN, np.int64),
        np.zeros(2, np.int64),  # the number of the search, and how many positions it has in the table
    )


@njit(**OPTIONS)
def is_new(row, turn_memory):
    """Whether this search sees a row for the first time."""
    _, _, _, _, keys, stamps, clock = turn_memory
    key = np.uint64(0x9E3779B97F4A7C15)
    for word in range(WORDS):
        key = (key ^ row[word]) * np.uint64(0xFF51AFD7ED558CCD)
        key ^= key >> np.uint64(32)
    place = np.int64(key & np.uint64(SEEN - 1))
    while stamps[place] == clock[0]:
        if keys[place] == key:
            return False
        place = (place + 1) & (SEEN - 1)
    if clock[1] < FULL:
        keys[place], stamps[place] = key, clock[0]
        clock[1] += 1
    return True


@njit(**FROM_PYTHON)
def best_turn(number, params, row, seat, memory, turn_memory):
    """How many actions the best turn of player `number` has; `best_path` of the memory gets them.

    `best_values` gets the [P] values of the position that it leads to.
    """
    _, _, _, _, values, best_values, work, _ = memory
    rows, masks, path, best_path, _, _, clock = turn_memory
    clock[0] += 1
    clock[1] = 0
    for word in range(WORDS):
        rows[0, word] = row[word]
    legal(row, masks[0], work)
    found, top, level = 0, np.float32(-np.inf), 0
    path[0] = -1
    while level >= 0:
        action = next_set(masks[level], MASK_WORDS, path[level] + 1)
        path[level] = action
        if action < 0:
            level -= 1
            continue
        after = rows[level + 1]
        act(rows[level], action, after, work)
        if not is_new(after, turn_memory):
            continue
        if level + 1 < ACTIONS and actor(after, work) == seat:
            level += 1
            legal(after, masks[level], work)
            path[level] = -1
            continue
        value_after(number, params, after, seat, values, memory)
        worth = utility(number, values, seat)
        if worth > top or found == 0:
            found, top = level + 1, worth
            for step in range(found):
                best_path[step] = path[step]
            for player in range(NUM_PLAYERS):
                best_values[player] = values[player]
    return found


@compiled
def new_memories():
    """The memory of `best_turn` for one thread: its own, and that of `boardrl.play.turn_kernel`."""
    return new_memory(), new_turn_memory()
