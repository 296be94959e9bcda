"""What a Ludo player sees: dangers on positions made by hand, and nets that read them sparsely."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from boardrl.play import rollout
from boardrl.play.policy import Policy, Uniform
from boardrl.values import nets
from games.ludo import Ludo
from games.ludo.observe import DANGERS, chasers


@pytest.mark.parametrize(
    ("mine", "theirs", "seat", "count"),
    [
        (20, 1, 1, 1),  # seat 1 starts 13 squares on: its start is my place 14, 6 squares behind my 20
        (21, 1, 1, 0),  # 7 squares are out of reach
        (14, 1, 1, 0),  # the same square
        (13, 1, 1, 0),  # one ahead of me
        (3, 39, 1, 1),  # across my start: its place 39 is my 52, the square before my start
        (3, 51, 1, 0),  # its last square of the ring: it turns into its column
        (0, 40, 1, 0),  # a piece on the base is nowhere
        (52, 38, 1, 0),  # my column is out of reach
        (30, 1, 2, 1),  # seat 2 starts on my 27
        (47, 1, 3, 0),
        (46, 1, 3, 1),
    ],
)
def test_chasers_are_one_to_six_squares_behind(mine, theirs, seat, count):
    game = Ludo()
    pieces = jnp.zeros((4, 4), jnp.int8).at[0, 2].set(mine).at[seat, 1].set(theirs)
    found = chasers(game.board, pieces)
    assert found[0, 2] == count
    assert found[0, 0] == found[0, 1] == found[0, 3] == 0


def test_every_player_and_piece_is_looked_at():
    """All in a row on one stretch of the ring: each piece is chased by the others' pieces behind it."""
    game = Ludo(players=2, pieces=2)
    # Seat 1 starts 26 squares on. Squares as seat 0 counts: mine 30 and 33, theirs 31 and 29.
    pieces = jnp.array([[30, 33], [31 - 26, 29 - 26]], jnp.int8)
    np.testing.assert_array_equal(chasers(game.board, pieces), [[1, 2], [1, 0]])


def test_an_observation_by_hand():
    game = Ludo(players=2, pieces=2)
    state = game.init()._replace(
        pieces=jnp.array([[30, 33], [5, 3]], jnp.int8), turn=jnp.int8(1), die=jnp.int8(4), movable=jnp.ones(2, bool)
    )
    places = game.board.goal + 1
    seen = game.observe(state, jnp.int32(1))
    block = DANGERS * places
    wanted = {
        places + 5: 0.5,  # mine on 5: one behind it
        3: 0.5,  # mine on 3: nobody behind
        block + places + 30: 0.5,
        block + 2 * places + 33: 0.5,  # two behind it
        2 * block: 1.0,  # my turn
        2 * block + 2 + 3: 1.0,  # a four
        2 * block + 2 + 6: 1.0,  # the only try
    }
    np.testing.assert_array_equal(np.flatnonzero(seen), sorted(wanted))
    np.testing.assert_allclose(seen[jnp.array(list(wanted))], list(wanted.values()))


def test_a_net_says_the_same_of_sparse_and_of_dense_inputs():
    game = Ludo()
    lanes, _ = rollout.play(
        game, (Policy(Uniform(game)),), None, rollout.start(game, 16), jax.random.key(0), num_turns=120
    )
    net = nets.ValueNet(game, nets.MLP((16,), 4, "tanh"))
    params = jax.jit(net.init)(jax.random.key(1))

    def both(state, player):
        inputs = net.inputs(state, player)
        assert isinstance(inputs, nets.Sparse)
        return net.logits(params, inputs, player), net.logits(params, game.observe(state, player), player)

    sparse, dense = jax.jit(jax.vmap(jax.vmap(both, (None, 0)), (0, None)))(lanes.state, jnp.arange(4))
    np.testing.assert_allclose(sparse, dense, atol=1e-5)
