"""TD(λ) with default settings against exact play: the figures that docs/results.md shows."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from algorithms import td_lambda
from boardrl import registry
from boardrl.exact import solve
from boardrl.matches import arena
from boardrl.play import policy
from boardrl.play.players import Player, make

pytestmark = pytest.mark.usefixtures("optimized")


def train(name, **changes):
    game, config = registry.make(name), dataclasses.replace(td_lambda.Config(), **changes)
    state = td_lambda.init(config, game, jax.random.key(0))
    while int(state.games) < config.games:
        for _ in range(20):
            state, _ = td_lambda.update(config, game, (), state)
    return config, game, state


@pytest.fixture(scope="module")
def tic_tac_toe():
    config, game, state = train("tic_tac_toe")
    return game, Player("learned", td_lambda.policy(config, game, state))


def test_tic_tac_toe_hardly_ever_loses_to_random_from_either_side(tic_tac_toe):
    game, learned = tic_tac_toe
    match = arena.match(game, [learned, make("random", game)], num_games=20_000, seed=1)
    them = match.players[1]
    assert [seat.games for seat in them.seats] == [10_000, 10_000]
    assert max(seat.win_rate for seat in them.seats) <= 0.01


def test_tic_tac_toe_draws_against_perfect_play(tic_tac_toe):
    game, learned = tic_tac_toe
    match = arena.match(game, [learned, make("perfect", game)], num_games=10_000, seed=1)
    assert match.players[0].draws >= 9_500
    assert match.players[0].wins == 0


def test_pig_values_are_close_to_value_iteration():
    config, game, state = train("pig:target=30", games=60_000)
    exact = solve.solve(game)
    net = td_lambda.value_net(config, game)
    learned = jax.jit(jax.vmap(lambda s: policy.state_value(game, net, state.params, s)))
    error = np.abs(np.asarray(learned(jax.tree.map(jnp.asarray, exact.states()))) - exact.values)
    assert exact.num_states > 10_000
    assert error.mean() <= 0.03  # of returns between -1 and 1


def test_jumper_leaves_random_play_behind_within_a_few_games():
    """With the settings that suit the game, but fewer games on a smaller board."""
    suited = registry.make("jumper").defaults["td_lambda"]
    known = {field.name for field in dataclasses.fields(td_lambda.Config)}
    changes = {name: value for name, value in suited.items() if name in known}
    config, game, state = train("jumper:size=4", **{**changes, "games": 3_000})
    learned = Player("learned", td_lambda.policy(config, game, state))
    match = arena.match(game, [learned, make("random", game)], num_games=2_000, seed=1, opening=2)
    assert match.players[0].points > 0.6
