"""Perft: how many paths of D moves a game has; exact counts that any mistake in the rules would change."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from boardrl import progress
from boardrl.errors import UserError
from boardrl.game import CHANCE, TERMINAL, Game

CHUNK = 8192  # states in one call of a compiled function; the last chunk is filled up, so that nothing retraces
MERGE_ROWS = 1 << 22  # children that are held before equal ones are merged
WORD = 8  # bytes; rows are padded to whole words, so that they can be hashed by words


class Depth(NamedTuple):
    """What there is after so many moves."""

    depth: int
    nodes: int  # paths, or distinct states
    seconds: float  # spent on this depth alone


class Frontier(NamedTuple):
    """Distinct states at one depth, and how many paths lead to each."""

    rows: np.ndarray  # [N, W] uint64: states, packed
    paths: np.ndarray  # [N] int64, or Python integers where those could overflow


def perft(game: Game[Any], depth: int, *, state: Any = None, distinct: bool = False) -> int:
    """How many paths of `depth` moves there are, or how many distinct states they lead to."""
    *_, last = counts(game, depth, state=state, distinct=distinct)
    return last.nodes


def counts(game: Game[Any], depth: int, *, state: Any = None, distinct: bool = False) -> Iterator[Depth]:
    """The count at each depth from 1 on.

    A move is a legal action or an outcome of positive probability; a finished game has one path, to itself.
    States that several paths lead to are expanded once, with the number of paths as a weight.

    Args:
      state: where to start; the game's first state if None.
      distinct: count states instead of paths.

    A game whose turns are made of several actions may count whole turns itself, by `count_turns`; of the turns of
    one position, distinct are then those that lead to different ones.
    """
    if depth < 1:
        raise UserError(f"depth={depth} is not possible; expected 1 or more moves")
    if hasattr(game, "count_turns"):
        return _count_turns(game, depth, state, distinct)
    return _counts(game, depth, state, distinct)


def _count_turns(game: Any, depth: int, state: Any, distinct: bool) -> Iterator[Depth]:
    state = game.init() if state is None else state
    for d in range(1, depth + 1):
        began = time.perf_counter()
        with progress.track(f"depth {d}", 100, "%") as bar:
            nodes = game.count_turns(
                state, d, distinct=distinct, tick=lambda done, of, bar=bar: bar.update(100 * done // of)
            )
        yield Depth(d, nodes, time.perf_counter() - began)


def _counts(game: Game[Any], depth: int, state: Any, distinct: bool) -> Iterator[Depth]:
    start = np.asarray(_pack(game.init() if state is None else state))[None]
    frontier = Frontier(_words(start), np.ones(1, np.int64))
    for d in range(1, depth + 1):
        began = time.perf_counter()
        frontier = frontier._replace(paths=_wide(frontier.paths, game.spec.num_moves))
        with progress.track(f"depth {d}", len(frontier.rows), "states") as bar:
            if d == depth and not distinct:
                count = _count_paths(game, frontier, bar)  # the last states need not be known
            else:
                frontier = _expand(game, frontier, bar)
                count = len(frontier.rows) if distinct else int(frontier.paths.sum())
        yield Depth(d, count, time.perf_counter() - began)


def _wide(paths: np.ndarray, most: int) -> np.ndarray:
    """The same numbers as Python integers if one more move, one of `most`, could make too many paths for int64."""
    fits = paths.dtype == np.int64 and int(paths.sum()) <= np.iinfo(np.int64).max // most
    return paths if fits else paths.astype(object)


def _count_paths(game: Game[Any], frontier: Frontier, bar: progress.Bar) -> int:
    """Σ paths to a state × moves from it."""
    total = 0
    for part, possible in _moves(game, frontier.rows):
        paths = frontier.paths[part]
        total += int(paths @ possible.sum(1).astype(paths.dtype))
        bar.update(part.start, "counted")
    return total


def _expand(game: Game[Any], frontier: Frontier, bar: progress.Bar) -> Frontier:
    """The frontier one move on."""
    merged, fresh = Frontier(frontier.rows[:0], frontier.paths[:0]), []
    for part, possible in _moves(game, frontier.rows):
        parents, moves = np.nonzero(possible)
        parents += part.start
        for begin in range(0, len(parents), CHUNK):
            chosen = slice(begin, begin + CHUNK)
            rows = _step(game, frontier.rows[parents[chosen]], moves[chosen])
            fresh.append(Frontier(rows, frontier.paths[parents[chosen]]))
        if sum(len(block.rows) for block in fresh) > max(MERGE_ROWS, len(merged.rows)):
            merged, fresh = _merge([merged, *fresh]), []
        bar.update(part.start, "expanded")
    return _merge([merged, *fresh])


def _moves(game: Game[Any], rows: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    """[n, M] bool for each chunk of n rows: what can be played; of a finished game move 0, which changes nothing."""
    for begin in range(0, len(rows), CHUNK):
        part = slice(begin, min(begin + CHUNK, len(rows)))
        size = part.stop - part.start
        yield part, np.asarray(_possible(game, _bytes(_filled(rows[part]))))[:size]


def _step(game: Game[Any], rows: np.ndarray, moves: np.ndarray) -> np.ndarray:
    """[n, W] rows after the moves, for n up to CHUNK."""
    after = np.asarray(_after(game, _bytes(_filled(rows)), _filled(moves.astype(np.int32))))
    return _words(after)[: len(rows)]


def _merge(parts: list[Frontier]) -> Frontier:
    """All rows once, with their paths added up."""
    rows = np.concatenate([part.rows for part in parts])
    paths = np.concatenate([part.paths for part in parts])
    if len(rows) < 2:
        return Frontier(rows, paths)
    keys = _hash(rows)
    order = np.argsort(keys)
    new = (rows[order[1:]] != rows[order[:-1]]).any(1)
    if (new & (keys[order[1:]] == keys[order[:-1]])).any():  # two states with one hash: sort the rows themselves
        order = np.lexsort(rows.T)
        new = (rows[order[1:]] != rows[order[:-1]]).any(1)
    first = np.flatnonzero(np.concatenate([[True], new]))
    return Frontier(rows[order[first]], np.add.reduceat(paths[order], first))


def _hash(rows: np.ndarray) -> np.ndarray:
    """[N] uint64: a hash of each row, by multiplication and shifts word by word."""
    key = np.zeros(len(rows), np.uint64)
    for word in rows.T:
        key = (key ^ word) * np.uint64(0x9E3779B97F4A7C15)
        key ^= key >> np.uint64(29)
    return key


@functools.partial(jax.jit, static_argnames="game")
def _possible(game: Game[Any], rows: Array) -> Array:
    """[N, M] bool: legal actions, or outcomes of positive probability, or move 0 of a finished game."""
    size = game.spec.num_moves

    def possible(row: Array) -> Array:
        state = _unpack(game, row)
        actor = game.actor(state)
        legal = jnp.pad(game.legal(state), (0, size - game.spec.num_actions))
        likely = jnp.pad(game.chance(state) > 0, (0, size - game.spec.num_outcomes))
        stay = jnp.arange(size) == 0
        return jnp.where(actor == TERMINAL, stay, jnp.where(actor == CHANCE, likely, legal))

    return jax.vmap(possible)(rows)


@functools.partial(jax.jit, static_argnames="game")
def _after(game: Game[Any], rows: Array, moves: Array) -> Array:
    """[N, R] uint8: each state after its move."""
    return jax.vmap(lambda row, move: _pack(game.step(_unpack(game, row), move)))(rows, moves)


def _pack(state: Any) -> Array:
    """[R] uint8: the bytes of all leaves, one after the other, filled up to whole words."""
    parts = [_leaf_bytes(jnp.asarray(leaf)) for leaf in jax.tree.leaves(state)]
    row = jnp.concatenate([jnp.zeros(0, jnp.uint8), *parts])
    return jnp.pad(row, (0, max(WORD, _whole_words(row.size)) - row.size))


def _leaf_bytes(leaf: Array) -> Array:
    leaf = leaf.astype(jnp.uint8) if leaf.dtype == bool else leaf
    return jax.lax.bitcast_convert_type(leaf, jnp.uint8).reshape(-1)


def _unpack(game: Game[Any], row: Array) -> Any:
    """The state of [R] bytes."""
    shapes = jax.eval_shape(game.init)
    leaves, begin = [], 0
    for shape in jax.tree.leaves(shapes):
        size = shape.dtype.itemsize
        part = row[begin : begin + size * math.prod(shape.shape)]
        begin += part.size
        if shape.dtype == bool:
            leaf = part.astype(bool)
        else:
            leaf = jax.lax.bitcast_convert_type(part.reshape(-1, size) if size > 1 else part, shape.dtype)
        leaves.append(leaf.reshape(shape.shape))
    return jax.tree.unflatten(jax.tree.structure(shapes), leaves)


def _whole_words(size: int) -> int:
    return -(-size // WORD) * WORD


def _words(rows: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(rows).view(np.uint64)


def _bytes(rows: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(rows).view(np.uint8)


def _filled(rows: np.ndarray) -> np.ndarray:
    """[CHUNK, …]: the first entry again and again after the last, as it is surely a state (or a move of one)."""
    missing = CHUNK - len(rows)
    return np.concatenate([rows, np.repeat(rows[:1], missing, axis=0)]) if missing else rows
