"""Kernel of compiled play: the parts of a turn, for any game and any players that have a compiled form.

`boardrl.play.rollout.turn` defines a turn in JAX: dice where they are due, then a decision where one is due, then
perhaps the end of the game. These functions are its parts on one row, and with the same random numbers they play the
same turn, but for ties within rounding (tests/boardrl/play/test_turn_kernel.py). A kernel that plays many lanes calls
them in this order (`play` below does; `algorithms.self_play` has kernels that record what learners need):

    memory = new_memory()
    if roll(row, share, memory): ...                              # a chance node: its outcome is drawn by `share`
    seat = due(row, steps, memory)                                # who decides, or NOBODY
    action = choose(number, params, row, seat, share, memory)     # by the player who sits there
    play_action(row, action, memory)
    if over(row, steps, memory): returns(row, out, work)

Random numbers are float32 in [0, 1) that the caller brings, such as `boardrl.host.dice.fraction` of a stream per lane:
then results depend neither on the number of threads nor on which lanes are played together.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from boardrl.host import compile_options
from boardrl.host.compile_options import compiled
from boardrl.host.dice import fraction, sampled, stream
from boardrl.host.masks import is_set, next_set, num_set, pick
from boardrl.host.slots import (
    MASK_WORDS,
    MAX_STEPS,
    NUM_ACTIONS,
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
from boardrl.play.lineup_slots import BY_MARGIN, BY_RETURNS, BY_VALUE, LINEUP_WORDS, logits, value

# Without Numba's counts of references: two threads that slice the same arrays wait for each other at every count, which
# took a seventh of the processor time. So these functions cannot allocate; they are given memory by those that can.
OPTIONS: Any = {**compile_options.INNER, "_nrt": False, "forceinline": True}
FROM_PYTHON: Any = {**OPTIONS, "no_cpython_wrapper": False}  # for those that Python calls too
NOBODY = -1  # who decides where no decision is due
SHARES = 2  # random numbers of one turn of `play`: for the dice, and for the choice


@compiled
def new_memory():
    """Scratch memory for one thread: (after, mask, probs, weights, values, best_values, work, lineup_work).

    `after` [WORDS] row of a successor; `mask` legal actions; `probs` [C]; `weights` [A] of actions; `values` and
    `best_values` [P]; workspaces of the rules and of the players.
    """
    return (
        np.zeros(WORDS, np.uint64),
        np.zeros(MASK_WORDS, np.uint64),
        np.zeros(max(NUM_OUTCOMES, 1), np.float32),
        np.zeros(NUM_ACTIONS, np.float32),
        np.zeros(NUM_PLAYERS, np.float32),
        np.zeros(NUM_PLAYERS, np.float32),
        np.zeros(WORK_WORDS, np.uint64),
        np.zeros(LINEUP_WORDS, np.uint64),
    )


@njit(**OPTIONS)
def copy(source, target):
    """Copies a row; a loop is faster than a slice."""
    for word in range(WORDS):
        target[word] = source[word]


@njit(**OPTIONS)
def roll(row, share, memory):
    """Throws the dice if the row waits for them, and says whether it did."""
    after, work = memory[0], memory[6]
    if NUM_OUTCOMES == 0 or actor(row, work) != -1:
        return False
    settle(row, outcome(row, share, memory), after, work)
    copy(after, row)
    return True


@njit(**OPTIONS)
def outcome(row, share, memory):
    """The outcome of a chance node that a number in [0, 1) draws; `probs` of the memory has the probabilities."""
    probs, work = memory[2], memory[6]
    chance(row, probs, work)
    return sampled(probs, NUM_OUTCOMES, share)


@njit(**OPTIONS)
def due(row, steps, memory):
    """The seat that has to decide, or NOBODY: at dice, at the end, and in a game that is cut."""
    seat = actor(row, memory[6])
    return seat if seat >= 0 and steps < MAX_STEPS else NOBODY


@njit(**OPTIONS)
def play_action(row, action, memory):
    """Plays an action."""
    act(row, action, memory[0], memory[6])
    copy(memory[0], row)


@njit(**OPTIONS)
def over(row, steps, memory):
    """Whether a game has ended, or is cut."""
    return actor(row, memory[6]) == -2 or steps >= MAX_STEPS


@njit(**OPTIONS)
def value_after(number, params, after, viewer, out, memory):
    """Writes [P] the value of an afterstate by player `number`'s net, as `viewer` sees it: its returns at an end."""
    work, lineup_work = memory[6], memory[7]
    if BY_RETURNS[number] and actor(after, work) == -2:
        returns(after, out, work)
    else:
        value(number, params, after, viewer, out, lineup_work)


@njit(**OPTIONS)
def utility(number, values, seat):
    """What [P] values are worth to a seat where player `number` sits."""
    if not BY_MARGIN[number]:
        return values[seat]
    total = np.float32(0)
    for player in range(NUM_PLAYERS):
        total += values[player]
    return np.float32(2) * values[seat] - total


@njit(**OPTIONS)
def best(number, params, row, seat, memory):
    """The first action of the highest utility, or of the highest logit; `mask` of the memory has the legal ones.

    `best_values` gets its [P] values if the player decides by value, and `weights` the utilities of all legal actions.
    """
    after, mask, _, weights, values, best_values, work, lineup_work = memory
    found, top = -1, np.float32(-np.inf)
    if not BY_VALUE[number]:
        logits(number, params, row, weights, lineup_work)
    action = next_set(mask, MASK_WORDS, 0)
    while action >= 0:
        if BY_VALUE[number]:
            act(row, action, after, work)
            value_after(number, params, after, seat, values, memory)
            weights[action] = utility(number, values, seat)
        if weights[action] > top or found < 0:
            found, top = action, weights[action]
            if BY_VALUE[number]:
                for player in range(NUM_PLAYERS):
                    best_values[player] = values[player]
        action = next_set(mask, MASK_WORDS, action + 1)
    return found


@njit(**OPTIONS)
def choose(number, params, row, seat, share, memory):
    """The action of player `number`, who sits at the seat to act, as `rollout.choose` draws it from a policy.

    By value: one of the actions of the highest utility, each as likely. By logits: drawn from their softmax. A single
    legal action needs no thought. `mask` of the memory gets the legal actions.
    """
    _, mask, _, weights, _, _, work, lineup_work = memory
    legal(row, mask, work)
    if num_set(mask, MASK_WORDS) == 1:
        return next_set(mask, MASK_WORDS, 0)
    if BY_VALUE[number]:
        top = weights[best(number, params, row, seat, memory)]
    else:
        logits(number, params, row, weights, lineup_work)
        top = np.float32(-np.inf)
        for action in range(NUM_ACTIONS):
            if is_set(mask, action) and weights[action] > top:
                top = weights[action]
        if top == -np.inf:  # it rules out every legal action
            return pick(mask, MASK_WORDS, share)
    for action in range(NUM_ACTIONS):
        if not is_set(mask, action):
            weights[action] = 0
        elif BY_VALUE[number]:
            weights[action] = np.float32(weights[action] >= top)
        else:
            weights[action] = np.exp(weights[action] - top)
    return sampled(weights, NUM_ACTIONS, share)


@compiled
def play(rows, steps, streams, seating, opening, turns, params, ended, cut, results):
    """Plays turns in every lane, and returns how many games ended; what is over is replaced by a new game.

    Args:
      rows, steps: [B, WORDS] and [B] int64: the lanes, which go on from there.
      streams: [B, 2] uint64: the first word of each lane's random numbers, and how many were drawn.
      seating: [B, P] int32: the number of the player in each seat.
      opening: how many steps each game begins with in which any legal action is as likely, whoever decides.
      ended, cut: [T, B] bool: where a game ended, and whether it was cut.
      results: [T, B, P] float32: its returns.
    """
    return play_lanes(rows, steps, streams, seating, opening, turns, params, ended, cut, results, new_memory())


@njit(**OPTIONS)
def play_lanes(rows, steps, streams, seating, opening, turns, params, ended, cut, results, memory):
    """`play` with a memory of the caller."""
    mask, work = memory[1], memory[6]
    count = 0
    for lane in range(len(steps)):
        row, at = rows[lane], np.int64(streams[lane, 1])
        for turn in range(turns):
            shares = fraction(streams[lane, 0], at), fraction(streams[lane, 0], at + 1)
            at += SHARES
            if roll(row, shares[0], memory):
                steps[lane] += 1
            seat = due(row, steps[lane], memory)
            if seat >= 0:
                if steps[lane] < opening:
                    legal(row, mask, work)
                    action = pick(mask, MASK_WORDS, shares[1])
                else:
                    action = choose(seating[lane, seat], params, row, seat, shares[1], memory)
                play_action(row, action, memory)
                steps[lane] += 1
            ended[turn, lane] = over(row, steps[lane], memory)
            if ended[turn, lane]:
                cut[turn, lane] = actor(row, work) != -2
                returns(row, results[turn, lane], work)
                init(row)
                steps[lane] = 0
                count += 1
        streams[lane, 1] = np.uint64(at)
    return count


@njit(**OPTIONS)
def new_streams(seed, lanes, streams):
    """Writes [B, 2] fresh streams of random numbers for lanes of these [B] numbers."""
    for place in range(len(lanes)):
        streams[place, 0] = stream(seed, lanes[place])
        streams[place, 1] = np.uint64(0)
