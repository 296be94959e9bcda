"""Kernel: what every roll is worth to whoever chooses the best whole turn after it."""

from __future__ import annotations

import numpy as np

from boardrl.host.compile_options import compiled
from boardrl.host.slots import NUM_OUTCOMES, NUM_PLAYERS, WORDS, actor, chance, settle
from boardrl.play.turn_kernel import new_memory, value_after
from boardrl.play.whole_turn_kernel import best_turn, new_turn_memory

PLAYER = 0  # the number of the value function in the lineup


@compiled
def after_rolls(params, row, viewer, out):
    """Writes [C, P] the values after the outcomes of a chance node, and returns the seat whose dice they are.

    After an outcome that lets a seat move: of the position at the end of its best turn. Else of the position itself,
    as the seat sees it that most outcomes let move, or `viewer` if none does.
    """
    memory, turn_memory = new_memory(), new_turn_memory()
    probs, best_values, work = memory[2], memory[5], memory[6]
    rolled, likely = np.zeros((NUM_OUTCOMES, WORDS), np.uint64), np.zeros(NUM_PLAYERS, np.float32)
    chance(row, probs, work)
    for outcome in range(NUM_OUTCOMES):
        if probs[outcome] > 0:
            settle(row, outcome, rolled[outcome], work)
            seat = actor(rolled[outcome], work)
            if seat >= 0:
                likely[seat] += probs[outcome]
    if likely.max() > 0:
        viewer = np.argmax(likely)
    for outcome in range(NUM_OUTCOMES):
        out[outcome] = 0
        if probs[outcome] > 0:
            seat = actor(rolled[outcome], work)
            if seat >= 0:
                best_turn(PLAYER, params, rolled[outcome], seat, memory, turn_memory)
                out[outcome] = best_values
            else:
                value_after(PLAYER, params, rolled[outcome], viewer, out[outcome], memory)
    return viewer
