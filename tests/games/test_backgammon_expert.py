"""The encoding `expert`, and the one side from which nets look at a position."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from boardrl.values.nets import MLP, ValueNet
from games.backgammon.expert import expert
from games.backgammon.game import Backgammon
from games.backgammon.observe import SIDE
from games.backgammon.rules import ROLL

GAME = Backgammon()
ONE_SIDE = 34  # 6 shots, 12 points ahead, 7 while on the bar, 8 of checkers off, the chance of a hit
SHOTS, AHEAD, ENTERING, OFF, CHANCE = slice(0, 6), slice(6, 18), slice(18, 25), slice(25, 33), 33


def position(mine: dict[int, int], theirs: dict[int, int]):
    """A position after a move of seat 0, by points (25: the bar) each in its own view."""
    checkers = np.zeros((2, 25), np.int8)
    for side, points in enumerate((mine, theirs)):
        for point, count in points.items():
            checkers[side, point - 1] = count
    return GAME.init()._replace(checkers=jnp.asarray(checkers), turn=jnp.int8(1), left=jnp.int8(ROLL))


def parts(state):
    """The parts of the encoding as seat 0 sees it: contact, race, mine, theirs, pips."""
    seen = np.asarray(jax.jit(expert, static_argnums=0)(GAME, state, jnp.int32(0)))
    assert seen.shape == (4 * SIDE + 2 * ONE_SIDE + 3,)
    return np.split(seen, np.cumsum([2 * SIDE, 2 * SIDE, ONE_SIDE, ONE_SIDE]))


@pytest.mark.parametrize(
    ("distance", "rolls"),
    # How many of 36 rolls hit a blot that many points away, nothing in between (any book on backgammon).
    [(1, 11), (2, 12), (3, 14), (4, 15), (5, 15), (6, 17), (7, 6), (8, 6), (9, 5), (10, 3), (11, 2), (12, 3)],
)
def test_the_chance_of_a_hit(distance, rolls):
    # My blot stands on my 20-point, which is the opponent's 5-point.
    _, _, _, theirs, _ = parts(position({20: 1, 1: 14}, {5 + distance: 1, 1: 14}))
    assert round(36 * float(theirs[CHANCE])) == rolls
    assert np.flatnonzero(theirs[SHOTS]).tolist() == ([distance - 1] if distance <= 6 else [])


def test_races_have_inputs_of_their_own():
    contact, race, *_, pips = parts(position({24: 1, 1: 1}, {3: 2, 2: 1}))
    assert contact.any()
    assert not race.any()
    np.testing.assert_allclose(pips, [0.25, 0.08, 0.17], atol=1e-6)
    contact, race, mine, theirs, _ = parts(position({2: 1}, {3: 2, 2: 1}))
    assert race.any()
    assert not contact.any()
    assert (mine[OFF].sum(), theirs[OFF].sum()) == (8, 6)  # 14 and 12 are off


def test_blocked_points_ahead_and_on_the_bar():
    _, _, _, theirs, _ = parts(position({6: 2, 5: 2, 3: 2}, {25: 1, 1: 1}))
    assert np.flatnonzero(theirs[AHEAD]).tolist() == [2, 4, 5]  # my 3-, 5- and 6-point, from the bar
    assert np.flatnonzero(theirs[ENTERING]).tolist() == [3]


def test_whoever_asks_the_net_looks_from_the_side_of_the_last_mover():
    net = ValueNet(GAME, MLP((4,), 2), "expert")
    params = jax.jit(net.init)(jax.random.key(1))
    state, values = position({8: 3, 6: 5}, {13: 2, 20: 1}), jax.jit(net)
    assert [int(net.viewer(state, jnp.int32(seat))) for seat in (0, 1)] == [0, 0]
    first, second = (np.asarray(values(params, state, jnp.int32(seat))) for seat in (0, 1))
    np.testing.assert_array_equal(first, second)
    rotated = np.asarray(values(params, GAME.rotate(state), jnp.int32(0)))
    np.testing.assert_allclose(rotated[::-1], first, atol=1e-6)
