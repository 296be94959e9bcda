"""Perft: the number of paths of D moves of a game, an exact count that almost any mistake in the rules changes."""

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

from boardrl import optional
from boardrl.errors import UserError
from boardrl.game import CHANCE, TERMINAL, Game
from boardrl.runs import progress

CHUNK = 8192  # states per call of a compiled function; the last chunk is padded to avoid a retrace
MERGE_ROWS = 1 << 22  # children held before equal ones are merged
WORD = 8  # bytes; rows are padded to whole words, so that they can be hashed by words


class Depth(NamedTuple):
    """The count at one depth."""

    depth: int
    nodes: int  # paths, or distinct states
    seconds: float  # spent on this depth alone


class Frontier(NamedTuple):
    """Distinct states at one depth, and how many paths lead to each."""

    rows: np.ndarray  # [N, W] uint64: states, packed
    paths: np.ndarray  # [N] int64, or Python integers where those could overflow


def perft(
    game: Game[Any], depth: int, *, state: Any = None, distinct: bool = False, by_turns: bool | None = None
) -> int:
    """Number of paths of `depth` moves, or of the distinct states that they lead to."""
    *_, last = counts(game, depth, state=state, distinct=distinct, by_turns=by_turns)
    return last.nodes


def counts(
    game: Game[Any], depth: int, *, state: Any = None, distinct: bool = False, by_turns: bool | None = None
) -> Iterator[Depth]:
    """The count at each depth from 1 on.

    A move is a legal action or an outcome of positive probability; a finished game has one path, to itself.
    States that several paths lead to are expanded once, with the number of paths as a weight.

    Args:
      state: start state; the game's initial state if None.
      distinct: count states instead of paths; with `by_turns`, count paths but merge those turns of a position that
        lead to the same position.
      by_turns: count depth in whole turns (all moves until another player acts) instead of moves; None: do so if the
        game has a notation for turns (`turn_to_text`).
    """
    if depth < 1:
        raise UserError(f"depth={depth} is too small; expected 1 or more moves")
    if (optional.turn_to_text(game) is not None) if by_turns is None else by_turns:
        return _turn_counts(game, depth, state, distinct)
    return _counts(game, depth, state, distinct)


def _counts(game: Game[Any], depth: int, state: Any, distinct: bool) -> Iterator[Depth]:
    frontier = _start(game, state)
    for d in range(1, depth + 1):
        began = time.perf_counter()
        frontier = frontier._replace(paths=_wide(frontier.paths, game.spec.num_moves))
        with progress.track(f"depth {d}", len(frontier.rows), "states") as bar:
            if d == depth and not distinct:
                count = _count_paths(game, frontier, bar)  # the states at the last depth are not needed
            else:
                frontier = _expand(game, frontier, bar)
                count = len(frontier.rows) if distinct else int(frontier.paths.sum())
        yield Depth(d, count, time.perf_counter() - began)


def _turn_counts(game: Game[Any], depth: int, state: Any, distinct: bool) -> Iterator[Depth]:
    frontier = _start(game, state)
    for d in range(1, depth + 1):
        began = time.perf_counter()
        with progress.track(f"depth {d}", len(frontier.rows), "states") as bar:
            frontier = _after_turns(game, frontier, bar, distinct)
        yield Depth(d, int(frontier.paths.sum()), time.perf_counter() - began)


def _after_turns(game: Game[Any], frontier: Frontier, bar: progress.Bar, distinct: bool) -> Frontier:
    """The frontier one turn later: expands until another actor has the move."""
    ended = _Merging()
    for begin in range(0, len(frontier.rows), CHUNK):
        chosen = slice(begin, begin + CHUNK)
        part = Frontier(frontier.rows[chosen], _wide(frontier.paths[chosen], game.spec.num_moves))
        # With `distinct`, rows carry their parent's index, and equal ends of its turns are merged before weighting.
        number = np.arange(len(part.rows), dtype=np.uint64)[:, None]
        active = Frontier(np.hstack([part.rows, number]), np.ones_like(part.paths)) if distinct else part
        ends = _Merging()
        while len(active.rows):
            active = active._replace(paths=_wide(active.paths, game.spec.num_moves))
            under_way = _Merging()
            for goes_on, child in _children(game, active, None, carried=int(distinct)):
                under_way.add(Frontier(child.rows[goes_on], child.paths[goes_on]))
                ends.add(Frontier(child.rows[~goes_on], child.paths[~goes_on]))
            active = under_way.merged()
        last = ends.merged()
        if distinct:
            last = Frontier(np.ascontiguousarray(last.rows[:, :-1]), part.paths[last.rows[:, -1].astype(np.int64)])
        ended.add(last)
        bar.update(begin + len(part.rows))
    return ended.merged()


def _start(game: Game[Any], state: Any) -> Frontier:
    first = np.asarray(_pack(game.init() if state is None else state))[None]
    return Frontier(_words(first), np.ones(1, np.int64))


def _wide(paths: np.ndarray, most: int) -> np.ndarray:
    """The same numbers as Python integers if one more move, one of `most`, could overflow int64."""
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


class _Merging:
    """Merges frontiers incrementally, so that equal states do not accumulate."""

    def __init__(self) -> None:
        self._parts: list[Frontier] = []
        self._fresh = 0  # rows since the last merge
        self._most = 0  # upper bound of the total number of paths

    def add(self, part: Frontier) -> None:
        if not len(part.rows):
            return
        self._most += int(part.paths.max()) * len(part.paths)
        if self._most > np.iinfo(np.int64).max:
            part = part._replace(paths=part.paths.astype(object))
        self._parts.append(part)
        self._fresh += len(part.rows)
        if self._fresh > max(MERGE_ROWS, len(self._parts[0].rows)):
            self._parts, self._fresh = [_merge(self._parts)], 0

    def merged(self) -> Frontier:
        return _merge(self._parts) if self._parts else Frontier(np.zeros((0, 1), np.uint64), np.zeros(0, np.int64))


def _expand(game: Game[Any], frontier: Frontier, bar: progress.Bar) -> Frontier:
    """The frontier one move later."""
    merging = _Merging()
    for _, child in _children(game, frontier, bar):
        merging.add(child)
    return merging.merged()


def _children(
    game: Game[Any], frontier: Frontier, bar: progress.Bar | None, carried: int = 0
) -> Iterator[tuple[np.ndarray, Frontier]]:
    """The states one move later, not merged, with [n] bool: whether the same actor acts again.

    The last `carried` words of a row are not part of the state; children copy them from their parents.
    """
    states = np.ascontiguousarray(frontier.rows[:, : frontier.rows.shape[1] - carried])
    for part, possible in _moves(game, states):
        parents, moves = np.nonzero(possible)
        parents += part.start
        for begin in range(0, len(parents), CHUNK):
            chosen = parents[begin : begin + CHUNK]
            rows, goes_on = _step(game, states[chosen], moves[begin : begin + CHUNK])
            if carried:
                rows = np.hstack([rows, frontier.rows[chosen, -carried:]])
            yield goes_on, Frontier(rows, frontier.paths[chosen])
        if bar is not None:
            bar.update(part.start, "expanded")


def _moves(game: Game[Any], rows: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    """[n, M] bool for each chunk of n rows: the possible moves; move 0, which does nothing, in a finished game."""
    for begin in range(0, len(rows), CHUNK):
        part = slice(begin, min(begin + CHUNK, len(rows)))
        size = part.stop - part.start
        yield part, np.asarray(_possible(game, _bytes(_filled(rows[part]))))[:size]


def _step(game: Game[Any], rows: np.ndarray, moves: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """[n, W] rows after the moves and [n] whether the same actor acts again, for n up to CHUNK."""
    after, goes_on = _after(game, _bytes(_filled(rows)), _filled(moves.astype(np.int32)))
    return _words(np.asarray(after))[: len(rows)], np.asarray(goes_on)[: len(rows)]


def _merge(parts: list[Frontier]) -> Frontier:
    """The distinct rows, with their paths added up."""
    rows = np.concatenate([part.rows for part in parts])
    paths = np.concatenate([part.paths for part in parts])
    if len(rows) < 2:
        return Frontier(rows, paths)
    keys = _hash(rows)
    order = np.argsort(keys)
    new = (rows[order[1:]] != rows[order[:-1]]).any(1)
    if (new & (keys[order[1:]] == keys[order[:-1]])).any():  # hash collision: sort the rows themselves
        order = np.lexsort(rows.T)
        new = (rows[order[1:]] != rows[order[:-1]]).any(1)
    first = np.flatnonzero(np.concatenate([[True], new]))
    return Frontier(rows[order[first]], np.add.reduceat(paths[order], first))


def _hash(rows: np.ndarray) -> np.ndarray:
    """[N] uint64: a hash of each row, by multiplications and shifts of its words."""
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
def _after(game: Game[Any], rows: Array, moves: Array) -> tuple[Array, Array]:
    """[N, R] uint8, [N] bool: each state after its move, and whether its actor acts again (False if the game ends)."""

    def after(row: Array, move: Array) -> tuple[Array, Array]:
        state = _unpack(game, row)
        child = game.step(state, move)
        actor = game.actor(child)
        return _pack(child), (actor == game.actor(state)) & (actor != TERMINAL)

    return jax.vmap(after)(rows, moves)


def _pack(state: Any) -> Array:
    """[R] uint8: the concatenated bytes of all leaves, padded to whole words."""
    parts = [_leaf_bytes(jnp.asarray(leaf)) for leaf in jax.tree.leaves(state)]
    row = jnp.concatenate([jnp.zeros(0, jnp.uint8), *parts])
    return jnp.pad(row, (0, max(WORD, _whole_words(row.size)) - row.size))


def _leaf_bytes(leaf: Array) -> Array:
    leaf = leaf.astype(jnp.uint8) if leaf.dtype == bool else leaf
    return jax.lax.bitcast_convert_type(leaf, jnp.uint8).reshape(-1)


def _unpack(game: Game[Any], row: Array) -> Any:
    """The state packed in [R] bytes."""
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
    """[CHUNK, …]: padded with copies of the first entry, which is a valid state (or move)."""
    missing = CHUNK - len(rows)
    return np.concatenate([rows, np.repeat(rows[:1], missing, axis=0)]) if missing else rows
