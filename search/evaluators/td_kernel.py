"""Values learned during the search by TD(λ), for any game (temporal-difference search: Silver, Sutton, Müller 2012).

The value to a player is linear in its observation x(s, p), and squashed into the range of returns:

    V_p(s) = least + (most − least) σ(w · x(s, p))

Self-play is greedy: everybody takes the action whose afterstate has its highest value; the dice bring variety. After a
game w moves towards its λ-returns by Adagrad (Duchi, Hazan and Singer 2011), at every afterstate and for every player,
from the last to the first. A game is played whenever as many positions were valued for the search as in self-play.

A decision in a game with dice is valued by its best afterstate, other positions as they are. What is learned is in the
scratch memory of the searcher: it begins with zeros, and is kept from move to move until `reset`.
"""

from __future__ import annotations

import math

import numpy as np

from boardrl.game import CHANCE, TERMINAL
from boardrl.host.compile_options import compiled, inner
from boardrl.host.slots import (
    MAX_STEPS,
    NUM_OUTCOMES,
    NUM_PLAYERS,
    OBS_SIZE,
    ROOM,
    WORDS,
    actor,
    chance,
    returns,
    settle,
    successors,
)
from search.evaluators.input_slots import INPUT_WORDS, NUM_INPUTS, inputs
from search.kernel.random_stream import below, fraction, mix

LEAST = -1.0  # that a player can get
MOST = 1.0

RATE = 0.1  # of Adagrad
LAMBDA = 0.9
EXPLORE = 0.0  # share of random actions in self-play, for games without dice
LENGTH = 512  # afterstates of a game that are stored; longer games are learned from in parts
CERTAIN = 1e3  # logit of the highest return of a finished game, beyond those of all values

# Float32s of the scratch memory: returns, λ-returns, probabilities, inputs, rows, counts, weights. All but the last
# begin at a whole word.
TARGETS = NUM_PLAYERS + NUM_PLAYERS % 2
PROBS = TARGETS + TARGETS
SEEN = PROBS + NUM_OUTCOMES + NUM_OUTCOMES % 2
CANDIDATES = SEEN + 2 * INPUT_WORDS
ROW = CANDIDATES + 2 * WORDS * ROOM
GAME = ROW + 2 * WORDS
OWED = GAME + 2 * WORDS * LENGTH
WEIGHTS = OWED + 2
SQUARES = WEIGHTS + OBS_SIZE + 1
SCRATCH = SQUARES + OBS_SIZE + 1
BATCHED = False  # whether `prepare` does anything


@inner
def prepare(rows, first, count, seat, weights, scratch, work):
    """Nothing is gained by many at once."""


@inner
def prepare_all(rows, first, count, weights, scratch, work):
    """Nothing is gained by many at once."""


@compiled
def evaluate(rows, at, seat, weights, scratch, work):
    """By what is learned so far, like `evaluate_all`."""
    out = np.empty(NUM_PLAYERS)
    evaluate_all(rows, at, out, weights, scratch, work)
    return out[seat]


@compiled
def evaluate_all(rows, at, out, weights, scratch, work):
    value_all(rows[at], out, scratch, work)


@inner
def sample_all(rows, at, out, stream, weights, scratch, work):
    """Values a leaf, and learns from a game that begins there, if it is time for one."""
    owed = scratch[OWED:WEIGHTS].view(np.int64)  # evaluations that self-play is behind
    if owed[0] >= 0:
        owed[0] -= self_play(rows[at], stream, scratch, work)
    owed[0] += value_all(rows[at], out, scratch, work)


@compiled
def value_all(row, out, scratch, work):
    """Writes [P] values of a position, and returns how many evaluations it took."""
    evaluations = NUM_PLAYERS
    who = actor(row, work)
    if NUM_OUTCOMES > 0 and who >= 0:
        candidates = scratch[CANDIDATES:ROW].view(np.uint64).reshape(ROOM, WORDS)
        count = successors(row, candidates, work)
        row = candidates[best_of(candidates, count, who, np.uint64(0), scratch, work)]
        who = actor(row, work)
        evaluations += count
    if who == TERMINAL:
        returns(row, scratch, work)
        for player in range(NUM_PLAYERS):
            out[player] = scratch[player]
    else:
        for player in range(NUM_PLAYERS):
            value = LEAST + (MOST - LEAST) * sigmoid(logit(row, player, scratch, work))
            out[player] = np.float64(np.float32(value))
    return evaluations


@inner
def logit(row, player, scratch, work):
    """w · x of an afterstate; leaves x in the scratch memory."""
    seen = scratch[SEEN:CANDIDATES].view(np.uint64)
    inputs(row, player, seen, work)
    places, numbers = seen.view(np.int32), seen.view(np.float32)
    total = scratch[WEIGHTS + OBS_SIZE]
    for entry in range(NUM_INPUTS):
        total += scratch[WEIGHTS + places[entry]] * numbers[NUM_INPUTS + entry]
    return np.float64(total)


@compiled
def sigmoid(x):
    """σ(x)."""
    return 1.0 / (1.0 + math.exp(-x))


@inner
def best_of(candidates, count, who, word, scratch, work):
    """The number of the afterstate that is worth most to who acts; of equals, any."""
    best, found, equals = -np.inf, np.int64(0), 0
    for number in range(count if count > 1 else 0):
        if actor(candidates[number], work) == TERMINAL:
            returns(candidates[number], scratch, work)
            worth = CERTAIN * (2.0 * (scratch[who] - LEAST) / (MOST - LEAST) - 1.0)
        else:
            worth = logit(candidates[number], who, scratch, work)
        equals = equals + 1 if worth == best else 1
        if worth >= best:
            word = mix(word)
            if worth > best or below(word, equals) == 0:
                best, found = worth, np.int64(number)
    return found


@compiled
def self_play(start, stream, scratch, work):
    """Plays a game to its end, learns from it, and returns how many evaluations that took."""
    probs = scratch[PROBS:SEEN]
    candidates = scratch[CANDIDATES:ROW].view(np.uint64).reshape(ROOM, WORDS)
    row = scratch[ROW:GAME].view(np.uint64)
    game = scratch[GAME:OWED].view(np.uint64).reshape(LENGTH, WORDS)
    for word in range(WORDS):
        row[word] = start[word]
    evaluations, length = 0, 0
    for _ in range(MAX_STEPS):
        who = actor(row, work)
        if who == TERMINAL:
            break
        stream = mix(stream)
        chosen = np.int64(0)
        if who == CHANCE:
            chance(row, probs, work)
            rest = fraction(stream)
            for outcome in range(NUM_OUTCOMES):
                if probs[outcome] > 0:
                    chosen = np.int64(outcome)
                    rest -= probs[outcome]
                    if rest < 0:
                        break
            settle(row, chosen, candidates[0], work)
            chosen = np.int64(0)
        else:
            count = successors(row, candidates, work)
            if EXPLORE > 0 and fraction(stream) < EXPLORE:
                stream = mix(stream)
                chosen = below(stream, count)
            else:
                chosen = best_of(candidates, count, who, stream, scratch, work)
                evaluations += count
            if length == LENGTH:
                set_targets(game[length - 1], scratch, work)
                evaluations += learn(game, length - 1, scratch, work)
                length = 0
            for word in range(WORDS):
                game[length, word] = candidates[chosen, word]
            length += 1
        for word in range(WORDS):
            row[word] = candidates[chosen, word]
    set_targets(row, scratch, work)
    return evaluations + learn(game, length, scratch, work)


@inner
def set_targets(row, scratch, work):
    """Sets the λ-returns to those of the last position: the returns, or where the game goes on the values."""
    over = actor(row, work) == TERMINAL
    if over:
        returns(row, scratch, work)
    for player in range(NUM_PLAYERS):
        if over:
            scratch[TARGETS + player] = (scratch[player] - LEAST) / (MOST - LEAST)
        else:
            scratch[TARGETS + player] = sigmoid(logit(row, player, scratch, work))


@inner
def learn(game, length, scratch, work):
    """Adagrad steps towards the λ-returns, from the last afterstate to the first; returns the number of steps."""
    places = scratch[SEEN:CANDIDATES].view(np.int32)
    numbers = scratch[SEEN:CANDIDATES]
    steps = 0
    for number in range(length - 1, -1, -1):
        if actor(game[number], work) == TERMINAL:
            continue
        for player in range(NUM_PLAYERS):
            value = np.float32(sigmoid(logit(game[number], player, scratch, work)))
            error = scratch[TARGETS + player] - value
            step(OBS_SIZE, error, scratch)
            for entry in range(NUM_INPUTS):
                if numbers[NUM_INPUTS + entry] != 0:
                    step(places[entry], error * numbers[NUM_INPUTS + entry], scratch)
            scratch[TARGETS + player] = value + np.float32(LAMBDA) * error
            steps += 1
    return steps


@inner
def step(place, gradient, scratch):
    """One weight's step of Adagrad."""
    scratch[SQUARES + place] += gradient * gradient
    scratch[WEIGHTS + place] += np.float32(RATE) * gradient / math.sqrt(scratch[SQUARES + place] + np.float32(1e-8))
