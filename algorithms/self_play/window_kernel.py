"""Kernel: a window of TD learning in some lanes, as `algorithms.learning.afterstates.play_window` plays it in JAX."""

from __future__ import annotations

import numpy as np
from numba import njit

from algorithms.self_play.window_slots import INPUT_WORDS, SHOW_WORDS, show, viewer_of
from boardrl.host.dice import fraction, stream
from boardrl.host.masks import next_set, num_set, pick
from boardrl.host.slots import MASK_WORDS, NUM_PLAYERS, WORDS, init, legal, returns
from boardrl.play.turn_kernel import best, choose, copy, due, new_memory, over, play_action, roll, value_after

LEARNER = 0  # its number, in a seating and in the lineup
ROLLS = 2  # of the dice in one turn: a second one where the first leaves nothing to decide
SHARES = 3 + ROLLS  # random numbers of a turn: whether to explore, the choice, the viewer, then the rolls
EXPLORE, CHOICE, VIEWER, FIRST_ROLL = 0, 1, 2, 3


@njit(cache=True, nogil=True)
def play_window(first, last, seed, epsilon, opening, place, thin, seating, params, lanes, pending, window, counts):
    """Plays T turns in the lanes from number `first` up to before `last`.

    All arrays are those of all lanes of a part, whose first lane has the number `counts[0]` among all lanes, so that
    its random numbers depend only on the seed and that number.

    Args:
      place, thin: inputs are recorded in slots place, place + thin, …; slot 0 is what was pending before.
      seating: [B, P] int32: LEARNER, or the number of the player who sits there.
      lanes: (rows [B, WORDS], steps [B] int32), which go on from there.
      pending: (inputs [B, W], viewer [B] int32, waits [B] bool) of the last afterstate of each lane.
      window: (inputs [R, B, W], viewer, decided, value, explored, best, ended, returns), all but the inputs [T + 1, B],
        see `algorithms.learning.returns`.
      counts: [B, 2] int64: the number of the lane, and where the number of rolls is written.
    """
    rows, steps = lanes
    pending_inputs, pending_viewer, pending_waits = pending
    inputs, viewers, decided, values, explored, best_known, ended, results = window
    memory = new_memory()
    mask, best_values, work = memory[1], memory[5], memory[6]
    show_work, last_row = np.zeros(SHOW_WORDS, np.uint64), np.zeros(WORDS, np.uint64)
    turns = len(decided) - 1
    for lane in range(first, last):
        row, begin = rows[lane], stream(seed, counts[lane, 0])
        rolls, fresh = 0, False  # whether the pending afterstate is one of this window
        decided[0, lane], viewers[0, lane] = pending_waits[lane], pending_viewer[lane]
        if place == 0 and len(inputs):
            for word in range(INPUT_WORDS):
                inputs[0, lane, word] = pending_inputs[lane, word]
        for slot in range(1, turns + 1):
            at = SHARES * (slot - 1)
            for number in range(ROLLS):
                if roll(row, fraction(begin, at + FIRST_ROLL + number), memory):
                    steps[lane] += 1
                    rolls += 1
            seat = due(row, steps[lane], memory)
            viewer = np.int32(fraction(begin, at + VIEWER) * np.float32(NUM_PLAYERS))
            if seat >= 0:
                known, explores = False, False
                who = seating[lane, seat]
                if who == LEARNER:
                    legal(row, mask, work)
                    explores = steps[lane] < opening or fraction(begin, at + EXPLORE) < epsilon
                    if num_set(mask, MASK_WORDS) == 1:  # nothing to decide, and nothing to explore
                        action = next_set(mask, MASK_WORDS, 0)
                    else:
                        action = best(LEARNER, params, row, seat, memory)
                        known = True
                        if explores:
                            tried = pick(mask, MASK_WORDS, fraction(begin, at + CHOICE))
                            if tried != action:
                                explored[slot, lane] = True
                                known = False
                                for player in range(NUM_PLAYERS):
                                    best_known[slot, lane, player] = best_values[player]
                            action = tried
                else:
                    action = choose(who, params, row, seat, fraction(begin, at + CHOICE), memory)
                play_action(row, action, memory)
                steps[lane] += 1
                viewer = np.int32(viewer_of(row, viewer, show_work))
                decided[slot, lane], viewers[slot, lane] = True, viewer
                if known and viewer == seat:
                    for player in range(NUM_PLAYERS):
                        values[slot, lane, player] = best_values[player]
                else:
                    value_after(LEARNER, params, row, viewer, values[slot, lane], memory)
                if slot >= place and (slot - place) % thin == 0 and (slot - place) // thin < len(inputs):
                    show(row, viewer, inputs[(slot - place) // thin, lane], show_work)
                copy(row, last_row)
                fresh = True
                pending_waits[lane], pending_viewer[lane] = True, viewer
            if over(row, steps[lane], memory):
                ended[slot, lane] = True
                returns(row, results[slot, lane], work)
                init(row)
                steps[lane] = 0
                pending_waits[lane] = False
        counts[lane, 1] = rolls
        if not pending_waits[lane]:
            pending_viewer[lane] = 0
            for word in range(INPUT_WORDS):
                pending_inputs[lane, word] = 0
        elif fresh:
            show(last_row, pending_viewer[lane], pending_inputs[lane], show_work)
