"""Learning does not depend on how much of the declared range results span, or on what a point is worth."""

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from coins_game import Coins

from algorithms import dqn, td_lambda
from boardrl.matches import arena
from boardrl.play.players import Player, make

pytestmark = pytest.mark.usefixtures("optimized")


def test_td_lambda_learns_returns_of_a_tenth_of_the_range():
    """With shares of the declared range, the same training wins none of its games against random players."""
    game = Coins(rounds=4, declared=80)
    config = td_lambda.Config(games=2000, lanes=32, hidden=(32,))
    state = td_lambda.init(config, game, jax.random.key(0))
    while int(state.games) < config.games:
        state, _ = td_lambda.update(config, game, (), state)
    assert 0 <= state.seen.low < 3
    assert state.seen.high == 8
    learned, random = Player("learned", td_lambda.policy(config, game, state)), make("random", game)
    match = arena.match(game, [learned, random, random], num_games=300, seed=1)
    assert match.players[0].losses == 0
    value = learned.policy.apply.value(learned.policy.params, game.init(), jnp.int32(0))
    assert ((value > 4) & (value <= 8)).all()  # half of the declared range would be 40


def test_dqn_learns_the_same_from_points_of_any_worth_below_1():
    """To the bit, as both are powers of 2; before the first learning step many games have ended."""
    config = dqn.Config(games=1000, lanes=8, window=16, hidden=(8,), warm_up=64, capacity=256, batch=16)
    params = []
    for worth in (1 / 16, 1 / 1024):
        game = Coins(rounds=2, declared=100, worth=worth)
        state = dqn.init(config, game, jax.random.key(0))
        for _ in range(3):
            state, metrics = dqn.update(config, game, (), state)
        assert state.totals.largest == 4 * worth
        assert 0 < metrics["td_error"] < 10 * worth
        params.append(jax.device_get(state.params))
    chex.assert_trees_all_equal(*params)
    before = dqn.init(config, game, jax.random.key(0)).params
    assert not np.array_equal(before["params"]["layers_0"]["kernel"], params[0]["params"]["layers_0"]["kernel"])


def test_rewards_of_1_and_more_are_learned_as_they_are():
    assert [float(dqn.reward_unit(jnp.float32(largest))) for largest in (0, 0.25, 1, 7)] == [1, 0.25, 1, 1]
