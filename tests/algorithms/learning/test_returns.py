"""λ-returns on numbers worked out by hand."""

import jax.numpy as jnp
import numpy as np

from algorithms.learning.returns import Trail, lambda_returns


def trail(slots, returns):
    """Slots as (decided, value of player 0, explored, best for player 0, ended) in a zero-sum game of two."""
    decided, value, explored, best, ended = map(jnp.array, zip(*slots, strict=True))
    both = lambda x: jnp.stack([x, -x], -1).astype(jnp.float32)  # noqa: E731
    return Trail(decided, both(value), explored, both(best), ended, both(jnp.full(len(slots), returns)))


def test_finished_game():
    targets = lambda_returns(
        trail([(True, 0.1, False, 0.0, False), (True, 0.5, False, 0.0, False), (True, 9.0, False, 0.0, True)], 1.0), 0.5
    )
    # The last afterstate is the end itself; before it G = 1, before that ½·0.5 + ½·1.
    np.testing.assert_allclose(targets.target[:2, 0], [0.75, 1.0])
    np.testing.assert_allclose(targets.target[:2, 1], [-0.75, -1.0])
    assert targets.known.tolist() == [True, True, False]
    assert targets.open.tolist() == [False, False, False]


def test_unfinished_game_bootstraps_on_its_last_afterstate():
    slots = [(True, 0.1, False, 0.0, False), (True, 0.4, False, 0.0, False), (True, 0.8, False, 0.0, False)]
    targets = lambda_returns(trail(slots, 1.0), 0.25)
    np.testing.assert_allclose(targets.target[:2, 0], [0.75 * 0.4 + 0.25 * 0.8, 0.8])
    assert targets.known.tolist() == [True, True, False]
    assert targets.open.tolist() == [False, False, True]


def test_idle_slots_are_passed_over_and_dice_can_end_a_game():
    slots = [(True, 0.1, False, 0.0, False), (False, 7.0, False, 0.0, False), (False, 7.0, False, 0.0, True)]
    targets = lambda_returns(trail(slots, -1.0), 0.25)
    assert targets.target[0, 0] == -1.0
    assert targets.known.tolist() == [True, False, False]


def test_lambda_counts_decisions_and_not_idle_slots():
    """Decide, wait, decide, win: the wait between the two decisions costs no factor λ."""
    idle, end = (False, 7.0, False, 0.0, False), (True, 9.0, False, 0.0, True)
    slots = [(True, 0.1, False, 0.0, False), idle, (True, 0.4, False, 0.0, False), idle, idle, end]
    targets = lambda_returns(trail(slots, 1.0), 0.25)
    np.testing.assert_allclose(targets.target[jnp.array([0, 2]), 0], [0.75 * 0.4 + 0.25 * 1.0, 1.0])
    assert targets.known.tolist() == [True, False, True, False, False, False]


def test_games_do_not_leak_into_each_other():
    slots = [(True, 0.1, False, 0.0, False), (True, 0.2, False, 0.0, True), (True, 0.9, False, 0.0, False)]
    targets = lambda_returns(trail(slots, -1.0), 0.5)
    assert targets.target[0, 0] == -1.0
    assert targets.open.tolist() == [False, False, True]


def test_exploring_cuts_the_trace():
    slots = [(True, 0.1, False, 0.0, False), (True, -0.6, True, 0.3, False), (True, 9.0, False, 0.0, True)]
    targets = lambda_returns(trail(slots, -1.0), 0.5)
    assert targets.target[0, 0] == np.float32(0.3)  # the best known action, not the experiment's bad end
    assert targets.target[1, 0] == -1.0  # the experiment's own afterstate learns from what followed
    blunder = [(True, 0.1, False, 0.0, False), (True, 0.0, True, 0.3, True)]
    assert lambda_returns(trail(blunder, -1.0), 0.5).target[0, 0] == np.float32(0.3)
