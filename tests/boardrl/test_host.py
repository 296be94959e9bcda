"""The host facet: compiled rules agree with the rules in JAX over whole games, and search can build on them."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array

from boardrl import host, registry, rollout
from boardrl.game import TERMINAL, select

GAMES = ["tic_tac_toe", "pig:target=20", "pig:players=3,target=30"]


def random_games(game: Any, num_games: int, num_steps: int, seed: int) -> tuple[Any, np.ndarray]:
    """[T, B] states of random games and the moves made in them; a finished game stays as it is."""

    def play(state: Any, uniform: Array) -> Any:
        weights = game.legal(state).astype(jnp.float32)
        if game.spec.num_outcomes:
            size = max(game.spec.num_actions, game.spec.num_outcomes)
            pad = lambda x: jnp.pad(x, (0, size - x.shape[0]))  # noqa: E731
            weights = pad(weights) + pad(game.chance(state))
        move = rollout.sample(weights, uniform)
        return select(game.actor(state) == TERMINAL, state, game.step(state, move)), (state, move)

    uniforms = jax.random.uniform(jax.random.key(seed), (num_steps, num_games))
    first = jax.tree.map(lambda x: jnp.broadcast_to(x, (num_games, *jnp.shape(x))), game.init())
    _, (states, moves) = jax.jit(lambda s, u: jax.lax.scan(jax.vmap(play), s, u))(first, uniforms)
    return jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), states), np.asarray(moves).reshape(-1)


@pytest.mark.parametrize("name", GAMES)
def test_compiled_rules_agree_with_jax_over_whole_random_games(name: str) -> None:
    game = registry.make(name)
    facet = host.of(game)
    states, moves = random_games(game, 40, 60, 0)
    spec = game.spec
    players = jnp.asarray(np.arange(len(moves)) % spec.num_players, jnp.int32)
    want = jax.jit(jax.vmap(lambda s, m, p: {
        "actor": game.actor(s), "legal": game.legal(s), "chance": game.chance(s), "returns": game.returns(s),
        "observe": game.observe(s, p).reshape(-1), "step": game.step(s, m)}))(states, moves, players)  # fmt: skip
    rows, after, work = facet.row(states), facet.rows(), facet.work()
    want_rows = facet.row(want["step"])
    mask, probs = np.zeros(spec.num_actions, np.bool_), np.zeros(spec.num_outcomes, np.float32)
    returns, seen = np.zeros(spec.num_players, np.float32), np.zeros(facet.module.OBS_SIZE, np.float32)
    actors = np.asarray(want["actor"])
    assert (actors == TERMINAL).any()
    assert set(np.unique(actors)) >= set(range(spec.num_players))
    for n, row in enumerate(rows):
        assert facet.actor(row, work) == actors[n]
        facet.legal(row, mask, work)
        np.testing.assert_array_equal(mask, want["legal"][n])
        facet.chance(row, probs, work)
        np.testing.assert_array_equal(probs, want["chance"][n])
        facet.returns(row, returns, work)
        np.testing.assert_array_equal(returns, want["returns"][n])
        facet.observe(row, int(players[n]), seen, work)
        np.testing.assert_allclose(seen, want["observe"][n], rtol=1e-6)
        after[:] = 2**64 - 1  # gaps between leaves must be written too
        facet.step(row, moves[n], after, work)
        np.testing.assert_array_equal(after, want_rows[n])


def test_states_survive_the_way_to_a_row_and_back() -> None:
    game = registry.make("pig:players=3")
    states, _ = random_games(game, 4, 10, 1)
    facet = host.of(game)
    back = facet.state(facet.row(states))
    assert type(back) is type(states)
    jax.tree.map(np.testing.assert_array_equal, back, states)
