"""Kernel: `window_kernel` with a whole turn in each slot, chosen by the position at its end."""

from __future__ import annotations

from numba import njit

from algorithms.self_play.window_kernel import (
    CHOICE,
    EXPLORE,
    LEARNER,
    SHARES,
    begin_lane,
    begin_turn,
    end_lane,
    end_turn,
    new_notes,
)
from boardrl.host.compile_options import compiled
from boardrl.host.dice import fraction, stream
from boardrl.host.masks import pick
from boardrl.host.slots import MASK_WORDS, NUM_PLAYERS, actor, legal
from boardrl.play.turn_kernel import OPTIONS, choose, new_memory, play_action
from boardrl.play.whole_turn_kernel import best_turn, new_turn_memory


@compiled
def play_window(first, last, seed, epsilon, opening, place, thin, seating, params, lanes, pending, window, counts):
    """As `algorithms.self_play.window_kernel.play_window`, whose arguments it takes."""
    memory, turn_memory, notes = new_memory(), new_turn_memory(), new_notes()
    for lane in range(first, last):
        begin_lane(lane, place, pending, window)
        fresh, begin = False, stream(seed, counts[lane, 0])
        for slot in range(1, len(window[2])):
            at = SHARES * (slot - 1)
            seat = begin_turn(slot, lane, begin, at, lanes, window, counts, memory)
            known = False
            if seat >= 0:
                fresh = True
                known = play_turn(
                    slot, lane, seat, begin, at, epsilon, opening, seating, params, lanes, window, memory, turn_memory
                )
            end_turn(slot, lane, seat, known, place, thin, params, lanes, pending, window, memory, notes)
        end_lane(lane, fresh, pending, notes)


@njit(**OPTIONS)
def play_turn(slot, lane, seat, begin, at, epsilon, opening, seating, params, lanes, window, memory, turn_memory):
    """Plays the actions of a seat up to the end of its turn; whether `best_values` has the values of where that is."""
    rows, steps = lanes
    explored, best_known = window[4], window[5]
    mask, best_values, work, best_path = memory[1], memory[5], memory[6], turn_memory[3]
    row, who = rows[lane], seating[lane, seat]
    known, again = False, 0
    explores = who == LEARNER and (steps[lane] < opening or fraction(begin, at + EXPLORE) < epsilon)
    if explores:
        best_turn(LEARNER, params, row, seat, memory, turn_memory)
        explored[slot, lane] = True
        for player in range(NUM_PLAYERS):
            best_known[slot, lane, player] = best_values[player]
    while actor(row, work) == seat:
        if who != LEARNER or explores:
            share = fraction(stream(begin, at + CHOICE), again)
            if explores:
                legal(row, mask, work)
                action = pick(mask, MASK_WORDS, share)
            else:
                action = choose(who, params, row, seat, share, memory)
            play_action(row, action, memory)
            steps[lane] += 1
            again += 1
        else:
            for number in range(best_turn(LEARNER, params, row, seat, memory, turn_memory)):
                play_action(row, best_path[number], memory)
                steps[lane] += 1
            known = True
    return known
