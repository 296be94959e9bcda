"""Nets by name: what they are shown, what they give, and what is refused."""

import dataclasses
import sys
import types

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from algorithms.learning.q_net import QNet
from boardrl import registry
from boardrl.errors import UserError
from boardrl.values import named_nets, nets

BOARD = registry.make("connect_four:rows=4,columns=5")
FLAT = registry.make("tic_tac_toe")


class Sums(nn.Module):
    """A net whose numbers are known: the sum of each plane times a weight of 1, in as many outputs as asked for."""

    num_outputs: int
    offset: float = 0.0

    @nn.compact
    def __call__(self, board):
        weight = self.param("weight", nn.initializers.ones, ())
        return weight * jnp.pad(board.sum((0, 1)), (0, 9))[: self.num_outputs] + self.offset


class Tall(nn.Module):
    height: int

    @nn.compact
    def __call__(self, board):
        return nn.Dense(self.height)(board.ravel())


class Pair(nn.Module):
    @nn.compact
    def __call__(self, board):
        x = nn.Dense(2)(board.ravel())
        return x, x


class Normed(nn.Module):
    @nn.compact
    def __call__(self, board):
        return nn.BatchNorm(use_running_average=True)(nn.Dense(2)(board.ravel()))


class Broken(nn.Module):
    @nn.compact
    def __call__(self, board):
        raise TypeError("no such board\nand more")


@pytest.fixture(autouse=True)
def _module(monkeypatch):
    """The nets of this file as `own_nets:NAME`."""
    module = types.ModuleType("own_nets")
    for cls in (Sums, Tall, Pair, Normed, Broken):
        setattr(module, cls.__name__, cls)
    module.number = 3
    monkeypatch.setitem(sys.modules, "own_nets", module)


def make(text, num_outputs=2, hidden=(4,), activation="tanh"):
    return named_nets.make(text, num_outputs, hidden=hidden, activation=activation)


def check(text, game, num_outputs=2):
    net = nets.ValueNet(game, make(text, num_outputs))
    named_nets.check(text, net.module, net.seen, num_outputs)
    return net


@dataclasses.dataclass(frozen=True)
class Lopsided:
    """A game that is not the same from every seat."""

    game: object

    def __getattr__(self, name):
        if name == "rotate":
            raise AttributeError(name)
        return getattr(self.game, name)


def test_names_stand_for_modules():
    assert make("mlp") == nets.MLP((4,), 2, "tanh")
    assert make("conv(channels=5)") == named_nets.Conv(2, (4,), "tanh", channels=5, layers=3)
    assert make("residual( blocks=2 )") == named_nets.Residual(2, (4,), "tanh", channels=32, blocks=2)
    assert make("own_nets:Sums(offset=0.5)") == Sums(2, 0.5)
    assert make("own_nets:Tall(height=2)") == Tall(2)


def test_own_nets_see_the_observation_in_its_shape():
    net = check("own_nets:Sums(offset=0.5)", BOARD)
    state = BOARD.step(BOARD.step(BOARD.init(), jnp.int32(0)), jnp.int32(1))
    state = BOARD.step(state, jnp.int32(2))  # two marks of seat 0, one of seat 1
    params = jax.jit(net.init)(jax.random.key(0))
    np.testing.assert_array_equal(net.logits(params, net.inputs(state, jnp.int32(0)), jnp.int32(0)), [2.5, 1.5])
    np.testing.assert_array_equal(net.logits(params, net.inputs(state, jnp.int32(1)), jnp.int32(1)), [2.5, 1.5])


def test_the_seat_is_told_in_constant_planes():
    net = nets.ValueNet(Lopsided(BOARD), make("conv"))
    shown = net.shaped(net.inputs(BOARD.init(), jnp.int32(1)))
    assert shown.shape == (4, 5, 3 + 2)
    np.testing.assert_array_equal(shown[..., :3], BOARD.observe(BOARD.init(), jnp.int32(1)))
    np.testing.assert_array_equal(shown[..., 3:], jnp.broadcast_to(jnp.array([0.0, 1.0]), (4, 5, 2)))


def test_residual_blocks_begin_as_the_identity():
    board = jax.random.normal(jax.random.key(1), (4, 5, 3))
    one, two = (make(f"residual(channels=6,blocks={blocks})", activation="relu") for blocks in (1, 2))
    params = jax.jit(two.init)(jax.random.key(0), board)
    fewer = {name: leaf for name, leaf in params["params"].items() if name not in ("Conv_3", "Conv_4")}
    wanted = jax.jit(one.apply)({"params": fewer}, board)
    np.testing.assert_allclose(jax.jit(two.apply)(params, board), wanted, atol=1e-6)


@pytest.mark.parametrize(("inputs", "outputs"), [("observe", 5), ("afterstate", 1)])
def test_action_values_of_a_conv_net(inputs, outputs):
    net = QNet(BOARD, inputs, (4,), net="conv(channels=3,layers=1)")
    named_nets.check(net.net, net.module, net.seen, net.num_outputs)
    params = jax.jit(net.init)(jax.random.key(0))
    assert params["params"]["MLP_0"]["layers_1"]["bias"].shape == (outputs,)
    values = jax.jit(net)(params, BOARD.init())
    assert values.shape == (5,)
    assert len(np.unique(values)) == 5  # no two columns look the same


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("cnv", r"unknown net 'cnv' \(did you mean 'conv'\?\); known nets: mlp, conv, residual and package"),
        ("conv(chanels=3)", r"unknown option 'chanels' of net 'conv' \(did you mean 'channels'\?\)"),
        ("conv(channels=0)", "net 'conv' has channels=0: expected at least 1"),
        ("mlp(hidden=3)", "unknown option 'hidden' of net 'mlp'; net 'mlp' takes no options"),
        ("nowhere_at_all:Net", "'nowhere_at_all:Net' cannot be loaded: No module named 'nowhere_at_all'; is its file"),
        ("own_nets:Nothing", "'own_nets:Nothing' cannot be loaded: module 'own_nets' has no attribute 'Nothing'"),
        ("own_nets:number", "net 'own_nets:number' is not a flax.linen Module; write it as class number"),
        ("own_nets:Tall", r"net 'own_nets:Tall' cannot be made: .*'height'; give its options in parentheses"),
        ("own_nets:Tall(height=3)", r"shape \(4, 5, 3\), gives float32\[3\], expected float32\[2\]; a field"),
        ("own_nets:Pair", r"gives \('float32\[2\]', 'float32\[2\]'\), expected float32\[2\]"),
        ("own_nets:Normed", "net 'own_nets:Normed' has variables .*batch_stats.*, expected only params"),
        ("own_nets:Broken", r"shape \(4, 5, 3\), fails: TypeError: no such board; correct its __call__"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(text, words):
    with pytest.raises(UserError, match=words) as raised:
        check(text, BOARD)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("name", ["conv", "residual"])
def test_boards_are_needed_for_convolutions(name):
    with pytest.raises(UserError, match=rf"net '{name}' needs a board .* shape \(27,\); give --net=mlp"):
        check(name, FLAT)
