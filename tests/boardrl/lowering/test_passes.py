"""Vmapped programs rolled into loops and operands moved into branches: the same results, and what is in the loop."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from boardrl.lowering import ir, lower, primitives
from boardrl.lowering.passes.fold import fold
from boardrl.lowering.passes.lazy import lazily
from boardrl.lowering.passes.roll import roll
from boardrl.lowering.passes.segments import scatter_sums

MOVES = 40
FROM = jnp.asarray(np.random.default_rng(0).integers(0, 16, MOVES))
TO = jnp.asarray(np.random.default_rng(1).integers(0, 16, MOVES))
NEAR = jnp.asarray(np.random.default_rng(2).integers(-1, 16, (16, 6)))  # -1: none


def safe_moves(board: jax.Array) -> jax.Array:
    """[MOVES] bool: moves after which no enemy stands near the king, as rules of chess are written."""

    def is_safe(start: jax.Array, end: jax.Array) -> jax.Array:
        piece = board[start]
        after = board.at[start].set(0).at[end].set(piece)
        king = jnp.argmin(jnp.abs(after - 6))
        near = NEAR[king]
        return (piece > 0) & (board[end] <= 0) & ~((near >= 0) & (after[near] < 0)).any()

    return jax.vmap(is_safe)(FROM, TO)


def padded_moves(board: jax.Array) -> jax.Array:
    """[16] int32: for each own piece, found by `nonzero` and padded, how many of its ways are free."""
    (places,) = jnp.nonzero(board > 0, size=16, fill_value=0)

    def ways(place: jax.Array) -> jax.Array:
        lifted = board.at[place].set(0)
        return jnp.where(lifted[NEAR[place]] == 0, NEAR[place], 0).sum() + lifted.sum()

    return jax.vmap(ways)(places)


def pairs(board: jax.Array) -> jax.Array:
    """[16, 6] int32: a vmap in a vmap, with the batch axis behind another one."""

    def one(place: jax.Array, other: jax.Array) -> jax.Array:
        swapped = board.at[place].set(board[other]).at[other].set(board[place])
        return (swapped[::-1] * jnp.arange(16)).max() - board.sum()

    inner = jax.vmap(one, (None, 0), out_axes=0)
    return jax.vmap(inner, (0, 0), out_axes=1)(jnp.arange(16), NEAR % 16).T


def program(function: Any) -> ir.Block:
    primitives.load()
    block, _ = ir.trace(function, [jnp.zeros(16, jnp.int32)], name="program")
    fold(block)
    roll(block)
    lazily(block)
    return block


@pytest.mark.parametrize("function", [safe_moves, padded_moves, pairs])
def test_rolled_programs_compute_the_same(function: Any) -> None:
    board = jnp.zeros(16, jnp.int32)
    compiled = lower(function, board, name=function.__name__)
    rng, differ = np.random.default_rng(3), set()
    for _ in range(60):
        board = jnp.asarray(rng.integers(-6, 7, 16) * rng.integers(0, 2, 16), jnp.int32)
        want = np.asarray(function(board))
        np.testing.assert_array_equal(compiled(board), want)
        differ.add(want.tobytes())
    assert len(differ) > 10


def test_a_vmapped_change_of_a_board_becomes_a_loop_with_a_branch() -> None:
    block = program(safe_moves)
    (loop,) = [eqn for eqn in block.equations if eqn.name == "scan"]
    assert loop.params["length"] == MOVES
    names = [eqn.name for eqn in loop.blocks[0].equations]
    assert "scatter" not in names  # only where the first tests hold
    inner = {eqn.name for eqn in ir.walk(loop.blocks[0])}
    assert {"cond", "scatter", "argmin"} <= inner
    assert all(out.shape in ((), (1,)) or out.shape[0] != MOVES for e in ir.walk(loop.blocks[0]) for out in e.outs)


def test_a_loop_within_a_loop() -> None:
    lengths = [eqn.params["length"] for eqn in ir.walk(program(pairs)) if eqn.name == "scan"]
    assert sorted(lengths) == [6, 16]


def test_elementwise_programs_stay_as_they_are() -> None:
    def plain(board: jax.Array) -> jax.Array:
        return jax.vmap(lambda place: (board[place] > 0) & (board[place] < 5))(FROM)

    assert not [eqn for eqn in ir.walk(program(plain)) if eqn.name in ("scan", "cond")]


CELLS = 40


def chains(keys: jax.Array) -> tuple[jax.Array, jax.Array]:
    """For each key from 3 on the sum of its cells' numbers and of their squares, as rules of go are written."""
    numbers = jnp.arange(CELLS, dtype=jnp.int32) * 5 - 90 + keys

    def one(x: jax.Array) -> tuple[jax.Array, jax.Array]:
        return jnp.where(keys == x + 3, numbers, 0).sum(), jnp.where(x + 3 == keys, numbers**2, 0).sum()

    return jax.vmap(one)(jnp.arange(CELLS, dtype=jnp.int32))


def behind(keys: jax.Array) -> jax.Array:
    """Sums by key along the other axis."""
    return jnp.where(keys[:, None] == jnp.arange(CELLS)[None], (keys * 7)[:, None], 0).sum(0)


@pytest.mark.parametrize(("function", "count"), [(chains, 2), (behind, 1)])
def test_sums_by_key_are_scattered(function: Any, count: int) -> None:
    primitives.load()
    block, _ = ir.trace(function, [jax.ShapeDtypeStruct((CELLS,), jnp.int32)], name="sums")
    fold(block)
    scatter_sums(block)
    assert [eqn.name for eqn in block.equations].count("scatter-add") == count
    assert max(np.prod(out.shape) for eqn in block.equations for out in eqn.outs) <= CELLS
    rng = np.random.default_rng(3)
    for low, high in ((0, CELLS), (-5, 2 * CELLS), (-(2**31), 2**31)):  # keys that no sum is for, too
        keys = rng.integers(low, high, CELLS).astype(np.int32)
        want = jax.tree.leaves(function(jnp.asarray(keys)))
        for got, expected in zip(jax.tree.leaves(lower(function, keys)(keys)), want, strict=True):
            np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize(
    "function",
    [
        lambda keys: jnp.where(keys[None] == jnp.arange(CELLS)[:, None] * 2, keys[None], 0).sum(1),  # gaps in the keys
        lambda keys: jnp.where(keys[None] == jnp.arange(CELLS)[:, None], keys[None], 1).sum(1),  # not 0 elsewhere
        lambda keys: jnp.where(keys[None] == jnp.arange(CELLS)[:, None], keys.astype(jnp.float32)[None], 0).sum(1),
        lambda keys: jnp.where(keys[None] == jnp.arange(CELLS)[:, None], keys[:, None], 0).sum(1),  # another number
    ],
)
def test_other_sums_stay_as_they_are(function: Any) -> None:
    block, _ = ir.trace(function, [jax.ShapeDtypeStruct((CELLS,), jnp.int32)], name="sums")
    fold(block)
    before = block.text()
    scatter_sums(block)
    assert block.text() == before


def test_a_choice_between_equals_is_none() -> None:
    """Rules whose variants are chosen by settings often leave `where(c, x, x)`: in a loop it was a branch."""

    def choice(flag: jax.Array, x: jax.Array) -> jax.Array:
        return jnp.where(flag, jnp.where(x > 0, x + 1, x + 1), x + 2) + jnp.where(flag, x, x)

    x = jnp.arange(-2, 3)
    names = [eqn.name for eqn in ir.trace(choice, [jnp.array(True), x], name="choice")[0].equations]
    assert names.count("select_n") == 1
    assert "gt" not in names
    lowered = lower(choice, jnp.array(True), x, name="choice")
    for flag in (True, False):
        np.testing.assert_array_equal(lowered(np.array(flag), x), choice(jnp.array(flag), x))
