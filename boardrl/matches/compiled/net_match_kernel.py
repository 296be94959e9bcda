"""Kernel of matches between value nets: greedy play on compiled rules, with the luck of every roll.

Only legal afterstates are valued. What luck is, and who sees which position, is as in `boardrl.matches.luck`; with the
same moves and outcomes both give the same numbers.
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
    WORK_WORDS,
    act,
    actor,
    chance,
    init,
    legal,
    returns,
    settle,
)
from boardrl.host.value_slots import EVALUATOR_WORDS, evaluate

STREAMS = 3  # of random numbers: dice, choices, moves of the opening


@njit(cache=True, nogil=True)
def play(games, seed, group_of, opening, seating, params, control, results, luck, cut, drawn, courses):
    """Plays games, each from its own random numbers, in whatever order.

    Args:
      games: [G] int64, the numbers of the games; the other arrays have a place for each game of the match.
      group_of: [N] int64: games of a group have the same dice, and the same opening.
      opening: how many steps each game begins with in which any legal action is as likely.
      seating: [N, P] int32: whose parameters decide in each seat.
      params: [M, W] uint64.
      control: whose parameters tell luck.
      results, luck: [N, P] float32, get the returns and the sums of luck.
      cut, drawn: [N] bool, whether a game reached MAX_STEPS, and whether anything was drawn at random.
      courses: [N] uint64, hashes of all moves.
    """
    row, after = np.zeros(WORDS, np.uint64), np.zeros(WORDS, np.uint64)
    rolled = np.zeros((NUM_OUTCOMES, WORDS), np.uint64)
    mask, probs = np.zeros(MASK_WORDS, np.uint64), np.zeros(NUM_OUTCOMES, np.float32)
    values, best = np.zeros(NUM_PLAYERS, np.float32), np.zeros((NUM_OUTCOMES, NUM_PLAYERS), np.float32)
    work, net_work = np.zeros(WORK_WORDS, np.uint64), np.zeros(EVALUATOR_WORDS, np.uint64)
    memory = after, mask, values, work, net_work
    for game in games:
        first = stream(seed, STREAMS * group_of[game])
        choices = stream(seed, STREAMS * game + 1)
        openings = stream(seed, STREAMS * group_of[game] + 2)
        events, viewer, course, any_drawn = 0, 0, np.uint64(0), False
        init(row)
        who = actor(row, work)
        luck[game] = 0
        steps = 0
        while who != TERMINAL and steps < MAX_STEPS:
            if who == CHANCE:
                viewer = after_outcomes(params[control], row, viewer, probs, rolled, best, memory)
                move = sampled(probs, NUM_OUTCOMES, fraction(first, events))
                events += 1
                add_luck(best, probs, move, luck[game])
                any_drawn |= probs[move] < 1
                copy(rolled[move], row)
            else:
                legal(row, mask, work)
                if steps < opening:
                    move = pick(mask, MASK_WORDS, fraction(openings, steps))
                    any_drawn |= num_set(mask, MASK_WORDS) > 1
                elif num_set(mask, MASK_WORDS) == 1:
                    move = next_set(mask, MASK_WORDS, 0)
                else:
                    move, ties = choose(params[seating[game, who]], row, who, choices, steps, memory)
                    any_drawn |= ties
                act(row, move, after, work)
                copy(after, row)
            course = mix(course ^ mix(np.uint64(move + 1)))
            steps += 1
            who = actor(row, work)
        returns(row, results[game], work)
        cut[game], drawn[game], courses[game] = who != TERMINAL, any_drawn, course


@njit(cache=True, nogil=True)
def copy(source, target):
    """Copies a row; a loop is faster than a slice."""
    for word in range(WORDS):
        target[word] = source[word]


@njit(cache=True, nogil=True)
def value_after(params, after, viewer, out, work, net_work):
    """Writes [P] values of an afterstate as a player sees it: its returns where the game is over."""
    if actor(after, work) == TERMINAL:
        returns(after, out, work)
    else:
        evaluate(params, after, viewer, out, net_work)


@njit(cache=True, nogil=True)
def choose(params, row, who, choices, step, memory):
    """(action, whether it was drawn): one of those whose afterstates are worth most to the actor."""
    after, mask, values, work, net_work = memory
    top, found, equals = np.float32(-np.inf), 0, 0
    action = next_set(mask, MASK_WORDS, 0)
    while action >= 0:
        act(row, action, after, work)
        value_after(params, after, who, values, work, net_work)
        equals = equals + 1 if values[who] == top else 1
        if values[who] >= top:
            # The k-th of equals takes the place of those before it with a chance of 1/k: each is as likely.
            if values[who] > top or fraction(mix(choices + np.uint64(step)), action) * equals < 1:
                found = action
            top = values[who]
        action = next_set(mask, MASK_WORDS, action + 1)
    return found, equals > 1


@njit(cache=True, nogil=True)
def after_outcomes(params, row, viewer, probs, rolled, best, memory):
    """Writes the rows after each outcome and their [C, P] values, and returns who sees those in which nobody decides.

    A decision is worth its best afterstate, as `boardrl.matches.luck.after_outcomes` has it.
    """
    after, mask, values, work, net_work = memory
    likely = np.zeros(NUM_PLAYERS, np.float32)
    chance(row, probs, work)
    for outcome in range(NUM_OUTCOMES):
        if probs[outcome] > 0:
            settle(row, outcome, rolled[outcome], work)
            who = actor(rolled[outcome], work)
            if who >= 0:
                likely[who] += probs[outcome]
    if likely.max() > 0:
        viewer = np.argmax(likely)
    for outcome in range(NUM_OUTCOMES):
        if probs[outcome] <= 0:
            continue
        who = actor(rolled[outcome], work)
        if who < 0:
            value_after(params, rolled[outcome], viewer, best[outcome], work, net_work)
            continue
        legal(rolled[outcome], mask, work)
        top = np.float32(-np.inf)
        action = next_set(mask, MASK_WORDS, 0)
        while action >= 0:
            act(rolled[outcome], action, after, work)
            value_after(params, after, who, values, work, net_work)
            if values[who] > top:
                top = values[who]
                for player in range(NUM_PLAYERS):
                    best[outcome, player] = values[player]
            action = next_set(mask, MASK_WORDS, action + 1)
    return viewer


@njit(cache=True, nogil=True)
def add_luck(best, probs, outcome, luck):
    """Adds v(s_c) − Σ p v to [P] sums of luck."""
    total = np.float32(0)
    for other in range(NUM_OUTCOMES):
        total += probs[other]
    for player in range(NUM_PLAYERS):
        mean = np.float32(0)
        for other in range(NUM_OUTCOMES):
            if probs[other] > 0:
                mean += probs[other] / total * best[other, player]
        luck[player] += best[outcome, player] - mean
