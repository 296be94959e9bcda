"""Playouts: a position is worth the mean result of random games from it on, for any game.

Every legal action is as likely, and the dice are what they are. Dice and actions have a stream of random numbers each,
so that two positions played out by the same stream meet the same dice: what is common to them cancels out of their
difference. `evaluate` takes its stream from the position's key: the value is a function of the position alone, as the
transposition table wants it.
"""

from __future__ import annotations

import numpy as np

from boardrl.game import CHANCE, TERMINAL
from boardrl.host.compile_options import compiled, inner
from boardrl.host.masks import nth_set, num_set
from boardrl.host.slots import (
    MASK_WORDS,
    MAX_STEPS,
    NUM_OUTCOMES,
    NUM_PLAYERS,
    WORDS,
    act,
    actor,
    chance,
    key,
    legal,
    returns,
    settle,
)
from search.kernel.random_stream import below, fraction, mix

GAMES = 0  # the weight that holds the number of games

# Float32s of the scratch memory: returns, probabilities, two rows, and the mask of what is legal. Each
# begins at a whole word.
PROBS = NUM_PLAYERS + NUM_PLAYERS % 2
FIRST_ROW = PROBS + NUM_OUTCOMES + NUM_OUTCOMES % 2
SECOND_ROW = FIRST_ROW + 2 * WORDS
MASK = SECOND_ROW + 2 * WORDS
SCRATCH = MASK + 2 * MASK_WORDS

ACTIONS = np.uint64(0x6A09E667F3BCC909)  # tells the stream of the actions from that of the dice
BATCHED = False  # whether `prepare` does anything


@inner
def prepare(rows, first, count, seat, weights, scratch, work):
    """Nothing is gained by many at once."""


@inner
def prepare_all(rows, first, count, weights, scratch, work):
    """Nothing is gained by many at once."""


@compiled
def evaluate(rows, at, seat, weights, scratch, work):
    total = 0.0
    games = np.int64(weights[GAMES])
    for game in range(games):
        play_out(rows[at], mix(np.uint64(key(rows[at])) + np.uint64(game)), scratch, work)
        total += scratch[seat]
    return np.float64(np.float32(total / games))


@compiled
def evaluate_all(rows, at, out, weights, scratch, work):
    sample_all(rows, at, out, np.uint64(key(rows[at])), weights, scratch, work)


@inner
def sample_all(rows, at, out, stream, weights, scratch, work):
    games = np.int64(weights[GAMES])
    for player in range(NUM_PLAYERS):
        out[player] = 0.0
    for game in range(games):
        play_out(rows[at], mix(stream + np.uint64(game)), scratch, work)
        for player in range(NUM_PLAYERS):
            out[player] += scratch[player]
    for player in range(NUM_PLAYERS):
        out[player] = np.float64(np.float32(out[player] / games))


@inner
def play_out(start, stream, scratch, work):
    """Leaves the returns of one random game at the beginning of the scratch memory."""
    probs = scratch[PROBS:FIRST_ROW]
    row = scratch[FIRST_ROW:SECOND_ROW].view(np.uint64)
    after = scratch[SECOND_ROW:MASK].view(np.uint64)
    mask = scratch[MASK:SCRATCH].view(np.uint64)
    for word in range(WORDS):
        row[word] = start[word]
    dice, choices = stream, stream ^ ACTIONS
    for _ in range(MAX_STEPS):
        who = actor(row, work)
        if who == TERMINAL:
            break
        move = 0
        if who == CHANCE:
            dice = mix(dice)
            chance(row, probs, work)
            rest = fraction(dice)
            for outcome in range(NUM_OUTCOMES):
                if probs[outcome] > 0:
                    move = outcome
                    rest -= probs[outcome]
                    if rest < 0:
                        break
            settle(row, move, after, work)
        else:
            choices = mix(choices)
            legal(row, mask, work)
            move = nth_set(mask, MASK_WORDS, below(choices, num_set(mask, MASK_WORDS)))
            act(row, move, after, work)
        row, after = after, row
    returns(row, scratch, work)
