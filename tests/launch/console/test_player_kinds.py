"""Searchers, runs and humans as players: what the library and every process know of them."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from boardrl.errors import UserError
from boardrl.matches import arena
from boardrl.play import players
from boardrl.play.policy import afterstates
from boardrl.values import net_file
from boardrl.values.net_file import NetFile
from boardrl.values.nets import MLP, Scaled, ScaledParams, ValueNet
from boardrl.values.return_scale import Scale
from games.pig import Pig
from games.tic_tac_toe import TicTacToe
from launch.console import named_players


def test_the_library_and_other_processes_find_searchers_and_refuse_humans():
    game = TicTacToe()
    assert players.make("negascout(depth=2)", game).host.searcher.budget.depth == 2
    match = arena.match(game, ["negascout(depth=2,kilobytes=64)", "random"], num_games=4, seed=0, processes=1)
    assert match.players[0].name == "negascout(depth=2,kilobytes=64)"
    assert match.players[0].losses == 0
    with pytest.raises(UserError, match=r"a human can play only in launch.play"):
        players.make("human", game)


def test_an_install_that_is_older_than_the_code_is_said(monkeypatch):
    monkeypatch.setattr(named_players.entry_points, "of", lambda group: [])
    with pytest.raises(UserError, match=r"run pip install -e . again"):
        named_players.make("random", Pig())


def test_a_searcher_takes_a_net_from_a_file(tmp_path):
    game, path = TicTacToe(), tmp_path / "net.json"
    net = ValueNet(game, MLP((5,), 2, "tanh"))
    params = ScaledParams(jax.jit(net.init)(jax.random.key(3)), Scale(jnp.float32(0.0), jnp.float32(0.5)))
    net_file.save(path, NetFile("tic_tac_toe:other", net.num_inputs, 2, (5,), "tanh", "a test"), params)
    (player,) = named_players.make(f"maxn(depth=1,net={path})", game)
    assert player.trained_on == "tic_tac_toe:other"
    rounded = jax.tree.map(lambda leaf: leaf.astype(jnp.float16).astype(jnp.float32), params)
    after = afterstates(game, game.init())
    values = jax.vmap(functools.partial(Scaled(net), rounded), (0, None))(after, jnp.int32(0))  # [A, P]
    chosen = player.host.choose(game, jax.device_get(game.init()), np.random.default_rng(0))
    assert chosen == int(values[:, 0].argmax())
    assert float(values[:, 0].max() - values[:, 0].min()) > 0.01
