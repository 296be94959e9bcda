"""Value nets as files: what is written comes back, and what does not fit is refused in a sentence."""

import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from boardrl.errors import UserError
from boardrl.values import net_file
from boardrl.values.net_file import NetFile
from boardrl.values.nets import MLP, Scaled, ScaledParams, ValueNet
from boardrl.values.return_scale import Scale
from games.backgammon.game import Backgammon
from games.pig import Pig

GAME = Pig(target=20)


@pytest.fixture
def saved(tmp_path):
    net = ValueNet(GAME, MLP((5,), 2, "tanh"))
    params = ScaledParams(jax.jit(net.init)(jax.random.key(3)), Scale(jnp.float32(0.25), jnp.float32(0.5)))
    path = tmp_path / "net.json"
    described = NetFile("pig:target=20", net.num_inputs, 2, (5,), "tanh", "python -m launch.train …")
    net_file.save(path, described, params)
    return path, Scaled(net), params


def test_a_net_comes_back_in_half_precision(saved):
    path, value, params = saved
    found, weights = net_file.load(path, GAME)
    assert found == value
    for own, expected in zip(jax.tree.leaves(weights), jax.tree.leaves(params), strict=True):
        np.testing.assert_array_equal(own, np.asarray(expected, np.float16).astype(np.float32))
    state, player = GAME.init()._replace(total=jnp.int32(7)), jnp.int32(1)
    loaded = found(jax.tree.map(jnp.asarray, weights), state, player)
    np.testing.assert_allclose(loaded, value(params, state, player), atol=2e-3)
    assert json.loads(path.read_text())["made_by"] == "python -m launch.train …"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda content: content | {"format": 9}, r"as a net of format 1 \(expected a value net of format 1\)"),
        (lambda content: {key: content[key] for key in ("format", "kind")}, "cannot be read as a net"),
        (lambda content: content | {"weights": "no base64!"}, "cannot be read as a net"),
        (lambda content: content | {"weights": content["weights"][:-12]}, "with 6 inputs for 2 players"),
        (lambda content: content | {"weights": "/////" + content["weights"][5:]}, "weights that are not finite"),
        (lambda content: content | {"hidden": {"5": 1}}, "its hidden layers are not a list"),
        (lambda content: content | {"hidden": [10**9]}, "its hidden layers are not a list"),
        (lambda content: content | {"activation": "os.system"}, "its activation is none of relu, tanh, sigmoid"),
        (lambda content: [content], "expected a value net"),
        (lambda content: content | {"encoding": 3}, "its encoding is not a text"),
        (lambda content: content | {"whole_turns": "yes"}, "its whole_turns is not a truth value"),
        (lambda content: content | {"encoding": "other"}, "this game has no encoding 'other'"),
    ],
)
def test_what_is_no_net_is_refused(saved, change, words):
    path = saved[0]
    path.write_text(json.dumps(change(json.loads(path.read_text()))))
    with pytest.raises(UserError, match=words):
        net_file.load(path, GAME)


def test_another_game_is_refused(saved, tmp_path):
    with pytest.raises(UserError, match="net of pig:target=20, with 6 inputs for 2 players; this game has 8 for 3"):
        net_file.load(saved[0], Pig(players=3, target=20))
    with pytest.raises(UserError, match="is not the file of a net; give one that exists"):
        net_file.load(tmp_path / "nothing.json", GAME)


def test_a_net_of_an_encoding_comes_back_with_it(tmp_path):
    game = Backgammon()
    net = ValueNet(game, MLP((3,), 2), "expert")
    params = ScaledParams(jax.jit(net.init)(jax.random.key(0)), Scale(jnp.float32(0), jnp.float32(1)))
    path = tmp_path / "net.json"
    described = NetFile("backgammon", net.num_inputs, 2, (3,), "relu", "…", encoding="expert", whole_turns=True)
    net_file.save(path, described, params)
    assert net_file.load(path, game)[0] == Scaled(net)
    assert net_file.by_whole_turns(path)
    with pytest.raises(UserError, match="no encoding 'expert'"):
        net_file.load(path, GAME)
