"""Jumper's rules in JAX: every hop equal to the plain version's, chance, ends and bounds."""

from __future__ import annotations

import functools
import random
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import plain_jumper as plain
import pytest
from jax import Array

from boardrl import registry
from boardrl.errors import UserError
from boardrl.game import CHANCE, TERMINAL, select
from boardrl.play import sampling
from games.jumper import Jumper
from games.jumper.rules import DIRECTIONS, NO_CHAIN, State

LANES = 256  # the same in all tests, so that they share compiled code


@functools.partial(jax.jit, static_argnames=("game", "num_games"))
def random_games(game: Any, num_games: int, key: Array) -> tuple[Any, Array]:
    """[T, B] states of random games and the moves made in them; a finished game stays as it is."""

    def play(state: Any, uniform: Array) -> Any:
        weights = game.legal(state).astype(jnp.float32)
        if game.spec.num_outcomes:
            weights += jnp.pad(game.chance(state), (0, 1))
        move = sampling.sample(weights, uniform)
        return select(game.actor(state) == TERMINAL, state, game.step(state, move)), (state, move)

    first = jax.tree.map(lambda x: jnp.broadcast_to(x, (num_games, *x.shape)), game.init())
    uniforms = jax.random.uniform(key, (game.spec.max_steps + 1, num_games))
    return jax.lax.scan(jax.vmap(play), first, uniforms)[1]


def rows(state: State, size: int) -> plain.Board:
    return tuple(map(tuple, np.asarray(state.board).reshape(size, size).tolist()))


def expected(state: State, size: int) -> dict[int, tuple[plain.Board, int, int]]:
    """{action: (board, seat, chain) after it}, by the plain version."""
    board, mover, chain = rows(state, size), 1 + int(state.turn), int(state.chain)
    after: dict[int, tuple[plain.Board, int, int]] = {}
    if not any(plain.EMPTY in row for row in board):
        return after
    if chain == NO_CHAIN:
        for ((row, column),), placed in plain.places(board, mover):
            after[size * row + column] = placed, 2 - mover, NO_CHAIN
    else:
        after[9 * size * size] = board, 2 - mover, NO_CHAIN
    for cell in range(size * size) if chain == NO_CHAIN else [chain]:
        row, column = divmod(cell, size)
        if board[row][column] != mover:
            continue
        for end, hopped in plain.hops(board, mover, (row, column)):
            way = DIRECTIONS.index(((end[0] - row) // 2, (end[1] - column) // 2))
            goes_on = any(True for _ in plain.hops(hopped, mover, end))
            after[size * size * (1 + way) + cell] = (
                hopped,
                mover - 1 if goes_on else 2 - mover,
                size * end[0] + end[1] if goes_on else NO_CHAIN,
            )
    return after


@pytest.mark.parametrize("size", [3, 5])
def test_every_action_of_random_games_does_what_the_plain_version_does(size: int) -> None:
    game = Jumper(size)
    states, _ = random_games(game, LANES, jax.random.key(size))
    states = jax.tree.map(lambda x: np.asarray(x).reshape(-1, *x.shape[2:]), states)
    chosen = [*random.Random(size).sample(range(len(states.turn)), 120), *np.flatnonzero(states.chain != NO_CHAIN)[:30]]
    states = jax.tree.map(lambda x: x[np.array(chosen)], states)
    legal, after, actors, returns = jax.jit(
        jax.vmap(
            lambda s: (
                game.legal(s),
                jax.vmap(game.step, (None, 0))(s, jnp.arange(game.spec.num_actions)),
                game.actor(s),
                game.returns(s),
            )
        )
    )(states)
    assert (states.chain != NO_CHAIN).any()
    for n in range(len(chosen)):
        state = jax.tree.map(lambda x, n=n: np.asarray(x)[n], states)
        want = expected(state, size)
        assert np.flatnonzero(legal[n]).tolist() == sorted(want)
        for action, (board, turn, chain) in want.items():
            got = jax.tree.map(lambda x, n=n, action=action: np.asarray(x)[n, action], after)
            assert (rows(got, size), int(got.turn), int(got.chain)) == (board, turn, chain)
        lead = int((state.board == plain.WHITE).sum()) - int((state.board == plain.BLACK).sum())
        assert int(actors[n]) == (int(state.turn) if want else TERMINAL)
        assert returns[n].tolist() == ([0, 0] if want else [np.sign(lead), -np.sign(lead)])


@pytest.mark.parametrize(("size", "density"), [(3, 0.0), (5, 0.0), (5, 0.4)])
def test_random_games_end_within_max_steps_and_stay_as_they_are(size: int, density: float) -> None:
    game = Jumper(size, density)
    states, moves = random_games(game, LANES, jax.random.key(1))
    last = jax.tree.map(lambda x: x[-1], states)
    assert (jax.vmap(game.actor)(last) == TERMINAL).all()
    again = jax.vmap(game.step)(last, moves[-1])
    jax.tree.map(np.testing.assert_array_equal, again, last)


def test_max_steps_holds_for_the_longest_game_on_the_smallest_board() -> None:
    @functools.cache
    def longest(board: plain.Board, mover: int) -> int:
        """Actions in the longest game from here: hops, places, and stops where a chain could go on."""
        lengths = [0]
        for path, after in plain.turns(board, mover):
            stop = len(path) > 1 and any(True for _ in plain.hops(after, mover, path[-1]))
            lengths.append(max(len(path) - 1, 1) + stop + longest(after, 3 - mover))
        return max(lengths)

    assert longest(plain.empty_board(3), plain.WHITE) == 11
    assert Jumper(3).spec.max_steps == 2 * 9 - 4


def test_no_stop_is_possible_before_the_fourth_turn_as_max_steps_assumes() -> None:
    for size in (3, 4, 5):
        boards = {plain.empty_board(size)}
        for turn in range(4):
            mover = 1 + turn % 2
            after = {(path, b) for board in boards for path, b in plain.turns(board, mover)}
            stops = sum(len(path) > 1 and any(True for _ in plain.hops(b, mover, path[-1])) for path, b in after)
            assert (stops > 0) == (turn == 3)
            boards = {b for _, b in after}


def test_a_density_deals_a_position_that_legal_play_can_reach() -> None:
    game = Jumper(5, 0.4)
    assert game.num_dealt == 10
    states, moves = random_games(game, LANES, jax.random.key(0))
    filled = np.asarray((states.board != plain.EMPTY).sum(-1))
    actors = np.asarray(jax.vmap(jax.vmap(game.actor))(states))
    np.testing.assert_array_equal(actors == CHANCE, filled < 10)
    np.testing.assert_array_equal(states.chain[actors == CHANCE], NO_CHAIN)
    start = jax.tree.map(lambda x: x[10], states)
    assert (filled[10] == 10).all()
    np.testing.assert_array_equal(start.turn, 0)  # ten turns have been played
    assert (np.asarray(start.board) == plain.DEAD).any()
    # Dealing is random play without chains: replayed in the game without a density, every move is legal.
    bare = Jumper(5)
    for t in range(10):
        state = jax.tree.map(lambda x, t=t: x[t], states)
        legal = jax.vmap(bare.legal)(state)
        assert np.take_along_axis(np.asarray(legal), np.asarray(moves[t])[:, None], 1).all()
        probabilities = np.asarray(jax.vmap(game.chance)(state))
        np.testing.assert_allclose(probabilities.sum(1), 1, rtol=1e-5)
        np.testing.assert_array_equal(probabilities > 0, legal[:, :-1])


@pytest.mark.parametrize(
    "text", ["jumper:size=2", "jumper:density=1", "jumper:density=-0.1", "jumper:size=3,density=0.95"]
)
def test_impossible_options_are_refused(text: str) -> None:
    with pytest.raises(UserError, match="does not fit jumper"):
        registry.make(text)


def test_observation_and_rotation() -> None:
    game = Jumper(3)
    state = game.from_text("3\nW B -\n- X -\n- - W\nB")
    seen = np.asarray(game.observe(state, jnp.int32(1)))
    assert seen.shape == game.spec.obs_shape == (3, 3, 5)
    np.testing.assert_array_equal(np.argwhere(seen[..., 0]), [[0, 1]])
    np.testing.assert_array_equal(np.argwhere(seen[..., 1]), [[0, 0], [2, 2]])
    np.testing.assert_array_equal(np.argwhere(seen[..., 2]), [[1, 1]])
    assert not seen[..., 3].any()
    assert seen[..., 4].all()
    turned = game.rotate(state)
    assert game.to_text(turned) == "3\nB W -\n- X -\n- - B\nW"
    np.testing.assert_array_equal(game.observe(turned, jnp.int32(0)), seen)
