"""Kernel: turns of a Q-learner in some lanes, as `algorithms.learning.experience.play` plays them in JAX."""

from __future__ import annotations

import numpy as np
from numba import njit

from algorithms.self_play.experience_slots import REWARD_WORDS, reward
from boardrl.host.compile_options import compiled
from boardrl.host.dice import fraction, stream
from boardrl.host.masks import next_set, num_set, pick
from boardrl.host.slots import MASK_WORDS, NUM_PLAYERS, WORDS, init, legal
from boardrl.play.turn_kernel import OPTIONS, best, choose, copy, due, new_memory, over, play_action, roll

LEARNER = 0  # its number, in a seating and in the lineup
ROLLS = 2  # of the dice in one turn: a second one where the first leaves nothing to decide
SHARES = 2 + ROLLS  # random numbers of a turn: whether to explore, the choice, then the rolls
EXPLORE, CHOICE, FIRST_ROLL = 0, 1, 2


@compiled
def play_turns(first, last, seed, numbers, epsilon, seating, params, worth, lanes, slots):
    """Plays T turns in the lanes from `first` up to before `last`.

    Args:
      numbers: [B] int64: of the lanes among all lanes; with the seed they decide the random numbers.
      seating: [B, P] int32: LEARNER, or the number of the player who sits there.
      worth: [E] float32: of each rewarded event.
      lanes: (rows [B, WORDS], steps [B] int32), which go on from there.
      slots: (player, memo, choice, dice, reward, ended), all [T, B], of `algorithms.learning.transitions.Slot`; a memo
        is the row of the state, and those of slots without a decision are left as they are.
    """
    memory, scratch = new_memory(), new_scratch()
    for lane in range(first, last):
        play_lane(lane, stream(seed, numbers[lane]), epsilon, seating, params, worth, lanes, slots, memory, scratch)


@compiled
def new_scratch():
    """More scratch memory for one thread: (before, got, reward_work)."""
    return np.zeros(WORDS, np.uint64), np.zeros(NUM_PLAYERS, np.float32), np.zeros(REWARD_WORDS, np.uint64)


@njit(**OPTIONS)
def play_lane(lane, begin, epsilon, seating, params, worth, lanes, slots, memory, scratch):
    """Plays T turns in one lane, whose random numbers are the stream `begin`."""
    rows, steps = lanes
    players, memos, choices, dice_rewards, rewards, ended = slots
    mask, work = memory[1], memory[6]
    before, got, reward_work = scratch
    row = rows[lane]
    for turn in range(len(players)):
        at = SHARES * turn
        for number in range(ROLLS):
            copy(row, before)
            if roll(row, fraction(begin, at + FIRST_ROLL + number), memory):
                steps[lane] += 1
                reward(worth, before, row, got, reward_work)
                for player in range(NUM_PLAYERS):
                    dice_rewards[turn, lane, player] += got[player]
        seat = due(row, steps[lane], memory)
        if seat >= 0:
            copy(row, before)
            who = seating[lane, seat]
            if who == LEARNER:
                legal(row, mask, work)
                if num_set(mask, MASK_WORDS) == 1:
                    action = next_set(mask, MASK_WORDS, 0)
                elif fraction(begin, at + EXPLORE) < epsilon:
                    action = pick(mask, MASK_WORDS, fraction(begin, at + CHOICE))
                else:
                    action = best(LEARNER, params, row, seat, memory)
                players[turn, lane], choices[turn, lane] = seat, action
                copy(row, memos[turn, lane])
            else:
                action = choose(who, params, row, seat, fraction(begin, at + CHOICE), memory)
            play_action(row, action, memory)
            steps[lane] += 1
            reward(worth, before, row, rewards[turn, lane], reward_work)
        if over(row, steps[lane], memory):
            ended[turn, lane] = True
            init(row)
            steps[lane] = 0
