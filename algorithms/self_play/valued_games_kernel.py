"""Kernel: whole games of given players, with what a value net needs to learn their values from without luck."""

from __future__ import annotations

import numpy as np
from numba import njit

from algorithms.self_play.window_slots import SHOW_WORDS, show, viewer_of
from boardrl.game import CHANCE, TERMINAL
from boardrl.host.compile_options import compiled
from boardrl.host.dice import fraction, sampled
from boardrl.host.slots import MAX_STEPS, NUM_OUTCOMES, NUM_PLAYERS, actor, init, returns
from boardrl.matches.compiled.policy_match_kernel import (
    ACTION,
    NONE,
    VIEWER,
    after_outcomes,
    decide,
    game_streams,
    mean_of,
    new_rolls,
)
from boardrl.play.turn_kernel import OPTIONS, copy, new_memory, play_action

MEAN, FELL = 0, 1  # what is known of the roll at each position: the mean over its outcomes, and what it came to


@compiled
def play_games(first, last, seed, numbers, opening, seating, control, params, sizes, record):
    """Plays the games of the places `first` up to before `last`, one after another.

    Args:
      numbers: [G] int64 of the games; with the seed they decide the random numbers.
      seating: [G, P] int32: the number of the player in each seat.
      control: the number of the net that values positions.
      sizes: [G] int64, gets the number of positions of each game, also of those that do not fit in.
      record: (inputs [G, T, W], viewer [G, T], rolls [G, T, 2, P], results [G, P]): the positions before each roll, who
        sees them, and the values of the roll; a game of more than T positions is not recorded to its end.
    """
    memory, scratch, show_work = new_memory(), new_rolls(), np.zeros(SHOW_WORDS, np.uint64)
    for game in range(first, last):
        streams = game_streams(seed, numbers[game], numbers[game])
        play_game(game, streams, opening, seating, control, params, sizes, record, memory, scratch, show_work)


@njit(**OPTIONS)
def play_game(game, streams, opening, seating, control, params, sizes, record, memory, scratch, show_work):
    """Plays one game; `streams` are its random numbers."""
    inputs, viewers, rolls, results = record
    row, rolled, after, values, drawn_values, _, found = scratch
    probs, work = memory[2], memory[6]
    count, viewer, seen_by, steps = 0, 0, 0, 0
    init(row)
    who = actor(row, work)
    while who != TERMINAL and steps < MAX_STEPS:
        if who == CHANCE:
            fits = count < len(viewers[game])
            if fits:
                viewers[game, count] = viewer_of(row, seen_by, show_work)
                show(row, viewers[game, count], inputs[game, count], show_work)
            viewer = after_outcomes(
                control, params, row, viewer, seating[game], steps + 1, opening, streams, memory, scratch
            )
            move = sampled(probs, NUM_OUTCOMES, fraction(streams[0], count))
            if fits:
                add_roll(values, drawn_values[move], probs, rolls[game, count])
            count += 1
            seen_by = found[move, VIEWER]
            steps += 1
            copy(rolled[move], row)
            if found[move, ACTION] != NONE and steps < MAX_STEPS:
                steps += 1
                copy(after[move], row)
        else:
            action, _ = decide(seating[game, who], params, row, who, steps, opening, streams, memory)
            play_action(row, action, memory)
            seen_by = who
            steps += 1
        who = actor(row, work)
    returns(row, results[game], work)
    sizes[game] = count


@njit(**OPTIONS)
def add_roll(values, drawn_values, probs, roll):
    """Writes the mean of [C, P] values, and those that the roll came to."""
    for player in range(NUM_PLAYERS):
        roll[MEAN, player], roll[FELL, player] = mean_of(values, probs, player), drawn_values[player]


@compiled
def returns_without_luck(sizes, decay, rolls, results, targets):
    """Writes the target G_t of each position: G_t = m_t + λ (G_{t+1} − v_t), from the end of each game back.

    m_t is the mean of the values after the roll at position t, v_t the value that the roll came to, G at the end the
    returns. With λ = 1 it is the result less all luck to come.

    Args:
      rolls, results: as in `play_games`.
      targets: [G, T, P]
    """
    for game in range(len(sizes)):
        for player in range(NUM_PLAYERS):
            target = results[game, player]
            for t in range(sizes[game] - 1, -1, -1):
                rest = target - rolls[game, t, FELL, player]
                target = rolls[game, t, MEAN, player] + decay * rest
                targets[game, t, player] = target
