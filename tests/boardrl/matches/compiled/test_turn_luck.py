"""Luck by whole turns: the value of a roll is that of the best position at the end of the turn."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from boardrl.game import CHANCE
from boardrl.matches import luck
from boardrl.matches.luck import Control
from games.backgammon.game import Backgammon
from games.backgammon.rules import ROLL
from games.backgammon.turns import turns
from games.pig import Pig


@dataclasses.dataclass(frozen=True)
class Weighted:
    """A linear value of the observation."""

    game: Any

    def __call__(self, params: Any, state: Any, player: Any) -> Any:
        own = jnp.tanh(params @ self.game.observe(state, player))
        return jnp.where(player == 0, jnp.stack([own, -own]), jnp.stack([-own, own]))


def weighted(game: Any) -> Control:
    return Control("weighted", Weighted(game), 0.3 * jax.random.normal(jax.random.key(2), game.spec.obs_shape))


def test_a_roll_of_backgammon_is_worth_its_best_turn():
    game = Backgammon()
    control = weighted(game)
    state = game.init()._replace(left=jnp.int8(ROLL))
    values, seat = control.by_whole_turns(game).turns(state, jnp.int32(1))
    assert int(seat) == 0
    look = jax.jit(control.value)
    for outcome in (0, 3, 9, 20):
        ends = turns(game, jax.tree.map(np.asarray, game.settle(state, jnp.int32(outcome))))
        best = max(float(look(control.params, end.state, jnp.int32(0))[0]) for end in ends.values())
        np.testing.assert_allclose(values[outcome, 0], best, atol=1e-5)


def test_where_a_turn_is_one_action_luck_is_the_same():
    game = Pig(target=20)
    control = weighted(game)
    state = game.init()._replace(total=jnp.int32(3))
    state = jax.jit(game.step)(state, jnp.int32(0)) if int(game.actor(state)) != CHANCE else state
    assert int(game.actor(state)) == CHANCE
    first = luck.none_yet(game)
    for outcome in range(game.spec.num_outcomes):
        plain, whole = (
            jax.jit(tally.apply)(tally.params, state, jnp.int32(outcome), first)
            for tally in (control.tally(game), control.by_whole_turns(game).tally(game))
        )
        np.testing.assert_allclose(plain.total, whole.total, atol=1e-6)
        assert int(plain.viewer) == int(whole.viewer)
