"""A kernel: tabular Q-learning on a game's compiled rules. `play` writes transitions down, `learn` learns from them.

Games are told by their number, from which all their randomness follows, and while they are played the table does not
change. So games can be played by any number of threads at once, and the transitions of a game come out the same.
"""

from __future__ import annotations

import numpy as np

from algorithms.tabular.hash_table import FREE, find
from algorithms.tabular.slots import (
    KEY_WORDS,
    NUM_KEYS,
    NUM_VALUES,
    Q_WORDS,
    act,
    allowed,
    dice_events,
    encode,
    other_events,
    own_events,
    rival,
    settle,
)
from boardrl.host.compile_options import compiled
from boardrl.host.dice import drawn, mix, uniform
from boardrl.host.masks import next_set, pick
from boardrl.host.slots import (
    MASK_WORDS,
    MAX_STEPS,
    NUM_ACTIONS,
    NUM_OUTCOMES,
    NUM_PLAYERS,
    WORDS,
    WORK_WORDS,
    actor,
    chance,
    init,
)

END = -1  # where a transition leads if the game is over


@compiled
def play(first, last, seed, learners, rivals, epsilon, exclusive, worth, table, book):
    """(games, records, transitions) of the games from number `first` up to before `last`, or as many as the book has
    room for.

    Which seat is whose moves on by one from game to game: `learners` who write down, then those who play as they do
    and do not, then `rivals`.

    Args:
      exclusive: whether of the rewards of one step only the first in their list counts.
      worth: three arrays of float32, of the events that own decisions, others' and the dice can bring.
      table: (keys, values, counts) of a hash table.
      book: the arrays of `tabular.Book`, see there.
    """
    worth_own, worth_other, worth_dice = worth
    keys, values, counts = table
    key_of, mask_of, action_of, reward_of, transition_from, transition_to, seat_of, before_of, after_of = book
    row, after = np.zeros(WORDS, np.uint64), np.zeros(WORDS, np.uint64)
    work, work_q = np.zeros(WORK_WORDS, np.uint64), np.zeros(Q_WORDS, np.uint64)
    probs, weights = np.zeros(NUM_OUTCOMES, np.float32), np.zeros(NUM_ACTIONS, np.float32)
    mask, code = np.zeros(MASK_WORDS, np.uint64), np.zeros(NUM_KEYS * KEY_WORDS, np.uint32)
    events = np.zeros(len(worth_own) + 1, np.float32)
    pending = np.zeros(NUM_PLAYERS, np.int64)  # each learner's last decision, which still collects rewards
    dice = np.zeros(1, np.uint64)
    records, transitions = 0, 0
    for game in range(first, last):
        if records + MAX_STEPS > len(action_of):
            return game - first, records, transitions
        begun = records
        dice[0] = mix(np.uint64(seed) ^ mix(np.uint64(game)))
        pending[:] = -1
        init(row)
        seat = actor(row, work)
        for _ in range(MAX_STEPS):
            if seat == -2:
                break
            if seat == -1:
                chance(row, probs, work)
                settle(row, drawn(probs, dice), after, work_q)
            else:
                role = (seat - game) % NUM_PLAYERS
                if role >= NUM_PLAYERS - rivals:
                    rival(row, role - (NUM_PLAYERS - rivals), weights, work_q)
                    action = drawn(weights, dice)
                else:
                    allowed(row, mask, work_q)
                    tries = uniform(dice) < epsilon
                    if tries:
                        action = pick(mask, MASK_WORDS, uniform(dice))
                    else:
                        encode(row, code, work_q)
                        action = best(code, mask, keys, values, counts)[0]
                    if role < learners:
                        for word in range(MASK_WORDS):  # faster than to copy a slice
                            mask_of[records, word] = mask[word]
                        action_of[records] = action
                        reward_of[records] = 0
                        seat_of[records] = seat
                        if pending[seat] >= 0:
                            transition_from[transitions], transition_to[transitions] = pending[seat], records
                            transitions += 1
                        pending[seat] = records
                        records += 1
                act(row, action, after, work_q)
                if pending[seat] == records - 1 and records > begun:
                    for word in range(WORDS):
                        before_of[records - 1, word], after_of[records - 1, word] = row[word], after[word]
            for player in range(NUM_PLAYERS):
                if pending[player] >= 0 and player != seat:
                    if seat == -1 and len(worth_dice):
                        dice_events(row, after, player, events, work_q)
                        reward_of[pending[player]] += total(worth_dice, events, exclusive)
                    elif seat >= 0 and len(worth_other):
                        other_events(row, after, player, events, work_q)
                        reward_of[pending[player]] += total(worth_other, events, exclusive)
            row, after = after, row
            seat = actor(row, work)
        if seat == -2:  # of a game that was cut, nobody knows what the last decisions led to
            for player in range(NUM_PLAYERS):
                if pending[player] >= 0:
                    transition_from[transitions], transition_to[transitions] = pending[player], END
                    transitions += 1
        # Afterwards, as this code is long and would push that of the game out of the instruction cache.
        for record in range(begun, records):
            encode(before_of[record], key_of[record], work_q)
        for record in range(begun, records):
            own_events(before_of[record], after_of[record], seat_of[record], events, work_q)
            reward_of[record] += total(worth_own, events, exclusive)
    return last - first, records, transitions


@compiled
def learn(transitions, rate, discount, table, book, used, room):
    """(entries used, sum of squared errors) after Q(s, a) ← Q(s, a) + α (r + γ max_b Q(s', b) − Q(s, a)) in turn.

    -1 entries if a new one found no room; what came before is learned.
    """
    keys, values, counts = table
    key_of, mask_of, action_of, reward_of, transition_from, transition_to, _, _, _ = book
    squares = 0.0
    for transition in range(transitions):
        here, there = transition_from[transition], transition_to[transition]
        target = np.float64(reward_of[here])
        if there != END:
            target += discount * best(key_of[there], mask_of[there], keys, values, counts)[1]
        action = action_of[here]
        key = action_key(key_of[here], action)
        place = find(key, keys, counts)
        if counts[place] == FREE:
            if used == room:
                return -1, squares
            used += 1
            keys[place] = key
        error = target - values[place, action % NUM_VALUES]
        values[place, action % NUM_VALUES] += rate * error
        counts[place] += 1
        squares += error * error
    return used, squares


@compiled
def total(worth, events, exclusive):
    """What some events are worth together, or the first of those that happened by itself."""
    got = 0.0
    for event in range(len(worth)):
        got += worth[event] * events[event]
        if exclusive and events[event] != 0:
            break
    return got


@compiled
def best(code, mask, keys, values, counts):
    """(action, Q) of the first of the considered actions that have the highest value; unknown keys have value 0."""
    top, found, place = -np.inf, 0, find(action_key(code, 0), keys, counts)
    action = next_set(mask, MASK_WORDS, 0)
    while action >= 0:
        if NUM_KEYS > 1:
            place = find(action_key(code, action), keys, counts)
        worth = np.float64(values[place, action % NUM_VALUES]) if counts[place] != FREE else 0.0
        if worth > top:
            top, found = worth, action
        action = next_set(mask, MASK_WORDS, action + 1)
    return found, top


@compiled
def action_key(code, action):
    """The key of an action: its own, or the one of all."""
    which = action % NUM_KEYS
    return code[which * KEY_WORDS : (which + 1) * KEY_WORDS]
