"""A kernel: games among the members of a population, and opponents, on a game's compiled rules.

All randomness of a game follows from the seed and its number, so that games can be played by any number of threads.
"""

from __future__ import annotations

import numpy as np

from algorithms.genomes.match_slots import MATCH_WORDS, act, considered, decide, rival, settle
from boardrl.host.compile_options import compiled
from boardrl.host.dice import drawn, mix, uniform
from boardrl.host.masks import is_set, next_set, num_set, pick
from boardrl.host.slots import (
    MASK_WORDS,
    MAX_STEPS,
    NUM_ACTIONS,
    NUM_OUTCOMES,
    WORDS,
    WORK_WORDS,
    actor,
    chance,
    init,
    legal,
    returns,
)


@compiled
def play(first, last, seed, opening, seating, params, out):
    """Plays the games from number `first` up to before `last`.

    Args:
      opening: how many steps each game begins with in which any legal action is as likely.
      seating: [G, P] int32, who sits where: a member's number, or -1 - k for the opponent k.
      params: [M, W] uint64, the parameters of each member.
      out: [G, P] float32, gets the returns; of a game that is cut at MAX_STEPS as they stand.
    """
    row, after = np.zeros(WORDS, np.uint64), np.zeros(WORDS, np.uint64)
    work, work_match = np.zeros(WORK_WORDS, np.uint64), np.zeros(MATCH_WORDS, np.uint64)
    probs, logits = np.zeros(NUM_OUTCOMES, np.float32), np.zeros(NUM_ACTIONS, np.float32)
    mask = np.zeros(MASK_WORDS, np.uint64)
    dice = np.zeros(1, np.uint64)
    for game in range(first, last):
        dice[0] = mix(np.uint64(seed) ^ mix(np.uint64(game)))
        init(row)
        seat = actor(row, work)
        for step in range(MAX_STEPS):
            if seat == -2:
                break
            if seat == -1:
                chance(row, probs, work)
                settle(row, drawn(probs, dice), after, work_match)
            else:
                player = seating[game, seat]
                if player < 0 or step < opening:
                    legal(row, mask, work)
                else:
                    considered(row, mask, work_match)
                action = only_one(mask)
                if action < 0:
                    if step < opening:
                        action = pick(mask, MASK_WORDS, uniform(dice))
                    else:
                        if player < 0:
                            rival(row, -1 - player, logits, work_match)
                        else:
                            decide(params[player], row, logits, work_match)
                        action = sampled(logits, mask, dice)
                act(row, action, after, work_match)
            row, after = after, row
            seat = actor(row, work)
        returns(row, out[game], work)


@compiled
def only_one(mask):
    """The only action in the set; -1 where there are more, which have to be decided between."""
    return next_set(mask, MASK_WORDS, 0) if num_set(mask, MASK_WORDS) == 1 else -1


@compiled
def sampled(logits, mask, dice):
    """An action by softmax over those in the mask; any of them if all logits are -inf."""
    top, others = -np.inf, False
    for index in range(NUM_ACTIONS):
        if is_set(mask, index):
            if logits[index] > top:
                others |= top > -np.inf
                top = np.float64(logits[index])
            elif logits[index] > -np.inf and logits[index] < top:
                others = True
    if top == -np.inf:
        return pick(mask, MASK_WORDS, uniform(dice))
    if not others:  # those at the top are alike, and nobody else has a chance
        count, found = 0, 0
        for index in range(NUM_ACTIONS):
            if is_set(mask, index) and logits[index] == top:
                count += 1
                if count == 1 or uniform(dice) * count < 1:
                    found = index
        return found
    total = 0.0
    for index in range(NUM_ACTIONS):
        if is_set(mask, index):
            total += np.exp(logits[index] - top)
    rest, found = uniform(dice) * total, 0
    for index in range(NUM_ACTIONS):
        if is_set(mask, index) and logits[index] > -np.inf:
            found = index
            rest -= np.exp(logits[index] - top)
            if rest < 0:
                break
    return found
