"""Kernel of matches between policies: play on compiled rules, with the luck of every roll by a control.

Only legal afterstates are valued. What luck is, and who sees which position, is as in `boardrl.matches.luck`; with the
same moves and outcomes both give the same numbers. The control is the last player of the lineup, who sits nowhere.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from boardrl.game import CHANCE, TERMINAL
from boardrl.host.dice import fraction, mix, sampled, stream
from boardrl.host.masks import next_set, num_set, pick
from boardrl.host.slots import (
    MASK_WORDS,
    MAX_STEPS,
    NUM_OUTCOMES,
    NUM_PLAYERS,
    WORDS,
    actor,
    chance,
    init,
    legal,
    returns,
    settle,
)
from boardrl.play.lineup_slots import BY_VALUE
from boardrl.play.turn_kernel import OPTIONS, best, choose, copy, new_memory, play_action, value_after

CONTROL = len(BY_VALUE) - 1  # the number of the control in the lineup
STREAMS = 3  # of random numbers: dice, choices, moves of the opening
POSSIBLE = 1e-6  # the least probability of an action or an outcome that counts as possible


@njit(cache=True, nogil=True)
def play(games, seed, group_of, opening, seating, params, results, luck, cut, drawn, courses):
    """Plays games, each from its own random numbers, in whatever order.

    Args:
      games: [G] int64, the numbers of the games; the other arrays have a place for each game of the match.
      group_of: [N] int64: games of a group have the same dice, and the same opening.
      opening: how many steps each game begins with in which any legal action is as likely.
      seating: [N, P] int32: the number of the player in each seat.
      params: of all players and of the control, see `boardrl.play.lineup.Lineup`.
      results, luck: [N, P] float32, get the returns and the sums of luck.
      cut, drawn: [N] bool, whether a game reached MAX_STEPS, and whether anything was drawn at random.
      courses: [N] uint64, hashes of all moves.
    """
    memory, rolls = new_memory(), new_rolls()
    for game in games:
        streams = (
            stream(seed, STREAMS * group_of[game]),
            stream(seed, STREAMS * game + 1),
            stream(seed, STREAMS * group_of[game] + 2),
        )
        play_game(game, streams, opening, seating, params, results, luck, cut, drawn, courses, memory, rolls)


@njit(cache=True, nogil=True)
def new_rolls():
    """Scratch memory for one thread: (row, rolled [C, WORDS], values [C, P], likely [P]).

    `rolled` and `values` are those after each outcome of a chance node, `likely` the chance of each seat to move.
    """
    return (
        np.zeros(WORDS, np.uint64),
        np.zeros((NUM_OUTCOMES, WORDS), np.uint64),
        np.zeros((NUM_OUTCOMES, NUM_PLAYERS), np.float32),
        np.zeros(NUM_PLAYERS, np.float32),
    )


@njit(**OPTIONS)
def play_game(game, streams, opening, seating, params, results, luck, cut, drawn, courses, memory, rolls):
    """Plays one game; `streams` are its random numbers of dice, choices and opening."""
    dice, choices, openings = streams
    row, rolled, values, _ = rolls
    mask, probs, weights, work = memory[1], memory[2], memory[3], memory[6]
    events, viewer, course, any_drawn, steps = 0, 0, np.uint64(0), False, 0
    init(row)
    for player in range(NUM_PLAYERS):
        luck[game, player] = 0
    who = actor(row, work)
    while who != TERMINAL and steps < MAX_STEPS:
        if who == CHANCE:
            viewer = after_outcomes(params, row, viewer, memory, rolls)
            move = sampled(probs, NUM_OUTCOMES, fraction(dice, events))
            events += 1
            add_luck(values, probs, move, luck[game])
            any_drawn |= probs[move] < 1
            copy(rolled[move], row)
        else:
            if steps < opening:
                legal(row, mask, work)
                move = pick(mask, MASK_WORDS, fraction(openings, steps))
                any_drawn |= num_set(mask, MASK_WORDS) > 1
            else:
                move = choose(seating[game, who], params, row, who, fraction(choices, steps), memory)
                any_drawn |= several(mask, weights)
            play_action(row, move, memory)
        course = mix(course ^ mix(np.uint64(move + 1)))
        steps += 1
        who = actor(row, work)
    returns(row, results[game], work)
    cut[game], drawn[game], courses[game] = who != TERMINAL, any_drawn, course


@njit(**OPTIONS)
def several(mask, weights):
    """Whether more than one legal action is possible, by the weights that `choose` drew from."""
    if num_set(mask, MASK_WORDS) == 1:
        return False
    total, count = np.float32(0), 0
    action = next_set(mask, MASK_WORDS, 0)
    while action >= 0:
        total += weights[action]
        action = next_set(mask, MASK_WORDS, action + 1)
    action = next_set(mask, MASK_WORDS, 0)
    while action >= 0:
        count += weights[action] >= POSSIBLE * total
        action = next_set(mask, MASK_WORDS, action + 1)
    return count > 1


@njit(**OPTIONS)
def after_outcomes(params, row, viewer, memory, rolls):
    """Writes the rows after each outcome and their [C, P] values, and returns who sees those in which nobody decides.

    A decision is worth its best afterstate, as `boardrl.matches.luck.after_outcomes` has it. `probs` of the memory gets
    the probabilities.
    """
    mask, probs, best_values, work = memory[1], memory[2], memory[5], memory[6]
    _, rolled, values, likely = rolls
    for player in range(NUM_PLAYERS):
        likely[player] = 0
    chance(row, probs, work)
    for outcome in range(NUM_OUTCOMES):
        if probs[outcome] > 0:
            settle(row, outcome, rolled[outcome], work)
            who = actor(rolled[outcome], work)
            if who >= 0:
                likely[who] += probs[outcome]
    top = np.float32(0)
    for player in range(NUM_PLAYERS):
        if likely[player] > top:
            viewer, top = player, likely[player]
    for outcome in range(NUM_OUTCOMES):
        if probs[outcome] <= 0:
            continue
        who = actor(rolled[outcome], work)
        if who < 0:
            value_after(CONTROL, params, rolled[outcome], viewer, values[outcome], memory)
            continue
        legal(rolled[outcome], mask, work)
        best(CONTROL, params, rolled[outcome], who, memory)
        for player in range(NUM_PLAYERS):
            values[outcome, player] = best_values[player]
    return viewer


@njit(**OPTIONS)
def add_luck(values, probs, outcome, luck):
    """Adds v(s_c) − Σ p v to [P] sums of luck."""
    total = np.float32(0)
    for other in range(NUM_OUTCOMES):
        total += probs[other]
    for player in range(NUM_PLAYERS):
        mean = np.float32(0)
        for other in range(NUM_OUTCOMES):
            if probs[other] > 0:
                mean += probs[other] / total * values[other, player]
        luck[player] += values[outcome, player] - mean
