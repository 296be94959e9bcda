"""Kernel: a window of TD learning in some lanes, as `algorithms.learning.afterstates.play_window` plays it in JAX."""

from __future__ import annotations

import numpy as np
from numba import njit

from algorithms.self_play.window_slots import INPUT_WORDS, SHOW_WORDS, show, viewer_of
from boardrl.host.compile_options import compiled
from boardrl.host.dice import fraction, stream
from boardrl.host.masks import next_set, num_set, pick
from boardrl.host.slots import MASK_WORDS, NUM_PLAYERS, WORDS, init, legal, returns
from boardrl.play.turn_kernel import OPTIONS, best, choose, copy, due, new_memory, over, play_action, roll, value_after

LEARNER = 0  # its number, in a seating and in the lineup
ROLLS = 2  # of the dice in one turn: a second one where the first leaves nothing to decide
SHARES = 3 + ROLLS  # random numbers of a turn: whether to explore, the choice, the viewer, then the rolls
EXPLORE, CHOICE, VIEWER, FIRST_ROLL = 0, 1, 2, 3


@compiled
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
    memory, notes = new_memory(), new_notes()
    for lane in range(first, last):
        begin = stream(seed, counts[lane, 0])
        play_lane(
            lane, begin, epsilon, opening, place, thin, seating, params, lanes, pending, window, counts, memory, notes
        )


@njit(**OPTIONS)
def play_lane(
    lane, begin, epsilon, opening, place, thin, seating, params, lanes, pending, window, counts, memory, notes
):
    """Plays T turns in one lane, whose random numbers are the stream `begin`."""
    rows, steps = lanes
    explored, best_known = window[4], window[5]
    mask, best_values, work = memory[1], memory[5], memory[6]
    row, fresh = rows[lane], False
    begin_lane(lane, place, pending, window)
    for slot in range(1, len(explored)):
        at = SHARES * (slot - 1)
        seat = begin_turn(slot, lane, begin, at, lanes, window, counts, memory)
        known = False
        if seat >= 0:
            fresh = True
            who = seating[lane, seat]
            if who == LEARNER:
                legal(row, mask, work)
                if num_set(mask, MASK_WORDS) == 1:  # nothing to decide, and nothing to explore
                    action = next_set(mask, MASK_WORDS, 0)
                else:
                    action = best(LEARNER, params, row, seat, memory)
                    known = True
                    if steps[lane] < opening or fraction(begin, at + EXPLORE) < epsilon:
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
        end_turn(slot, lane, seat, known, place, thin, params, lanes, pending, window, memory, notes)
    end_lane(lane, fresh, pending, notes)


# The parts of a window that do not depend on how turns are chosen, for `turn_window_kernel` too.


@compiled
def new_notes():
    """Scratch memory for one thread: (last_row, show_work), the last afterstate of a lane and a workspace of `show`."""
    return np.zeros(WORDS, np.uint64), np.zeros(SHOW_WORDS, np.uint64)


@njit(**OPTIONS)
def begin_lane(lane, place, pending, window):
    """Writes slot 0 of a lane: what was pending before."""
    pending_inputs, pending_viewer, pending_waits = pending
    inputs, viewers, decided = window[0], window[1], window[2]
    decided[0, lane], viewers[0, lane] = pending_waits[lane], pending_viewer[lane]
    if place == 0 and len(inputs):
        for word in range(INPUT_WORDS):
            inputs[0, lane, word] = pending_inputs[lane, word]


@njit(**OPTIONS)
def begin_turn(slot, lane, begin, at, lanes, window, counts, memory):
    """Throws the dice that are due, draws the viewer, and returns the seat that has to decide, or NOBODY."""
    rows, steps = lanes
    row, viewers = rows[lane], window[1]
    for number in range(ROLLS):
        if roll(row, fraction(begin, at + FIRST_ROLL + number), memory):
            steps[lane] += 1
            counts[lane, 1] += 1
    viewers[slot, lane] = np.int32(fraction(begin, at + VIEWER) * np.float32(NUM_PLAYERS))
    return due(row, steps[lane], memory)


@njit(**OPTIONS)
def end_turn(slot, lane, seat, known, place, thin, params, lanes, pending, window, memory, notes):
    """Records the afterstate of a decision, if there was one; at the end of a game records that, and begins the next.

    Args:
      seat: who decided, or NOBODY.
      known: whether `best_values` of the memory has the values of the afterstate as that seat sees it.
    """
    rows, steps = lanes
    pending_viewer, pending_waits = pending[1], pending[2]
    inputs, viewers, decided, values, _, _, ended, results = window
    last_row, show_work = notes
    row, best_values = rows[lane], memory[5]
    if seat >= 0:
        viewer = np.int32(viewer_of(row, viewers[slot, lane], show_work))
        decided[slot, lane], viewers[slot, lane] = True, viewer
        if known:
            for player in range(NUM_PLAYERS):
                values[slot, lane, player] = best_values[player]
        else:
            value_after(LEARNER, params, row, seat, values[slot, lane], memory)
        if slot >= place and (slot - place) % thin == 0 and (slot - place) // thin < len(inputs):
            show(row, viewer, inputs[(slot - place) // thin, lane], show_work)
        copy(row, last_row)
        pending_waits[lane], pending_viewer[lane] = True, viewer
    if over(row, steps[lane], memory):
        ended[slot, lane] = True
        returns(row, results[slot, lane], memory[6])
        init(row)
        steps[lane] = 0
        pending_waits[lane] = False


@njit(**OPTIONS)
def end_lane(lane, fresh, pending, notes):
    """Writes what the lane's last afterstate shows; `fresh`: whether it is one of this window."""
    pending_inputs, pending_viewer, pending_waits = pending
    last_row, show_work = notes
    if not pending_waits[lane]:
        pending_viewer[lane] = 0
        for word in range(INPUT_WORDS):
            pending_inputs[lane, word] = 0
    elif fresh:
        show(last_row, pending_viewer[lane], pending_inputs[lane], show_work)
