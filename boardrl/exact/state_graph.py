"""State graph: all reachable states of a small game and their successors, and a lookup of states."""

from __future__ import annotations

import functools
import itertools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from boardrl import registry
from boardrl.errors import UserError
from boardrl.game import CHANCE, Game
from boardrl.host.compile_options import compiled
from boardrl.runs import progress

MAX_STATES = 2_000_000
MAX_BYTES = 2**30  # of all tables; limits games with large states or many actions to fewer than MAX_STATES
CHUNK = 1024  # states expanded per call on the device


class Graph(NamedTuple):
    """The states in order of discovery, row 0 being the initial one, and their successors."""

    rows: np.ndarray  # [N, W] uint32: the states, packed
    actor: np.ndarray  # [N] int32
    child: np.ndarray  # [N, M] int32, M = max(A, C): the row after each action or outcome, or -1
    chance: np.ndarray  # [N, C] float64
    returns: np.ndarray  # [N, P] float64


class _Expanded(NamedTuple):
    """A chunk of states with their successors; on the device, then in numpy."""

    actor: Any  # [B]
    chance: Any  # [B, C]
    returns: Any  # [B, P]
    allowed: Any  # [B, M] bool, M = max(A, C)
    child: Any  # [B, M, W] uint32
    hash: Any  # [B, M] uint32


def build(game: Game[Any], *, limit: int = MAX_STATES) -> Graph:
    """The graph of all reachable states; UserError if there are more than `limit`, or than the tables can hold."""
    spec = game.spec
    first = jax.jit(pack)(game.init())
    width, num_moves = len(first), max(spec.num_actions, spec.num_outcomes)
    row_bytes = 4 * width + 4 + 4 * num_moves + 8 * spec.num_outcomes + 16 * spec.num_players + spec.num_actions + 28
    limit = min(limit, MAX_BYTES // row_bytes)
    # Untouched memory costs nothing, so the tables have their largest size from the start.
    rows = np.empty((limit, width), np.uint32)
    actor = np.empty(limit, np.int32)
    child = np.empty((limit, num_moves), np.int32)
    chance = np.empty((limit, spec.num_outcomes))
    returns = np.empty((limit, spec.num_players))
    slots = np.full(1 << (2 * limit).bit_length(), -1, np.int32)
    salt = _salt(0, width)
    rows[0] = first
    slots[int(_hash(salt[0], first)) & (len(slots) - 1)] = 0
    known, done = 1, 0
    chunk = np.tile(rows[0], (CHUNK, 1))  # padded with copies of the initial state
    _expand(game, chunk, salt)  # this and the next are compiled before the progress bar starts timing
    _intern(slots, rows, known, rows[:0], np.empty(0, np.uint32), np.empty(0, np.int32))
    with progress.track(f"listing the states of {spec.name}, at most", limit, "states") as bar:
        while done < known:
            now = slice(done, min(done + CHUNK, known))
            size = now.stop - now.start
            chunk[:size] = rows[now]
            expanded = _Expanded(*(np.asarray(leaf)[:size] for leaf in _expand(game, chunk, salt)))
            actor[now], chance[now], returns[now] = expanded.actor, expanded.chance, expanded.returns
            allowed = expanded.allowed
            found = np.empty(np.count_nonzero(allowed), np.int32)
            known = _intern(slots, rows, known, expanded.child[allowed], expanded.hash[allowed], found)
            if known > limit:
                raise UserError(
                    f"{registry.describe(game)} has more than {limit:,} states, the most that can be solved exactly; "
                    "choose a smaller game or another player"
                )
            child[now] = -1
            child[now][allowed] = found
            done = now.stop
            bar.update(known)
    chance = chance[:known]
    chance /= np.maximum(chance.sum(axis=1, keepdims=True), 0.5)  # corrects the rounding to 32 bits
    return Graph(rows[:known], actor[:known], child[:known], chance, returns[:known])


@functools.partial(jax.jit, static_argnames="game")
def _expand(game: Game[Any], rows: Array, salt: Array) -> _Expanded:
    num_moves = max(game.spec.num_actions, game.spec.num_outcomes)

    def pad(mask: Array) -> Array:
        return jnp.pad(mask, (0, num_moves - len(mask)))

    def expand(row: Array) -> _Expanded:
        state = unpack(game, row)
        actor, chance = game.actor(state), game.chance(state)
        allowed = jnp.where(actor == CHANCE, pad(chance > 0), pad(game.legal(state)) & (actor >= 0))
        after = jax.vmap(game.step, (None, 0))(state, jnp.arange(num_moves, dtype=jnp.int32))
        child = jax.vmap(pack)(after)
        return _Expanded(actor, chance, game.returns(state), allowed, child, _hash(salt[0], child))

    return jax.vmap(expand)(rows)


@compiled
def _intern(
    slots: np.ndarray, rows: np.ndarray, known: int, new: np.ndarray, hashes: np.ndarray, found: np.ndarray
) -> int:
    """Writes the row number of each new state to `found`, adding unknown states; returns the number of known states.

    `slots` is an open-addressing hash table of row numbers. A result of one more than the limit means overflow.
    """
    mask = len(slots) - 1
    for n in range(len(new)):
        slot = hashes[n] & mask
        while True:
            row = slots[slot]
            if row < 0:
                if known == len(rows):
                    return known + 1
                row = known
                known += 1
                rows[row] = new[n]
                slots[slot] = row
            if (rows[row] == new[n]).all():
                found[n] = row
                break
            slot = (slot + 1) & mask
    return known


def pack(state: Any) -> Array:
    """[W] uint32: one state, its booleans as bits and all else as bytes."""
    leaves = [jnp.asarray(leaf) for leaf in jax.tree.leaves(state)]
    flags = [leaf.reshape(-1) for leaf in leaves if leaf.dtype == jnp.bool_]
    parts = [jnp.packbits(jnp.concatenate(flags))] if flags else []
    parts += [jax.lax.bitcast_convert_type(leaf, jnp.uint8).reshape(-1) for leaf in leaves if leaf.dtype != jnp.bool_]
    row = jnp.concatenate(parts)
    row = jnp.pad(row, (0, -len(row) % 4))
    return jax.lax.bitcast_convert_type(row.reshape(-1, 4), jnp.uint32)


def unpack(game: Game[Any], row: Array) -> Any:
    """The state of what `pack` made of it."""
    shapes, structure = jax.tree.flatten(jax.eval_shape(game.init))
    left = jax.lax.bitcast_convert_type(row, jnp.uint8).reshape(-1)
    num_flags = sum(shape.size for shape in shapes if shape.dtype == jnp.bool_)
    flags, left = jnp.unpackbits(left[: -(-num_flags // 8)], count=num_flags) != 0, left[-(-num_flags // 8) :]
    leaves = []
    for shape in shapes:
        if shape.dtype == jnp.bool_:
            part, flags = flags[: shape.size], flags[shape.size :]
            leaves.append(part.reshape(shape.shape))
            continue
        part, left = left[: shape.size * shape.dtype.itemsize], left[shape.size * shape.dtype.itemsize :]
        if shape.dtype.itemsize == 1:
            leaves.append(jax.lax.bitcast_convert_type(part, shape.dtype).reshape(shape.shape))
        else:
            words = part.reshape(*shape.shape, shape.dtype.itemsize)
            leaves.append(jax.lax.bitcast_convert_type(words, shape.dtype))
    return jax.tree.unflatten(structure, leaves)


# --- finding a state --------------------------------------------------------------------------------------------------


class Lookup(NamedTuple):
    """Index of all states, sorted by two salted hashes for a binary search."""

    salt: Array  # [2, W] uint32, chosen so that no two reachable states share both hashes
    high: Array  # [N] uint32, ascending
    low: Array  # [N] uint32, ascending where `high` is equal
    row: Array  # [N] int32


def _salt(seed: int, width: int) -> Array:
    return jnp.asarray(np.random.default_rng(seed).integers(2**32, size=(2, width), dtype=np.uint32))


def _hash(salt: Array, rows: Array) -> Array:
    """[...] uint32 hashes of [..., W] rows: every word is mixed with the salt of its column, and the sum again."""
    salted = rows ^ jnp.broadcast_to(salt, rows.shape)
    return _mix(_mix(salted).sum(axis=-1, dtype=jnp.uint32))


def _mix(words: Array) -> Array:
    """A bijection of 32-bit words in which every input bit affects every output bit (the finaliser of MurmurHash3)."""
    words = (words ^ (words >> 16)) * jnp.uint32(0x85EBCA6B)
    words = (words ^ (words >> 13)) * jnp.uint32(0xC2B2AE35)
    return words ^ (words >> 16)


def make_lookup(rows: np.ndarray) -> Lookup:
    hashes = jax.jit(lambda salt, rows: (_hash(salt[0], rows), _hash(salt[1], rows)))
    for seed in itertools.count():
        salt = _salt(seed, rows.shape[1])
        high, low = (np.asarray(half) for half in hashes(salt, rows))
        order = np.lexsort((low, high))
        high, low = high[order], low[order]
        if not ((high[1:] == high[:-1]) & (low[1:] == low[:-1])).any():
            break
    return Lookup(salt, jnp.asarray(high), jnp.asarray(low), jnp.asarray(order, jnp.int32))


def find(lookup: Lookup, state: Any) -> Array:
    """[] int32 row of one state, or -1: a binary search for its pair of hashes."""
    row = pack(state)
    high, low = _hash(lookup.salt[0], row), _hash(lookup.salt[1], row)
    last = len(lookup.row) - 1

    def halve(_: int, bounds: tuple[Array, Array]) -> tuple[Array, Array]:
        start, stop = bounds
        middle = (start + stop) // 2
        before = (lookup.high[middle] < high) | ((lookup.high[middle] == high) & (lookup.low[middle] < low))
        return jnp.where(before, middle + 1, start), jnp.where(before, stop, middle)

    start = jax.lax.fori_loop(0, last.bit_length(), halve, (jnp.int32(0), jnp.int32(last)))[0]
    same = (lookup.high[start] == high) & (lookup.low[start] == low)
    return jnp.where(same, lookup.row[start], -1)
