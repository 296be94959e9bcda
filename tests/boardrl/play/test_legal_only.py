"""Looking at legal actions alone gives what looking at all of them gives."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from boardrl import registry
from boardrl.play import legal_only, rollout
from boardrl.play.policy import Policy, Uniform, afterstate_values
from boardrl.play.rollout import fresh

A = 40


def look(params, state, action):
    """Two arrays of different kinds, that tell every pair from every other."""
    return {"sum": params["scale"] * state["at"] + action.astype(jnp.float32), "pair": jnp.stack([action, action + 1])}


@pytest.mark.parametrize("num_states", [5, 7, 64])  # below a chunk, just above it, many of them
@pytest.mark.parametrize("share", [0.0, 0.1, 1.0])
def test_many_states_see_what_each_alone_sees(num_states, share):
    params = {"scale": jnp.float32(100.0)}
    states = {"at": jnp.arange(num_states, dtype=jnp.float32)}
    legal = jax.random.bernoulli(jax.random.key(num_states), share, (num_states, A))
    seen = jax.jit(jax.vmap(legal_only.legal_only(look), (None, 0, 0)))(params, states, legal)
    at, action = np.arange(num_states)[:, None], np.arange(A)[None]
    np.testing.assert_array_equal(seen["sum"], np.where(legal, 100.0 * at + action, 0.0))
    wanted = np.broadcast_to(np.stack([action, action + 1], -1), (num_states, A, 2))
    np.testing.assert_array_equal(seen["pair"], np.where(legal[..., None], wanted, 0))
    alone = legal_only.legal_only(look)(params, {"at": states["at"][3]}, legal[3])
    np.testing.assert_array_equal(alone["sum"], seen["sum"][3])


@pytest.mark.parametrize("axes", [(0, 0, 0), (0, None, 0), (None, None, 0), (None, 0, None)])
def test_what_has_no_axis_is_shared(axes):
    params, state = {"scale": jnp.float32(100.0)}, {"at": jnp.float32(3.0)}
    legal = jax.random.bernoulli(jax.random.key(1), 0.2, (A,))
    many = [
        tree if axis is None else jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (20, *leaf.shape)), tree)
        for tree, axis in zip((params, state, legal), axes, strict=True)
    ]
    seen = jax.vmap(legal_only.legal_only(look), axes)(*many)
    np.testing.assert_array_equal(seen["sum"], np.broadcast_to(np.where(legal, 300.0 + np.arange(A), 0.0), (20, A)))


def test_only_legal_pairs_cost_work():
    """As many chunks are looked at as the legal pairs fill."""
    calls = []

    def counted(params, state, action):
        jax.debug.callback(lambda _: calls.append(1), action, ordered=False)
        return action

    legal = jnp.zeros((64, A), bool).at[:, 5].set(True)
    jax.block_until_ready(jax.jit(jax.vmap(legal_only.legal_only(counted), (None, 0, 0)))((), legal, legal))
    jax.effects_barrier()
    assert len(calls) == legal_only.CHUNK < 64 * A


def test_values_on_a_board_are_the_same_in_a_crowd_and_alone():
    """Jumper has more actions than are looked at one and all."""
    game = registry.make("jumper:size=4")
    assert game.spec.num_actions > legal_only.FEW
    lanes, _ = rollout.play(game, (Policy(Uniform(game)),), None, fresh(game, 8), jax.random.key(0), num_turns=6)

    def value(params, state, player):
        lead = params * game.observe(state, player)[..., 0].sum()
        return jnp.stack([lead, -lead])

    def values(state):
        return afterstate_values(game, value, jnp.float32(2.0), state)

    crowd = jax.jit(jax.vmap(values))(lanes.state)
    alone = [jax.jit(values)(jax.tree.map(lambda leaf, i=i: leaf[i], lanes.state)) for i in range(8)]
    np.testing.assert_array_equal(crowd, np.stack(alone))
    assert len(np.unique(crowd)) > 3
