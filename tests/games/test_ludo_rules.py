"""Ludo's rules on positions made by hand: one line each, as the game writes them."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from boardrl import registry
from boardrl.errors import UserError
from boardrl.game import CHANCE, TERMINAL
from boardrl.play import sampling
from games.ludo import Ludo
from games.ludo.flags import PRESETS, Flags


@functools.partial(jax.jit, static_argnames="game")
def step(game, state, move):
    return game.step(state, move)


def after(name, position, move):
    game = registry.make(name)
    return game.to_text(step(game, game.from_text(position), jnp.int32(move)))


# Seat 1 starts 13 squares after seat 0, so that it counts 47 where seat 0 counts 8, and 40 on seat 0's start.
MOVES = {
    "ludo": [
        ("0.0.0.0 0.0.0.0 0.0.0.0 0.0.0.0 0 plays 6", 1, "0.1.0.0 0.0.0.0 0.0.0.0 0.0.0.0 0 rolls"),
        ("5.0.0.0 47.0.0.0 0.0.0.0 0.0.0.0 0 plays 3", 0, "8.0.0.0 0.0.0.0 0.0.0.0 0.0.0.0 1 rolls"),
        ("5.0.0.0 0.0.0.0 0.0.0.0 21.0.0.0 0 plays 3", 0, "8.0.0.0 0.0.0.0 0.0.0.0 0.0.0.0 1 rolls"),
        ("6.0.0.0 48.0.0.0 0.0.0.0 0.0.0.0 0 plays 3", 0, "9.0.0.0 48.0.0.0 0.0.0.0 0.0.0.0 1 rolls"),
        ("11.0.0.0 1.0.0.0 0.0.0.0 0.0.0.0 0 plays 3", 0, "14.0.0.0 1.0.0.0 0.0.0.0 0.0.0.0 1 rolls"),
        ("0.0.0.0 40.0.0.0 0.0.0.0 0.0.0.0 0 plays 6", 0, "1.0.0.0 40.0.0.0 0.0.0.0 0.0.0.0 0 rolls"),
        ("52.0.0.0 36.0.0.0 0.0.0.0 0.0.0.0 1 plays 3", 0, "52.0.0.0 39.0.0.0 0.0.0.0 0.0.0.0 2 rolls"),
        ("51.0.0.0 39.0.0.0 0.0.0.0 0.0.0.0 0 plays 1", 0, "52.0.0.0 39.0.0.0 0.0.0.0 0.0.0.0 1 rolls"),
        ("55.0.0.0 0.0.0.0 0.0.0.0 0.0.0.0 0 plays 2", 0, "57.0.0.0 0.0.0.0 0.0.0.0 0.0.0.0 1 rolls"),
        ("0.0.0.0 0.0.0.0 0.0.0.0 0.0.0.0 3 rolls", 2, "0.0.0.0 0.0.0.0 0.0.0.0 0.0.0.0 0 rolls"),
        ("57.57.55.55 0.0.0.0 0.0.0.0 0.0.0.0 0 rolls", 5, "57.57.55.55 0.0.0.0 0.0.0.0 0.0.0.0 0 rolls"),
        ("0.0.0.0 0.0.0.0 0.0.0.0 0.0.0.0 1 draws", 2, "0.0.0.0 0.0.0.0 0.0.0.0 0.0.0.0 3 rolls"),
    ],
    "ludo:rules=sdu_java,players=2": [  # seat 1 starts 26 squares after seat 0
        ("3.0.0.0 0.0.0.0 0 plays 3 tries=1 ranks=0.0", 0, "12.0.0.0 0.0.0.0 1 rolls tries=3 ranks=0.0"),
        ("48.0.0.0 25.0.0.0 0 plays 3 tries=1 ranks=0.0", 0, "57.0.0.0 25.0.0.0 1 rolls tries=1 ranks=0.0"),
        ("42.0.0.0 25.0.0.0 0 plays 3 tries=1 ranks=0.0", 0, "51.0.0.0 0.0.0.0 1 rolls tries=3 ranks=0.0"),
        ("3.0.0.0 32.38.0.0 0 plays 3 tries=1 ranks=0.0", 0, "12.0.0.0 32.0.0.0 1 rolls tries=1 ranks=0.0"),
        ("3.0.0.0 38.38.0.0 0 plays 3 tries=1 ranks=0.0", 0, "0.0.0.0 38.38.0.0 1 rolls tries=1 ranks=0.0"),
        ("5.0.0.0 34.0.0.0 0 plays 3 tries=1 ranks=0.0", 0, "8.0.0.0 0.0.0.0 1 rolls tries=3 ranks=0.0"),
        ("6.0.0.0 35.0.0.0 0 plays 3 tries=1 ranks=0.0", 0, "0.0.0.0 35.0.0.0 1 rolls tries=1 ranks=0.0"),
        ("12.0.0.0 40.0.0.0 0 plays 2 tries=1 ranks=0.0", 0, "0.0.0.0 40.0.0.0 1 rolls tries=1 ranks=0.0"),
        ("0.0.0.0 27.27.27.0 0 plays 6 tries=2 ranks=0.0", 0, "1.0.0.0 0.0.0.0 0 rolls tries=1 ranks=0.0"),
        ("55.0.0.0 0.0.0.0 0 plays 6 tries=1 ranks=0.0", 0, "53.0.0.0 0.0.0.0 0 rolls tries=1 ranks=0.0"),
        ("55.0.0.0 0.0.0.0 0 plays 6 tries=1 ranks=0.0", 4, "55.0.0.0 0.0.0.0 1 rolls tries=3 ranks=0.0"),
        ("0.0.0.57 2.0.0.0 0 rolls tries=3 ranks=0.0", 1, "0.0.0.57 2.0.0.0 0 rolls tries=2 ranks=0.0"),
        ("0.0.0.57 2.0.0.0 0 rolls tries=1 ranks=0.0", 1, "0.0.0.57 2.0.0.0 1 rolls tries=1 ranks=0.0"),
        ("0.0.0.57 2.0.0.0 0 rolls tries=3 ranks=0.0", 5, "0.0.0.57 2.0.0.0 0 plays 6 tries=3 ranks=0.0"),
        # A six that is not played keeps lying while tries are left; on the last try a pass ends the turn.
        ("0.0.0.57 2.0.0.0 0 plays 6 tries=3 ranks=0.0", 4, "0.0.0.57 2.0.0.0 0 plays 6 tries=3 ranks=0.0"),
        ("0.0.0.57 2.0.0.0 0 plays 6 tries=2 ranks=0.0", 4, "0.0.0.57 2.0.0.0 0 plays 6 tries=2 ranks=0.0"),
        ("0.0.0.57 2.0.0.0 0 plays 6 tries=1 ranks=0.0", 4, "0.0.0.57 2.0.0.0 1 rolls tries=1 ranks=0.0"),
        ("0.0.0.57 2.0.0.0 0 plays 6 tries=2 ranks=0.0", 1, "0.1.0.57 2.0.0.0 0 rolls tries=1 ranks=0.0"),
        ("1.0.0.0 57.57.57.56 1 plays 1 tries=1 ranks=0.0", 3, "1.0.0.0 57.57.57.57 0 rolls tries=1 ranks=0.1"),
    ],
    "ludo:rules=ludopy150": [
        ("56.9.0.0 0.0.0.0 0.0.0.0 0.0.0.0 0 plays 6 tries=1 round=0", 0,
         "51.9.0.0 0.0.0.0 0.0.0.0 0.0.0.0 0 rolls tries=1 round=0"),
        ("49.0.0.0 39.0.0.0 0.0.0.0 0.0.0.0 0 plays 3 tries=1 round=0", 0,
         "52.0.0.0 0.0.0.0 0.0.0.0 0.0.0.0 1 rolls tries=1 round=0"),
        ("11.0.0.0 52.0.0.0 0.0.0.0 0.0.0.0 0 plays 3 tries=1 round=0", 0,
         "0.0.0.0 52.0.0.0 0.0.0.0 0.0.0.0 1 rolls tries=1 round=0"),
        ("2.0.0.0 44.51.51.0 0.0.0.0 0.0.0.0 0 plays 3 tries=1 round=0", 0,
         "0.0.0.0 0.51.51.0 0.0.0.0 0.0.0.0 1 rolls tries=1 round=0"),
        ("0.0.0.0 40.40.0.0 0.0.0.0 0.0.0.0 0 plays 6 tries=1 round=0", 0,
         "0.0.0.0 40.40.0.0 0.0.0.0 0.0.0.0 0 rolls tries=1 round=0"),
        ("0.0.0.0 0.0.0.0 0.0.0.0 0.0.0.0 3 plays 6 tries=4 round=1", 0,
         "0.0.0.0 0.0.0.0 0.0.0.0 1.0.0.0 0 rolls tries=1 round=0"),
    ],
    "ludo:rules=ludopy131": [
        ("49.0.0.0 40.0.0.0 0.0.0.0 0.0.0.0 0 plays 4 tries=1 round=0", 0,
         "53.0.0.0 0.0.0.0 0.0.0.0 0.0.0.0 1 rolls tries=1 round=0"),
        ("51.0.0.0 0.0.0.0 0.0.0.0 0.0.0.0 0 plays 1 tries=1 round=0", 0,
         "52.0.0.0 0.0.0.0 0.0.0.0 0.0.0.0 1 rolls tries=1 round=0"),
        ("58.0.0.0 0.0.0.0 0.0.0.0 0.0.0.0 0 plays 6 tries=1 round=0", 0,
         "53.0.0.0 0.0.0.0 0.0.0.0 0.0.0.0 0 rolls tries=1 round=0"),
    ],
    "ludo:three_sixes=true": [
        ("9.0.0.0 0.0.0.0 0.0.0.0 0.0.0.0 0 rolls sixes=2", 5,
         "9.0.0.0 0.0.0.0 0.0.0.0 0.0.0.0 1 rolls sixes=0"),
        ("9.0.0.0 0.0.0.0 0.0.0.0 0.0.0.0 0 rolls sixes=2", 4,
         "9.0.0.0 0.0.0.0 0.0.0.0 0.0.0.0 0 plays 5 sixes=0"),
        ("9.0.0.0 0.0.0.0 0.0.0.0 0.0.0.0 0 plays 6 sixes=1", 0,
         "15.0.0.0 0.0.0.0 0.0.0.0 0.0.0.0 0 rolls sixes=1"),
    ],
    # A ring of 8: starts 2 apart, places 1 to 7, column 8 and 9, goal 10.
    "ludo:rules=sdu_java,ring=8,column=2,pieces=1,players=4": [
        ("5 0 0 0 0 plays 6 tries=1 ranks=0.0.0.0", 0, "9 0 0 0 0 rolls tries=1 ranks=0.0.0.0"),
        ("8 0 0 0 0 plays 6 tries=1 ranks=0.0.0.0", 0, "8 0 0 0 0 rolls tries=1 ranks=0.0.0.0"),
        ("1 2 0 0 0 plays 3 tries=1 ranks=0.0.0.0", 0, "4 0 0 0 1 rolls tries=3 ranks=0.0.0.0"),
        ("0 9 3 0 1 plays 1 tries=1 ranks=0.0.0.0", 0, "0 10 3 0 2 rolls tries=1 ranks=0.1.0.0"),
        ("9 10 10 0 0 plays 1 tries=1 ranks=0.2.1.0", 0, "10 10 10 0 3 rolls tries=3 ranks=3.2.1.0"),
        ("0 10 2 0 0 rolls tries=1 ranks=0.1.0.0", 0, "0 10 2 0 2 rolls tries=1 ranks=0.1.0.0"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", MOVES)
def test_moves(name):
    found = [after(name, position, move) for position, move, _ in MOVES[name]]
    assert found == [expected for _, _, expected in MOVES[name]]


@pytest.mark.parametrize(
    ("name", "position", "legal"),
    [
        ("ludo", "5.3.0.0 47.47.0.0 0.0.0.0 0.0.0.0 0 plays 3", [False, True, False, False]),  # a pair on 8
        ("ludo", "6.3.0.0 48.48.0.0 0.0.0.0 0.0.0.0 0 plays 3", [False, True, False, False]),  # on a globe as well
        ("ludo", "6.3.0.0 48.0.0.0 35.0.0.0 0.0.0.0 0 plays 3", [True, True, False, False]),  # not of one player
        ("ludo", "0.3.0.0 40.40.0.0 0.0.0.0 0.0.0.0 0 plays 6", [False, True, False, False]),  # on the start
        ("ludo", "0.3.55.57 0.0.0.0 0.0.0.0 0.0.0.0 0 plays 6", [True, True, False, False]),  # overshoot, goal
        ("ludo", "5.1.0.0 47.47.0.0 0.0.0.0 0.0.0.0 0 plays 4", [True, True, False, False]),  # passing is free
        ("ludo:passing=blocked", "5.1.0.0 47.47.0.0 0.0.0.0 0.0.0.0 0 plays 4", [False, True, False, False]),
        ("ludo:passing=blocked", "4.1.0.0 47.46.0.0 0.0.0.0 0.0.0.0 0 plays 5", [True, True, False, False]),
        (
            "ludo:rules=sdu_java,players=2",
            "55.0.57.0 0.0.0.0 0 plays 6 tries=1 ranks=0.0",
            [True, True, False, True, True],
        ),
        # There is nothing to gain by a pass before the last try, as the die keeps lying.
        (
            "ludo:rules=sdu_java,players=2",
            "0.0.57.0 0.0.0.0 0 plays 6 tries=3 ranks=0.0",
            [True, True, False, True, False],
        ),
        (
            "ludo:rules=sdu_java,players=2",
            "0.0.57.0 0.0.0.0 0 plays 6 tries=2 ranks=0.0",
            [True, True, False, True, False],
        ),
        (
            "ludo:rules=sdu_java,players=2",
            "0.0.57.0 0.0.0.0 0 plays 6 tries=1 ranks=0.0",
            [True, True, False, True, True],
        ),
    ],
)
def test_what_may_be_moved(name, position, legal):
    game = registry.make(name)
    assert game.legal(game.from_text(position)).tolist() == legal


def test_returns_are_a_win_or_points_by_place():
    game = Ludo()
    over = game.from_text("57.57.57.57 1.0.0.0 0.0.0.0 0.0.0.0 1 rolls")
    assert game.actor(over) == TERMINAL
    np.testing.assert_allclose(game.returns(over), [1, -1 / 3, -1 / 3, -1 / 3], rtol=1e-6)
    game = Ludo(rules="sdu_java", pieces=1)
    over = game.from_text("57 57 3 57 2 rolls tries=1 ranks=2.3.0.1")
    assert game.actor(over) == TERMINAL
    assert game.returns(over).tolist() == [2, 1, 0, 3]
    under_way = game.from_text("57 4 3 57 2 rolls tries=1 ranks=2.0.0.1")
    assert game.returns(under_way).tolist() == [0, 0, 0, 0]


def test_the_starter_is_drawn_evenly():
    game = Ludo(players=3)
    np.testing.assert_allclose(game.chance(game.init()), [1 / 3, 1 / 3, 1 / 3, 0, 0, 0], rtol=1e-6)
    rolled = game.settle(game.init(), jnp.int32(2))
    assert int(rolled.turn) == 2
    np.testing.assert_allclose(game.chance(rolled), np.full(6, 1 / 6), rtol=1e-6)


def test_globes_and_stars_of_the_standard_board():
    board = Ludo(rules="sdu_java").board
    rel = lambda places: sorted(place - 1 for place in places)  # noqa: E731
    assert rel(board.neutral_globes + board.start_globes) == [0, 8, 13, 21, 26, 34, 39, 47]
    assert rel(board.near_stars + board.far_stars) == [5, 11, 18, 24, 31, 37, 44, 50]
    assert (board.track, board.gate, board.goal) == (51, 52, 57)
    board = Ludo(rules="ludopy131").board
    assert rel(board.near_stars + board.far_stars) == [4, 11, 17, 24, 30, 37, 43, 50]
    assert (board.track, board.gate, board.goal) == (52, 53, 59)
    assert Ludo(players=2).board.gap == 26
    assert Ludo(ring=20).board.neutral_globes == ()


def test_a_flag_set_on_its_own_wins_over_the_preset():
    game = registry.make("ludo:rules=sdu_java,overshoot=illegal,must_move=true")
    assert game.flags == PRESETS["sdu_java"]._replace(overshoot="illegal", must_move=True)
    assert game.spec.num_actions == 4
    assert set(Flags._fields) <= set(Ludo.__dataclass_fields__)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"ring": 50}, "ring=50 does not fit ludo: expected a multiple of 4 from 8 to 64"),
        ({"players": 5}, "players=5 does not fit ludo: expected 2 to 4"),
        ({"pieces": 0}, "pieces=0 does not fit ludo"),
        ({"column": 0}, "column=0 does not fit ludo"),
        ({"first_star": 8}, "first_star=8 does not fit ludo"),
        ({"tries": 0}, "tries=0 does not fit ludo"),
    ],
)
def test_options_out_of_range_are_refused(options, sentence):
    with pytest.raises(UserError, match=sentence):
        Ludo(**options)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "0 words are too few"),
        ("0.0.0.0 0.0.0.0 0.0.0.0 0.0.0.99 0 rolls", "'0.0.0.99' is not 4 of 0 to 57"),
        ("0.0.0.0 0.0.0.0 0.0.0.0 0.0.0.0 0 plays 3", "no piece can be moved by 3"),
        ("1.0.0.0 0.0.0.0 0.0.0.0 0.0.0.0 0 draws", "drawn only once"),
        ("57.57.57.57 57.57.57.57 0.0.0.0 0.0.0.0 0 rolls", "too many players have finished"),
        ("0.0.0.0 0.0.0.0 0.0.0.0 0.0.0.0 0 rolls now", "'now' is too much"),
        ("0.0.0.0 0.0.0.0 0.0.0.0 0.0.0.0 4 rolls", "'4' is not 1 of 0 to 3"),
    ],
)
def test_what_is_no_position_is_refused(text, sentence):
    with pytest.raises(UserError, match=sentence):
        Ludo().from_text(text)


@pytest.mark.parametrize(
    ("position", "move", "words"),
    [
        ("5.0.0.0 47.0.0.0 0.0.0.0 0.0.0.0 0 plays 3", 0, "piece 0 from 5 to 8, sends 1 home"),
        ("0.0.0.0 0.0.0.0 0.0.0.0 0.0.0.0 0 plays 6", 2, "piece 2 from the base to 1"),
        ("55.0.0.0 0.0.0.0 0.0.0.0 0.0.0.0 0 plays 2", 0, "piece 0 from 55 to the goal"),
        ("0.0.0.0 0.0.0.0 0.0.0.0 0.0.0.0 0 rolls", 2, "rolls 3, nothing to move"),
        ("0.0.0.0 0.0.0.0 0.0.0.0 0.0.0.0 0 rolls", 5, "rolls 6"),
        ("0.0.0.0 0.0.0.0 0.0.0.0 0.0.0.0 2 draws", 3, "seat 1 begins"),
    ],
)
def test_moves_in_words(position, move, words):
    game = Ludo()
    assert game.move_text(game.from_text(position), jnp.int32(move)) == words


@functools.partial(jax.jit, static_argnames="game")
def play_and_compare(game, states, uniforms):
    """[T, 3] over random play: rolls, decisions, and in how many `settle` or `act` and `step` part."""

    def move_of(state, uniform):
        size = game.spec.num_moves
        odds = jnp.zeros(size).at[: game.spec.num_outcomes].set(game.chance(state))
        return sampling.sample(odds.at[: game.spec.num_actions].add(game.legal(state).astype(jnp.float32)), uniform)

    def turn(states, uniforms):
        moves, actor = jax.vmap(move_of)(states, uniforms), jax.vmap(game.actor)(states)
        after = jax.vmap(game.step)(states, moves)
        parts = []
        for member, due in ((game.settle, actor == CHANCE), (game.act, actor >= 0)):
            equal = jax.tree.map(lambda a, b: (a == b).reshape(64, -1).all(1), jax.vmap(member)(states, moves), after)
            parts.append(due & ~jnp.stack(equal).all(0))
        return after, jnp.stack([(actor == CHANCE).sum(), (actor >= 0).sum(), (parts[0] | parts[1]).sum()])

    return jax.lax.scan(turn, states, uniforms)[1]


@pytest.mark.parametrize("rules", PRESETS)
def test_settle_and_act_are_step_in_the_fast_layout(rules):
    game = Ludo(rules=rules, players=3, pieces=2)
    states = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (64, *leaf.shape)), game.init())
    rolls, decisions, different = play_and_compare(game, states, jax.random.uniform(jax.random.key(0), (400, 64))).sum(
        0
    )
    assert rolls > 1000
    assert decisions > 1000
    assert different == 0
