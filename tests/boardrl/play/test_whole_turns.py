"""Whole turns chosen by the position at their end, against all sequences of actions tried one by one."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from algorithms import td_lambda
from boardrl import registry
from boardrl.errors import UserError
from boardrl.game import TERMINAL
from boardrl.play.whole_turns import WholeTurns
from boardrl.values import nets

GAME = registry.make("kalah:houses=3,seeds=2")  # a last seed in the store is another action of the same player
STEP = jax.jit(GAME.step)
CONFIG = td_lambda.Config(games=200, lanes=4, window=4, hidden=(4,), epsilon=0.0, whole_turns=True)


def all_ends(state, seat, path=()):
    """Every way through the turn: its first action, and the position at its end."""
    for action in np.flatnonzero(GAME.legal(state)).tolist():
        after = STEP(state, jnp.int32(action))
        if int(GAME.actor(after)) == seat:
            yield from all_ends(after, seat, (*path, action))
        else:
            yield (*path, action)[0], len(path) + 1, after


def test_the_best_end_of_a_turn_is_found():
    net = nets.Scaled(td_lambda.value_net(CONFIG, GAME))
    params = td_lambda.scaled_params(GAME, td_lambda.init(CONFIG, GAME, jax.random.key(3)))
    value = jax.jit(net)
    player, rng = WholeTurns(GAME, net, params), np.random.default_rng(0)
    longest, state, decisions = 0, GAME.init(), 0
    while int(GAME.actor(state)) != TERMINAL:
        seat = int(GAME.actor(state))
        ends = list(all_ends(state, seat))
        longest = max(longest, *(length for _, length, _ in ends))
        worth = [
            float(
                (GAME.returns(end) if int(GAME.actor(end)) == TERMINAL else value(params, end, jnp.int32(seat)))[seat]
            )
            for _, _, end in ends
        ]
        best = {first for (first, _, _), v in zip(ends, worth, strict=True) if v > max(worth) - 1e-6}
        assert player.choose(GAME, jax.tree.map(np.asarray, state), rng) in best
        state = STEP(state, jnp.int32(rng.choice(np.flatnonzero(GAME.legal(state)))))
        decisions += 1
    assert decisions > 5
    assert longest > 2


def test_a_slot_of_training_is_a_whole_turn():
    state = td_lambda.init(CONFIG, GAME, jax.random.key(0))
    for _ in range(10):
        state, metrics = td_lambda.update(CONFIG, GAME, (), state)
    assert int(state.games) > 10
    assert float(metrics["decisions"]) == 16  # lanes × turns, however many actions each had
    assert isinstance(td_lambda.player(CONFIG, GAME, state), WholeTurns)


def test_whole_turns_need_compiled_play():
    config = td_lambda.Config(**{**vars(CONFIG), "play": "jax"})
    state = td_lambda.init(config, GAME, jax.random.key(0))
    with pytest.raises(UserError, match="--whole_turns needs compiled play"):
        td_lambda.update(config, GAME, (), state)
