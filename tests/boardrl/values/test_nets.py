"""Value nets: whose value each output is, and what the net is shown, worked out by hand."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest
from tiny_games import Fixed

from boardrl import registry
from boardrl.game import Spec
from boardrl.values import nets
from games.pig import Pig

PIG = registry.make("pig:players=3,target=20")


def constant(net, outputs):
    """Parameters of a net without hidden layers that says the same of every position."""
    return {"params": {"layers_0": {"kernel": jnp.zeros((net.num_inputs, 3)), "bias": jnp.array(outputs)}}}


@pytest.mark.parametrize(
    ("fixed_seats", "player", "logits"),
    [
        (False, 0, [1.0, 2.0, 3.0]),
        (False, 1, [3.0, 1.0, 2.0]),  # 1 is its own, 2 the next player's, seat 2, and 3 that of seat 0 after it
        (False, 2, [2.0, 3.0, 1.0]),
        (True, 1, [1.0, 2.0, 3.0]),
    ],
)
def test_output_k_belongs_to_the_player_k_seats_on(fixed_seats, player, logits):
    net = nets.ValueNet(PIG, nets.MLP((), 3), fixed_seats=fixed_seats)
    params = constant(net, [1.0, 2.0, 3.0])
    inputs = net.inputs(PIG.init(), jnp.int32(player))
    np.testing.assert_allclose(net.logits(params, inputs, jnp.int32(player)), logits)
    shares = np.exp(logits) / np.exp(logits).sum()
    # Each of three who share a sum of 0 can lose ½.
    wanted = -0.5 + 1.5 * shares
    np.testing.assert_allclose(net(params, PIG.init(), jnp.int32(player)), wanted, atol=1e-6)


def test_outputs_that_stand_for_themselves_are_fractions():
    net = nets.ValueNet(PIG, nets.MLP((), 3), separate=True)
    np.testing.assert_allclose(net.shares(jnp.array([0.0, np.log(3.0), -np.log(3.0)])), [0.5, 0.75, 0.25], atol=1e-6)


@pytest.mark.parametrize(("activation", "wanted"), [("relu", 6.0), ("tanh", 2.0 * np.tanh(3.0) - np.tanh(1.0))])
def test_a_net_with_a_hidden_layer_by_hand(activation, wanted):
    """Units 3 and −1, weighted by 2 and 1; also from the two entries of a sparse observation."""
    module = nets.MLP((2,), 1, activation)
    layers = [
        {"kernel": jnp.array([[1.0, 0.0], [5.0, 5.0], [1.0, -1.5]]), "bias": jnp.array([0.0, 2.0])},
        {"kernel": jnp.array([[2.0], [1.0]]), "bias": jnp.zeros(1)},
    ]
    params = {"params": {f"layers_{number}": layer for number, layer in enumerate(layers)}}
    dense = jnp.array([1.0, 0.0, 2.0])
    sparse = nets.Sparse(jnp.array([0, 2, 0], jnp.int32), jnp.array([0.25, 2.0, 0.75]))
    np.testing.assert_array_equal(sparse.dense(3), dense)
    for x in (dense, sparse):
        np.testing.assert_allclose(module.apply(params, x), [wanted], atol=1e-6)


def test_shares_and_returns_are_inverse_to_each_other():
    spec = Spec("any", 2, 1, 0, (1,), max_steps=1, min_return=-1, max_return=3, return_sum=None)
    np.testing.assert_allclose(nets.to_returns(spec, jnp.array([0.0, 0.75])), [-1.0, 2.0])
    np.testing.assert_allclose(nets.from_returns(spec, jnp.array([-1.0, 2.0])), [0.0, 0.75])
    summed = dataclasses.replace(spec, return_sum=2.0)
    np.testing.assert_allclose(nets.to_returns(summed, jnp.array([0.25, 0.75])), [0.0, 2.0])
    np.testing.assert_allclose(nets.from_returns(summed, jnp.array([0.0, 2.0])), [0.25, 0.75])


@dataclasses.dataclass(frozen=True)
class Steep(Pig):
    """Pig in which a player may lose as much as one can win, so that shares of the sum reach past that."""

    @property
    def spec(self):
        return dataclasses.replace(super().spec, min_return=-1.0)


def test_values_stay_within_what_a_player_can_get():
    game = Steep(players=3, target=20)
    net = nets.ValueNet(game, nets.MLP((), 3))
    params = constant(net, [9.0, 0.0, -9.0])
    np.testing.assert_allclose(net.expected(params, game.init(), jnp.int32(0)), [2.0, -1.0, -1.0], atol=1e-3)
    np.testing.assert_allclose(net(params, game.init(), jnp.int32(0)), [1.0, -1.0, -1.0], atol=1e-3)


def test_returns_without_a_fixed_sum_are_fractions_of_their_own():
    net = nets.ValueNet(Fixed((1.0, 2.0)), nets.MLP((), 2))
    np.testing.assert_allclose(net.shares(jnp.array([0.0, np.log(3.0)])), [0.5, 0.75], atol=1e-6)
