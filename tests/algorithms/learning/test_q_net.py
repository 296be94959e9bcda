"""What a net of action values is shown, and what it says."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from algorithms.learning import q_net
from algorithms.learning.q_net import GreedyQ, QNet
from boardrl import registry
from boardrl.errors import UserError

TIC_TAC_TOE = registry.make("tic_tac_toe")
LUDO = registry.make("ludo:players=2,pieces=2,ring=24")
LUDO_3 = registry.make("ludo:players=3,pieces=2,ring=24")


@pytest.mark.parametrize(
    ("game", "inputs", "shape"),
    [
        (TIC_TAC_TOE, "observe", (27,)),
        (TIC_TAC_TOE, "afterstate", (9, 27)),
        (LUDO, "alhajry_subjective", (2 * (24 + 5 + 2),)),
        (LUDO, "szurkowski_from_mover", (2, 2 * (LUDO.board.goal + 1) + 2)),
        (LUDO_3, "observe", (LUDO_3.spec.obs_shape[0] + 3,)),  # seats that are not alike are told apart
    ],
)
def test_what_is_shown(game, inputs, shape):
    net = QNet(game, inputs, hidden=(3,))
    state = game.init()
    assert jax.jit(net.encode)(state).shape == shape
    assert jax.jit(net)(jax.jit(net.init)(jax.random.key(0)), state).shape == (game.spec.num_actions,)


def test_afterstates_are_seen_by_the_player_who_acts():
    state = TIC_TAC_TOE.step(TIC_TAC_TOE.init(), jnp.int32(4))  # seat 1 is to act
    shown = QNet(TIC_TAC_TOE, "afterstate").encode(state)
    after = TIC_TAC_TOE.step(state, jnp.int32(7))
    np.testing.assert_array_equal(shown[7], TIC_TAC_TOE.observe(after, jnp.int32(1)).ravel())
    assert (shown[7] != TIC_TAC_TOE.observe(after, jnp.int32(0)).ravel()).any()


def test_a_rectified_output_is_never_negative():
    state = TIC_TAC_TOE.init()
    plain, cut = QNet(TIC_TAC_TOE, hidden=(4,)), QNet(TIC_TAC_TOE, hidden=(4,), output="relu")
    params = jax.jit(plain.init)(jax.random.key(1))
    params = jax.tree.map(lambda leaf: -jnp.abs(leaf) if leaf.shape == (4, 1) else leaf, params)
    assert (plain(params, state) < 0).any()
    assert (cut(params, state) == 0).all()


def test_the_player_takes_the_best_legal_action():
    net = QNet(TIC_TAC_TOE, "observe", hidden=())
    params = {"params": {"layers_0": {"kernel": jnp.zeros((27, 9)), "bias": jnp.arange(9.0)}}}
    state = TIC_TAC_TOE.step(TIC_TAC_TOE.init(), jnp.int32(8))
    logits = GreedyQ(net)(params, state)
    legal = np.where(TIC_TAC_TOE.legal(state), logits, -np.inf)
    assert np.flatnonzero(np.isfinite(legal)).tolist() == [7]


def test_unknown_inputs_are_refused():
    with pytest.raises(
        UserError, match="--inputs=tiles is not known to tic_tac_toe; known inputs: observe, afterstate"
    ):
        QNet(TIC_TAC_TOE, "tiles")
    assert "szurkowski" in q_net.known_inputs(LUDO)
