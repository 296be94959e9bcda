"""Jumper's compiled rules: in one turn the same boards as the rules in JAX, and as the plain version."""

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
from boardrl.host import random_games as random_kernel
from boardrl.host.masks import unpack
from games.jumper import Jumper
from games.jumper.rules import NO_CHAIN, State, of_board
from search.budget import Budget
from search.searcher import Searcher

SIZES = range(3, 10)
CHUNK = 4096  # states in one call of a compiled function


def positions(size: int, count: int, seed: int) -> State:
    """A batch of random positions, half of them from random play, half with cells drawn apart from each other."""
    game, chooser = Jumper(size), np.random.default_rng(seed)
    facet = host.of(game)
    rows = facet.rows(4 * count)
    host.specialise(random_kernel, facet).record(rows, np.zeros(len(rows), np.int64), seed)
    played = facet.state(rows[facet.state(rows).chain == NO_CHAIN][: count // 2])
    weights = chooser.random((count - len(played.turn), 4)) ** 2 + 0.01
    shares = np.cumsum(weights / weights.sum(1, keepdims=True), 1)
    cells = (chooser.random((len(shares), size * size))[..., None] > shares[:, None, :3]).sum(-1).astype(np.int8)
    return of_board(
        np.concatenate([played.board, cells]),
        np.concatenate([played.turn, chooser.integers(0, 2, len(cells), dtype=np.int32)]),
        np.full(count, NO_CHAIN, np.int32),
    )


def host_boards(game: Jumper, states: State) -> set[tuple[int, ...]]:
    """(number of the position, words of the row after one turn) for all positions, hop by hop on compiled rules."""
    facet = host.of(game)
    buffer, work = facet.rows(facet.module.ROOM), facet.work()
    found: set[tuple[int, ...]] = set()
    for n, first in enumerate(facet.row(states)):
        active = {tuple(first.tolist())}
        followed = set(active)
        while active:
            row = np.array(active.pop(), np.uint64)
            count = facet.successors(row, buffer, work)
            for after, chain in zip(buffer[:count].tolist(), facet.state(buffer[:count]).chain, strict=True):
                if chain == NO_CHAIN:
                    found.add((n, *after))
                elif tuple(after) not in followed:
                    active.add(tuple(after))
                    followed.add(tuple(after))
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
def test_compiled_rules_reach_the_same_boards_in_one_turn_as_jax(size: int) -> None:
    """1,429 or more positions for each of seven sizes: over 10,000."""
    states = positions(size, 1430, seed=size)
    assert host_boards(Jumper(size), states) == jax_boards(Jumper(size), states)


@pytest.mark.parametrize("size", [5, 8, 12, 17])
def test_turns_are_those_of_the_plain_version(size: int) -> None:
    game, chooser = Jumper(size), random.Random(size)
    facet = host.of(game)
    kernel, rows, ends, work = host.specialise(random_kernel, facet), facet.rows(8192), facet.rows(8192), facet.work()
    for _ in range(15):
        board, mover = plain.random_board(size, chooser), chooser.choice([1, 2])
        jumps = list(itertools.islice(plain.jumps(board, mover), 1000))
        if len(jumps) == 1000:  # the plain version would take too long
            continue
        turns = [*jumps, *plain.places(board, mover)]
        state = of_board(np.array(board, np.int8).reshape(-1), np.int32(mover - 1), np.int32(NO_CHAIN))
        row = facet.row(state)
        assert sorted(host_ends(game, state)) == sorted({b for _, b in turns})
        if turns:
            assert kernel.turn_ends(row, rows, ends, work) == len(turns)  # by paths
        # Hops that take a piece come first, then all other hops, then places.
        actions = facet.actions(row)
        steps = facet.rows(len(actions))
        for action, out in zip(actions, steps, strict=True):
            facet.step(row, action, out, work)
        takes = (facet.state(steps).dead != state.dead).any(1)
        order = np.lexsort([actions, ~takes, actions < size * size])
        assert facet.successors(row, rows, work) == len(actions)
        np.testing.assert_array_equal(rows[: len(actions)], steps[order])


def host_ends(game: Jumper, state: State) -> list[tuple[tuple[int, ...], ...]]:
    """The boards after one turn, as the plain version writes them; none of a finished game."""
    facet = host.of(game)
    batch = jax.tree.map(lambda leaf: np.asarray(leaf)[None], state)
    found = host_boards(game, batch)
    after = facet.state(np.array([row for _, *row in found], np.uint64).reshape(len(found), facet.module.WORDS))
    assert (after.turn == 1 - state.turn).all()
    return [tuple(map(tuple, b.tolist())) for b in after.board.reshape(-1, game.size, game.size)]


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
def test_chains_under_way_end_in_the_same_boards(size: int) -> None:
    game = Jumper(size)
    states, _ = some_states(game, 200)
    chains = jax.tree.map(lambda x: x[states.chain != NO_CHAIN], states)
    assert len(chains.turn)
    assert host_boards(game, chains) == jax_boards(game, chains)


def test_a_board_with_millions_of_chains_is_searched_within_its_limits() -> None:
    """Landings two apart with enemies between them: chains are paths of a king among them."""
    size = 8
    game = Jumper(size)
    facet = host.of(game)
    board = np.full((size, size), plain.BLACK, np.int8)
    board[::2, ::2] = plain.EMPTY
    board[0, 0] = plain.WHITE
    state = of_board(board.reshape(-1), np.int32(0), np.int32(NO_CHAIN))
    rows = facet.rows(2048 + facet.module.ROOM)
    assert host.specialise(random_kernel, facet).turn_ends(facet.row(state), rows, facet.rows(2048), facet.work()) == -1
    search = Searcher(game, "negascout", budget=Budget(depth=1, nodes=20_000, kilobytes=4096))
    result = search.search_row(facet.row(state))
    assert abs(result.nodes - 20_000) <= 1
    assert not result.exact
    assert facet.action(result.line[0], result.line[1]) in facet.actions(result.line[0])
