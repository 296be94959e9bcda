"""Jumper's bitboards: the same boards in one turn as the rules in JAX hop by hop, and as the plain version."""

from __future__ import annotations

import functools
import itertools
import random
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import plain_jumper as plain
import pytest
from jax import Array
from test_jumper_rules import LANES, random_games

from boardrl import host
from boardrl.game import TERMINAL
from boardrl.host.masks import unpack
from games.jumper import Jumper, bits, narrow, paths, wide
from games.jumper.rules import NO_CHAIN, State, of_board
from games.jumper.text import turn_between

SIZES = range(3, 10)
CHUNK = 4096  # states in one call of a compiled function
ROOM = 1 << 16  # successors of one position


def big_work(size: int) -> np.ndarray:
    kind = narrow if size <= 8 else wide
    return np.zeros(bits.work_words(ROOM, stack=kind.STACK, note=1 if size <= 8 else wide.PART), np.uint64)


def positions(size: int, count: int, seed: int) -> State:
    """A batch of random positions, half of them from random play, half with cells drawn apart from each other."""
    game, chooser = Jumper(size), np.random.default_rng(seed)
    facet = host.of(game)
    rows = facet.rows(count)
    play_positions(facet.row(game.init()), rows[: count // 2], facet.rows(ROOM), big_work(size), seed)
    weights = chooser.random((count - count // 2, 4)) ** 2 + 0.01
    shares = np.cumsum(weights / weights.sum(1, keepdims=True), 1)
    cells = (chooser.random((len(shares), size * size))[..., None] > shares[:, None, :3]).sum(-1).astype(np.int8)
    played = facet.state(rows[: count // 2])
    return of_board(
        np.concatenate([played.board, cells]),
        np.concatenate([played.turn, chooser.integers(0, 2, len(cells), dtype=np.int32)]),
        np.full(count, NO_CHAIN, np.int32),
    )


def play_positions(first: np.ndarray, out: np.ndarray, buffer: np.ndarray, work: np.ndarray, seed: int) -> None:
    """Positions of random games, one after the other."""
    chooser = np.random.default_rng(seed)
    successors = (narrow if len(first) == narrow.WORDS else wide).successors
    row = first
    for n in range(len(out)):
        count = successors(row, buffer, work)
        row = buffer[chooser.integers(count)].copy() if count else first
        out[n] = row


def host_boards(game: Jumper, states: State) -> set[tuple[int, ...]]:
    """(number of the position, words of the board after one turn) for all positions."""
    facet = host.of(game)
    buffer, work = facet.rows(ROOM), big_work(game.size)
    found: set[tuple[int, ...]] = set()
    for n, row in enumerate(facet.row(states)):
        count = facet.module.successors(row, buffer, work)
        boards = {(n, *after) for after in buffer[:count].tolist()}
        assert len(boards) == count  # each once
        found |= boards
    assert work[bits.TRUNCATED] == 0
    return found


@functools.partial(jax.jit, static_argnames="game")
def legal(game: Any, states: State) -> Array:
    return jax.vmap(game.legal)(states)


@functools.partial(jax.jit, static_argnames="game")
def step(game: Any, states: State, actions: Array) -> State:
    return jax.vmap(game.step)(states, actions)


def chunked(function: Any, game: Any, *columns: Any) -> Any:
    """The function's results on batches of any length, filled up so that nothing is compiled anew."""
    length = len(jax.tree.leaves(columns)[0])
    parts = []
    for begin in range(0, length, CHUNK):
        part = jax.tree.map(lambda x, b=begin: np.resize(x[b : b + CHUNK], (CHUNK, *x.shape[1:])), columns)
        parts.append(jax.tree.map(np.asarray, function(game, *part)))
    return jax.tree.map(lambda *x: np.concatenate(x)[:length], *parts)


def jax_boards(game: Jumper, states: State) -> set[tuple[int, ...]]:
    """The same, hop by hop: states with a chain under way are expanded until none is left, each once."""
    pack = host.of(game).row
    found: set[tuple[int, ...]] = set()
    origin = np.arange(len(states.turn))
    while len(origin):
        at, action = np.nonzero(chunked(legal, game, states))
        after = chunked(step, game, jax.tree.map(lambda x, at=at: x[at], states), action.astype(np.int32))
        origin = origin[at]
        keyed = np.unique(np.concatenate([origin[:, None].astype(np.uint64), pack(after)], 1), axis=0)
        after = host.of(game).state(keyed[:, 1:])
        done = after.chain == NO_CHAIN
        found |= set(map(tuple, keyed[done].tolist()))
        states = jax.tree.map(lambda x, done=done: x[~done], after)
        origin = keyed[~done, 0].astype(np.int64)
    return found


@pytest.mark.parametrize("size", SIZES)
def test_both_facets_reach_the_same_boards_in_one_turn(size: int) -> None:
    """1,429 or more positions for each of seven sizes: over 10,000."""
    states = positions(size, 1430, seed=size)
    assert host_boards(Jumper(size), states) == jax_boards(Jumper(size), states)


@pytest.mark.parametrize("size", [5, 8, 12, 16])
def test_successors_and_paths_are_those_of_the_plain_version(size: int) -> None:
    game, chooser = Jumper(size), random.Random(size)
    facet = host.of(game)
    buffer, work = facet.rows(ROOM), big_work(size)
    for _ in range(15):
        board, mover = plain.random_board(size, chooser), chooser.choice([1, 2])
        jumps = list(itertools.islice(plain.jumps(board, mover), 1000))
        if len(jumps) == 1000:  # the plain version would take too long
            continue
        turns = [*jumps, *plain.places(board, mover)]
        state = of_board(np.array(board, np.int8).reshape(-1), np.int32(mover - 1), np.int32(NO_CHAIN))
        count = facet.module.successors(facet.row(state), buffer, work)
        after = facet.state(buffer[:count].copy())
        got = [tuple(map(tuple, b.reshape(size, size).tolist())) for b in after.board]
        assert len(set(got)) == count
        assert set(got) == {b for _, b in turns}
        assert (after.turn == 2 - mover).all()
        # Jumps come first: what follows the last jump are places, all of them but those that hops over own
        # pieces made before.
        jumped = [b not in {b for _, b in plain.places(board, mover)} for b in got]
        assert not any(jumped[max(np.flatnonzero(jumped), default=-1) + 1 :])
        assert paths.count(state.board.copy(), size, mover, paths.NO_CELL, 1) == max(len(turns), 1)
        by_path = {" ".join(f"{r} {c}" for r, c in path): b for path, b in turns}
        for b in got[:5]:
            assert by_path[turn_between(game, state, np.array(b, np.int8).reshape(-1))] == b


def some_states(game: Jumper, count: int) -> tuple[State, np.ndarray]:
    """States of random games and the moves made in them, among them chains under way and finished games."""
    states, moves = jax.tree.map(
        lambda x: np.asarray(x).reshape(-1, *x.shape[2:]), random_games(game, LANES, jax.random.key(3))
    )
    chains = np.flatnonzero(states.chain != NO_CHAIN)[: count // 4]
    chosen = np.concatenate([np.random.default_rng(0).choice(len(moves), count - len(chains), replace=False), chains])
    return jax.tree.map(lambda x: x[chosen], states), moves[chosen]


@pytest.mark.parametrize("game", [Jumper(5), Jumper(5, 0.4), Jumper(9)], ids=["5", "5 dealt", "9"])
def test_single_actions_do_the_same_on_the_host(game: Jumper) -> None:
    facet, spec = host.of(game), game.spec
    states, moves = some_states(game, 200)
    want = jax.jit(
        jax.vmap(
            lambda s, m: (
                game.actor(s),
                game.legal(s),
                game.chance(s),
                game.returns(s),
                game.step(s, m),
                jnp.stack([game.observe(s, jnp.int32(seat)).reshape(-1) for seat in (0, 1)]),
            )
        )
    )(states, moves)
    actors, masks, probabilities, returns, after, seen = jax.tree.map(np.asarray, want)
    assert {TERMINAL, 0, 1} <= set(actors.tolist())
    work, out, after_rows = facet.work(), facet.rows(), facet.row(after)
    mask, probs = facet.mask(), np.zeros(spec.num_outcomes, np.float32)
    got, planes = np.zeros(2, np.float32), np.zeros(facet.module.OBS_SIZE, np.float32)
    jax.tree.map(np.testing.assert_array_equal, facet.state(facet.row(states)), states)
    facet.init(out)
    np.testing.assert_array_equal(out, facet.row(game.init()))
    for n, row in enumerate(facet.row(states)):
        assert facet.actor(row, work) == actors[n]
        facet.legal(row, mask, work)
        np.testing.assert_array_equal(unpack(mask, spec.num_actions), masks[n])
        facet.chance(row, probs, work)
        np.testing.assert_allclose(probs, probabilities[n], rtol=1e-6)
        facet.returns(row, got, work)
        np.testing.assert_array_equal(got, returns[n])
        for seat in (0, 1):
            facet.observe(row, seat, planes, work)
            np.testing.assert_array_equal(planes, seen[n, seat])
        facet.step(row, moves[n], out, work)
        np.testing.assert_array_equal(out, after_rows[n])
    assert len({facet.key(row) for row in facet.row(states)}) == len(np.unique(facet.row(states), axis=0))


@pytest.mark.parametrize("size", [5, 9])
def test_both_facets_end_a_chain_under_way_in_the_same_boards(size: int) -> None:
    game = Jumper(size)
    states, _ = some_states(game, 200)
    chains = jax.tree.map(lambda x: x[states.chain != NO_CHAIN], states)
    assert len(chains.turn)
    assert host_boards(game, chains) == jax_boards(game, chains)


@pytest.mark.parametrize("size", [8, 16])
def test_a_board_with_too_many_chains_is_cut_short_and_says_so(size: int) -> None:
    """Landings two apart with enemies between them: chains are paths of a king among them, millions."""
    game = Jumper(size)
    facet = host.of(game)
    board = np.full((size, size), plain.BLACK, np.int8)
    board[::2, ::2] = plain.EMPTY
    board[0, 0] = plain.WHITE
    state = of_board(board.reshape(-1), np.int32(0), np.int32(NO_CHAIN))
    num_empty = int((board == plain.EMPTY).sum())
    for capacity, room in ((1000, ROOM), (1 << 15, 1 << 10)):  # the buffer is too small, then the workspace
        buffer = facet.rows(capacity)
        kind = narrow if size <= 8 else wide
        work = np.zeros(bits.work_words(room, stack=kind.STACK, note=1 if size <= 8 else wide.PART), np.uint64)
        count = facet.module.successors(facet.row(state), buffer, work)
        assert work[bits.TRUNCATED] > 0
        assert count >= min(capacity, room)
        assert count <= capacity
        assert len(np.unique(buffer[:count], axis=0)) == count
        after = facet.state(buffer[:count]).board
        places = (after != state.board).sum(1) == 1
        assert places.sum() == num_empty  # all places are there, whatever else is left out


def test_boards_beyond_16_are_left_to_the_lowering() -> None:
    assert Jumper(16).host() is not None
    assert Jumper(17).host() is None
