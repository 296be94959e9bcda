"""All reachable states: exact counts, and every state is found again."""

from __future__ import annotations

import types

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tiny_games import Coin

from boardrl.errors import UserError
from boardrl.exact import state_graph
from boardrl.game import TERMINAL
from games.pig import Pig
from games.tic_tac_toe import TicTacToe


def test_tic_tac_toe_is_counted_and_linked():
    game = TicTacToe()
    graph = state_graph.build(game)
    assert len(graph.rows) == 5478
    assert (graph.actor == TERMINAL).sum() == 958
    assert [(graph.returns[:, 0] == result).sum() for result in (1, -1)] == [626, 316]
    assert sorted(graph.child[0]) == list(range(1, 10))
    assert (graph.child[graph.actor == TERMINAL] == -1).all()
    # A state's children are the states after its legal moves, whatever the way by which they were met first.
    state = game.from_text("X.O .X. ..O 0")
    lookup = state_graph.make_lookup(graph.rows)
    children = graph.child[state_graph.find(lookup, state)]
    for move in range(9):
        expected = state_graph.find(lookup, game.step(state, jnp.int32(move))) if game.legal(state)[move] else -1
        assert children[move] == expected


def test_chance_is_exact_and_dead_outcomes_are_left_out():
    graph = state_graph.build(Pig(target=3))
    rolls = graph.chance[graph.actor == -1]
    assert rolls == pytest.approx(np.full(rolls.shape, 1 / 6), abs=1e-15)
    assert len(state_graph.build(Coin(heads=1.0)).rows) == 2
    assert len(state_graph.build(Coin(heads=0.5)).rows) == 2  # tails leads back to the toss
    assert state_graph.build(Coin(heads=0.5)).child[0].tolist() == [1, 0]
    assert len(state_graph.build(Coin(heads=0.5, delay=3)).rows) == 6


def test_every_state_is_found_and_no_other():
    game = Pig(target=8)
    graph = state_graph.build(game)
    lookup = state_graph.make_lookup(graph.rows)
    batch = jax.vmap(lambda row: state_graph.unpack(game, row))(graph.rows)
    found = jax.jit(jax.vmap(lambda state: state_graph.find(lookup, state)))(batch)
    assert found.tolist() == list(range(len(graph.rows)))
    assert state_graph.find(lookup, game.from_text("0 7 0 1 decides")) >= 0
    assert state_graph.find(lookup, game.from_text("0 1 0 1 decides")) == -1  # nobody can hold with 1


def test_any_leaves_survive_packing():
    tree = {
        "a": jnp.arange(40) % 3 == 0,
        "b": jnp.array([[-3, 5]], jnp.int8),
        "c": jnp.float32(-0.5),
        "d": jnp.array([60000], jnp.uint16),
        "e": jnp.array([-7, 2**30], jnp.int32),
    }
    game = types.SimpleNamespace(init=lambda: tree)
    row = state_graph.pack(tree)
    assert row.shape == (6,)  # 40 bits and 2 + 4 + 2 + 8 bytes, in words of 4
    back = state_graph.unpack(game, row)
    for name, leaf in tree.items():
        assert (back[name].dtype, back[name].tolist()) == (leaf.dtype, leaf.tolist())


def test_a_salt_under_which_two_states_collide_is_not_kept(monkeypatch):
    tried = []
    salt = state_graph._salt

    def first_bad(seed, width):
        tried.append(seed)
        return jnp.zeros((2, width), jnp.uint32) if seed == 0 else salt(seed, width)

    monkeypatch.setattr(state_graph, "_salt", first_bad)
    rows = np.array([[1, 2], [2, 1]], np.uint32)  # without salt the places of words do not count
    lookup = state_graph.make_lookup(rows)
    assert tried == [0, 1]
    assert [int(state_graph.find(lookup, jnp.asarray(row))) for row in rows] == [0, 1]


def test_too_many_states_are_refused():
    with pytest.raises(UserError, match=r"tic_tac_toe has more than 1,000 states, the most that can be solved"):
        state_graph.build(TicTacToe(), limit=1000)
    assert len(state_graph.build(TicTacToe(), limit=5478).rows) == 5478


def test_large_tables_are_refused_before_the_limit(monkeypatch):
    monkeypatch.setattr(state_graph, "MAX_BYTES", 50_000)  # a row of pig for two takes 145 bytes in all tables
    with pytest.raises(UserError, match=r"pig has more than 3\d\d states"):
        state_graph.build(Pig())
