"""Kernel of matches between policies: play on compiled rules, with the luck of every roll by a control.

What luck is, and who sees which position, is as in `boardrl.matches.luck`. A decision after a roll is worth what the
seat's own player makes of it: the mean over its choices, whose own randomness is luck too (AIVAT: Burch et al. 2018).
What somebody else would rather have done is then no part of the adjusted result's variance. The control is the last
player of the lineup, who sits nowhere, or one of those who play.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from boardrl.game import CHANCE, TERMINAL
from boardrl.host.compile_options import compiled
from boardrl.host.dice import fraction, mix, sampled, stream
from boardrl.host.masks import is_set, next_set, num_set, pick
from boardrl.host.slots import (
    MASK_WORDS,
    MAX_STEPS,
    NUM_ACTIONS,
    NUM_OUTCOMES,
    NUM_PLAYERS,
    WORDS,
    act,
    actor,
    chance,
    init,
    legal,
    returns,
    settle,
)
from boardrl.play.lineup_slots import BY_VALUE
from boardrl.play.turn_kernel import OPTIONS, choose, copy, new_memory, play_action, value_after

STREAMS = 3  # of random numbers: dice, choices, moves of the opening
ACTION, DRAWN, VIEWER = 0, 1, 2  # columns of `found` in `new_rolls`
NONE = -1
POSSIBLE = 1e-6  # the least probability of an action or an outcome that counts as possible


@compiled
def play(games, seed, group_of, opening, seating, control, params, results, luck, cut, drawn, courses):
    """Plays games, each from its own random numbers, in whatever order.

    Args:
      games: [G] int64, the numbers of the games; the other arrays have a place for each game of the match.
      group_of: [N] int64: games of a group have the same dice, and the same opening.
      opening: how many steps each game begins with in which any legal action is as likely.
      seating: [N, P] int32: the number of the player in each seat.
      control: the number of the control in the lineup.
      params: of all players and of the control, see `boardrl.play.lineup.Lineup`.
      results, luck: [N, P] float32, get the returns and the sums of luck.
      cut, drawn: [N] bool, whether a game reached MAX_STEPS, and whether anything was drawn at random.
      courses: [N] uint64, hashes of all moves.
    """
    memory, rolls = new_memory(), new_rolls()
    for game in games:
        streams = game_streams(seed, game, group_of[game])
        play_game(game, streams, opening, seating, control, params, results, luck, cut, drawn, courses, memory, rolls)


@njit(**OPTIONS)
def game_streams(seed, game, group):
    """The random numbers of a game: of dice, choices and opening."""
    return stream(seed, STREAMS * group), stream(seed, STREAMS * game + 1), stream(seed, STREAMS * group + 2)


@compiled
def new_rolls():
    """Scratch memory for one thread: (row, rolled, after, values, drawn_values, likely, found).

    Of each outcome of a chance node: `rolled` [C, WORDS] the row after it; `after` [C, WORDS] the row after the
    decision that follows, and `drawn_values` [C, P] its values; `values` [C, P] their mean over that decision; `found`
    [C, 3]: the action of that decision or NONE, whether it was drawn from several, and who sees the row after it.
    `likely` [P]: the chance of each seat to move.
    """
    return (
        np.zeros(WORDS, np.uint64),
        np.zeros((NUM_OUTCOMES, WORDS), np.uint64),
        np.zeros((NUM_OUTCOMES, WORDS), np.uint64),
        np.zeros((NUM_OUTCOMES, NUM_PLAYERS), np.float32),
        np.zeros((NUM_OUTCOMES, NUM_PLAYERS), np.float32),
        np.zeros(NUM_PLAYERS, np.float32),
        np.zeros((NUM_OUTCOMES, 3), np.int64),
    )


@njit(**OPTIONS)
def play_game(game, streams, opening, seating, control, params, results, luck, cut, drawn, courses, memory, rolls):
    """Plays one game; `streams` are its random numbers."""
    row, rolled, after, values, drawn_values, _, found = rolls
    probs, work = memory[2], memory[6]
    events, viewer, course, any_drawn, steps = 0, 0, np.uint64(0), False, 0
    init(row)
    for player in range(NUM_PLAYERS):
        luck[game, player] = 0
    who = actor(row, work)
    while who != TERMINAL and steps < MAX_STEPS:
        if who == CHANCE:
            viewer = after_outcomes(
                control, params, row, viewer, seating[game], steps + 1, opening, streams, memory, rolls
            )
            move = sampled(probs, NUM_OUTCOMES, fraction(streams[0], events))
            events += 1
            add_luck(values, drawn_values[move], probs, luck[game])
            any_drawn |= probs[move] < 1
            course = moved(course, move)
            steps += 1
            copy(rolled[move], row)
            if found[move, ACTION] != NONE and steps < MAX_STEPS:
                any_drawn |= found[move, DRAWN] != 0
                course = moved(course, found[move, ACTION])
                steps += 1
                copy(after[move], row)
        else:
            action, one_drawn = decide(seating[game, who], params, row, who, steps, opening, streams, memory)
            play_action(row, action, memory)
            any_drawn |= one_drawn
            course = moved(course, action)
            steps += 1
        who = actor(row, work)
    returns(row, results[game], work)
    cut[game], drawn[game], courses[game] = who != TERMINAL, any_drawn, course


@njit(**OPTIONS)
def moved(course, move):
    """The hash of a game's moves after one more."""
    return mix(course ^ mix(np.uint64(move + 1)))


@njit(**OPTIONS)
def decide(number, params, row, seat, step, opening, streams, memory):
    """(action of player `number` at the seat to act, whether several were possible); any action in the opening.

    Where several were, `weights` of the memory has what they were drawn by.
    """
    _, choices, openings = streams
    mask, weights, work = memory[1], memory[3], memory[6]
    if step < opening:
        legal(row, mask, work)
        for action in range(NUM_ACTIONS):
            weights[action] = np.float32(is_set(mask, action))
        return pick(mask, MASK_WORDS, fraction(openings, step)), num_set(mask, MASK_WORDS) > 1
    action = choose(number, params, row, seat, fraction(choices, step), memory)
    return action, several(mask, weights)


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
def after_outcomes(control, params, row, viewer, seated, step, opening, streams, memory, rolls):
    """Plays on after each outcome of a chance node, and returns who sees those in which nobody decides.

    Of each outcome the rows, the values and the decision that follows are written to `rolls`; `probs` of the memory
    gets the probabilities.

    Args:
      viewer: who sees a successor where no outcome lets anybody move.
      seated: [P] int32: the number of the player in each seat.
      step: of the decision that follows.
    """
    mask, probs, best_values, work = memory[1], memory[2], memory[5], memory[6]
    _, rolled, after, values, drawn_values, likely, found = rolls
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
    last = NONE  # the outcome before, whose row is often the same, as where nobody can move
    for outcome in range(NUM_OUTCOMES):
        if probs[outcome] <= 0:
            continue
        who, known, one_drawn = actor(rolled[outcome], work), False, False
        copy(rolled[outcome], after[outcome])
        found[outcome, ACTION], found[outcome, DRAWN], found[outcome, VIEWER] = NONE, 0, viewer
        if who >= 0:
            action, one_drawn = decide(seated[who], params, rolled[outcome], who, step, opening, streams, memory)
            # Where the control itself has chosen a single best afterstate, it knows what that is worth.
            known = seated[who] == control and step >= opening and BY_VALUE[control]
            known &= not one_drawn and num_set(mask, MASK_WORDS) > 1
            play_action(after[outcome], action, memory)
            found[outcome, ACTION], found[outcome, DRAWN], found[outcome, VIEWER] = action, one_drawn, who
        if known:
            write(best_values, drawn_values[outcome])
        elif last != NONE and found[last, VIEWER] == found[outcome, VIEWER] and same(after[last], after[outcome]):
            write(drawn_values[last], drawn_values[outcome])
        else:
            value_after(control, params, after[outcome], found[outcome, VIEWER], drawn_values[outcome], memory)
        if one_drawn:
            over_choices(control, params, rolled[outcome], who, values[outcome], memory)
        else:
            write(drawn_values[outcome], values[outcome])
        last = outcome
    return viewer


@njit(**OPTIONS)
def same(row, other):
    """Whether two rows are equal."""
    equal = True
    for word in range(WORDS):
        equal &= row[word] == other[word]
    return equal


@njit(**OPTIONS)
def write(values, out):
    """Copies [P] values."""
    for player in range(NUM_PLAYERS):
        out[player] = values[player]


@njit(**OPTIONS)
def over_choices(control, params, row, seat, out, memory):
    """Writes [P] the mean of the values after a decision that is drawn by `weights` of the memory."""
    after, mask, _, weights, values, _, work, _ = memory
    total = np.float32(0)
    for player in range(NUM_PLAYERS):
        out[player] = 0
    for action in range(NUM_ACTIONS):
        if is_set(mask, action) and weights[action] > 0:
            act(row, action, after, work)
            value_after(control, params, after, seat, values, memory)
            total += weights[action]
            for player in range(NUM_PLAYERS):
                out[player] += weights[action] * values[player]
    for player in range(NUM_PLAYERS):
        out[player] /= total


@njit(**OPTIONS)
def mean_of(values, probs, player):
    """A player's mean of [C, P] values after all outcomes."""
    total, mean = np.float32(0), np.float32(0)
    for outcome in range(NUM_OUTCOMES):
        total += probs[outcome]
    for outcome in range(NUM_OUTCOMES):
        if probs[outcome] > 0:
            mean += probs[outcome] / total * values[outcome, player]
    return mean


@njit(**OPTIONS)
def add_luck(values, drawn_values, probs, luck):
    """Adds v − Σ p v_c to [P] sums of luck: of what fell and was chosen, and of the [C, P] means after all outcomes."""
    for player in range(NUM_PLAYERS):
        luck[player] += drawn_values[player] - mean_of(values, probs, player)
