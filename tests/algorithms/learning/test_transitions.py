"""Whose reward is whose: turns by hand."""

import chex
import jax.numpy as jnp
import numpy as np

from algorithms.learning import transitions
from algorithms.learning.transitions import NOBODY, Slot
from boardrl import registry


def by_hand(rows, *, first=0):
    """[T, 1] slots of rows (player, dice, reward, ended); a decision's memo and choice are its number."""
    player, dice, reward, ended = zip(*rows, strict=True)
    numbers = jnp.arange(first, first + len(rows), dtype=jnp.int32)[:, None]
    return Slot(
        player=jnp.array(player, jnp.int32)[:, None],
        memo=numbers.astype(jnp.float32),
        choice=numbers,
        dice=jnp.array(dice, jnp.float32)[:, None],
        reward=jnp.array(reward, jnp.float32)[:, None],
        ended=jnp.array(ended)[:, None],
    )


# Each number is a power of two for seat 0 and ten times that for seat 1, so that a sum shows what went into it.
WINDOW = [
    (0, [0, 0], [1, 10], False),
    (1, [0, 0], [2, 20], False),
    (1, [0, 0], [4, 40], False),  # the same player again, after an extra roll
    (NOBODY, [8, 80], [0, 0], False),  # a turn that is passed over
    (0, [16, 160], [32, 320], True),
    (0, [0, 0], [0.5, 5], False),  # of the next game
]


def test_links_by_hand():
    link = transitions.links(by_hand(WINDOW), discount=0.5)
    known = link.known[:, 0]
    assert known.tolist() == [True, True, True, False, True, False]
    assert link.open[:, 0].tolist() == [False, False, False, False, False, True]
    assert link.reward[known, 0].tolist() == [1 + 2 + 4 + 8 + 16, 20, 40 + 80 + 160 + 320, 32]
    assert link.discount[known, 0].tolist() == [0.5, 0.5, 0, 0]
    assert link.next[:2, 0].tolist() == [4, 2]


def test_two_steps_by_hand():
    link = transitions.links(by_hand(WINDOW), discount=0.5, steps=2)
    known = link.known[:, 0]
    assert link.reward[known, 0].tolist() == [31 + 32 / 2, 20 + 600 / 2, 600, 32]
    assert not link.discount[known, 0].any()  # all of them see the end


def test_three_steps_end_where_the_window_does():
    rows = [(0, [0, 0], [1, 0], False), (0, [0, 0], [2, 0], False), (0, [0, 0], [4, 0], False)]
    link = transitions.links(by_hand(rows), discount=0.5, steps=3)
    assert link.known[:, 0].tolist() == [True, True, False]
    assert link.reward[:2, 0].tolist() == [1 + 2 / 2, 2]
    assert link.discount[:2, 0].tolist() == [0.25, 0.5]
    assert link.next[:2, 0].tolist() == [2, 2]


def test_outcomes_are_all_that_follows():
    link = transitions.links(by_hand(WINDOW), discount=0.5)
    assert transitions.outcomes(link)[:, 0].tolist() == [31 + 32 / 2, 20 + 600 / 2, 600, 0, 32, 0]


def test_open_decisions_go_on_in_the_next_window():
    slots = by_hand(WINDOW[:3])
    pending = transitions.still_open(slots, transitions.links(slots, discount=0.5))
    assert pending.player[:, 0].tolist() == [0, 1]
    assert pending.choice[:, 0].tolist() == [0, 2]
    assert pending.memo[:, 0].tolist() == [0, 2]
    assert pending.reward[:, 0].tolist() == [[7, 0], [0, 40]]
    joined = transitions.join(pending, by_hand(WINDOW[3:], first=3))
    link = transitions.links(joined, discount=0.5)
    made = transitions.transitions(joined, link)
    assert link.known[:, 0].tolist() == [True, True, False, True, False]
    assert made.choice[:, 0].tolist() == [0, 2, 3, 4, 5]
    assert made.reward[np.array([0, 1, 3]), 0].tolist() == [31, 600, 32]  # as in one window
    assert made.after[0, 0] == 4


def test_nobody_waits_after_the_end():
    slots = by_hand(WINDOW[:5])
    pending = transitions.still_open(slots, transitions.links(slots, discount=0.5))
    assert pending.player[:, 0].tolist() == [NOBODY, NOBODY]
    assert not pending.reward.any()


def test_totals_are_those_of_whole_games():
    """What waits from the window before counts; what a game under way has brought does not yet."""
    before = transitions.Totals(jnp.array([[100.0, -1000.0]]), jnp.float32(5.0))
    totals = transitions.counted(before, by_hand(WINDOW))
    assert float(totals.largest) == 1000 - 10 - 20 - 40 - 80 - 160 - 320
    assert totals.so_far.tolist() == [[0.5, 5]]
    again = transitions.counted(transitions.no_totals(1, 2), by_hand(WINDOW[:-1]))
    assert float(again.largest) == 10 + 20 + 40 + 80 + 160 + 320
    assert again.so_far.tolist() == [[0, 0]]


def test_a_fresh_start_waits_for_nothing():
    pending = transitions.no_pending(registry.make("pig"), jnp.float32(0), 3)
    chex.assert_trees_all_equal(pending.player, jnp.full((2, 3), NOBODY))
    assert not pending.ended.any()
