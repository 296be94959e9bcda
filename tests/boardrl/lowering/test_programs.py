"""Whole programs: control flow, random compositions, nested calls, networks, and games of another package."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from jax import lax
from lowering_agreement import agree

from boardrl.lowering import Argument, Function, lower, lower_module
from boardrl.play import sampling


def control(x: Any, k: Any, s: Any) -> dict[str, Any]:
    """x int32[4,5], k int32[6], s int32[]."""

    def collatz(carry: Any) -> Any:
        n, steps = carry
        return jnp.where(n % 2 == 0, n // 2, 3 * n + 1), steps + 1

    def fill(i: Any, board: Any) -> Any:
        return board.at[i % 6].set(board[(i + 1) % 6] + i)

    def swap(i: Any, pair: Any) -> Any:
        a, b, total = pair
        return b, a + i, total + a.sum()

    def rows(carry: Any, row: Any) -> Any:
        best = jnp.maximum(carry, row.max())
        return best, (row - best, best)

    def bubble(i: Any, v: Any) -> Any:
        def inner(j: Any, v: Any) -> Any:
            low, high = jnp.minimum(v[j], v[j + 1]), jnp.maximum(v[j], v[j + 1])
            return v.at[j].set(low).at[j + 1].set(high)

        return lax.fori_loop(0, 5 - i, inner, v)

    last, (left, bests) = lax.scan(rows, jnp.int32(-(2**31)), x)
    return {
        "while": lax.while_loop(lambda c: (c[0] > 1) & (c[1] < 50), collatz, (jnp.abs(s) % 100 + 1, 0))[1],
        "while_array": lax.while_loop(
            lambda c: c[1].sum() < 100, lambda c: (c[0] + 1, c[1] + jnp.abs(k) % 9 + c[0]), (0, k % 7)
        )[1],
        "never": lax.while_loop(lambda c: c[0] < 0, lambda c: (c[0] - 1, c[1] * 2), (jnp.int32(3), k))[1],
        "fori_in_place": lax.fori_loop(0, 9, fill, k),
        "fori_dynamic": lax.fori_loop(s % 3, 7, fill, k),
        "swapped": swap(1, lax.fori_loop(0, s % 6, swap, (k, k * 2, 0)))[0],
        "total": lax.fori_loop(0, s % 6, swap, (k, k * 2, 0))[2],
        "nested": lax.fori_loop(0, 6, bubble, k),
        "scan_carry": last,
        "scan_rows": left,
        "scan_scalars": bests,
        "scan_reverse": lax.scan(lambda c, r: (c * 2 + r[0], c), 0, x, reverse=True)[1],
        "scan_nothing": lax.scan(lambda c, _: (c + k, None), k, None, length=3)[0],
        "scan_empty": lax.scan(lambda c, r: (c + r.sum(), r), 0, x[:0])[1],
        "map": lax.map(lambda r: jnp.sort(r)[::-1], x),
        "associative": lax.associative_scan(jnp.add, k),
        "cond": lax.cond(s > 0, lambda: k + 1, lambda: k * 2),
        "cond_scalar": lax.cond(s > 0, lambda: s + 1, lambda: s * 2),
        "cond_pass": lax.cond(s % 2 == 0, lambda a, b: a, lambda a, b: b, k, k[::-1]),
        "switch": lax.switch(s % 5, [lambda v: v, lambda v: v + 1, lambda v: v.at[0].set(9), jnp.zeros_like], k),
        "switch_clamped": lax.switch(s, [lambda: 1, lambda: 2, lambda: 3]),
        "cond_nested": lax.cond(
            s > 0, lambda: lax.cond(s > 5, lambda: k, lambda: -k), lambda: lax.fori_loop(0, 3, fill, k)
        ),
        "cond_in_loop": lax.fori_loop(0, 6, lambda i, v: lax.cond(v[i] > s, lambda: v.at[i].set(0), lambda: v + 1), k),
        "vmapped_while": jax.vmap(
            lambda n: lax.while_loop(lambda c: c[0] > 0, lambda c: (c[0] // 2, c[1] + c[0]), (jnp.abs(n) % 64, 0))[1]
        )(k),
        "vmapped_while_counts": jax.vmap(  # each round would still change what has left the loop
            lambda n: lax.while_loop(lambda c: c[0] > 0, lambda c: (c[0] // 2, c[1] + 1), (jnp.abs(n) % 64, n))[1]
        )(k),
        "vmapped_cond": jax.vmap(lambda n: lax.cond(n > s, lambda: n, lambda: -n))(k),
        "old_kept": lax.fori_loop(0, 3, fill, k) + k,
        "carry_and_ys": lax.scan(lambda c, r: (c + r, c * r), k[:5], x)[1].sum(0),
        "unchanged": lax.fori_loop(0, 3, lambda i, c: (c[0], c[1] + c[0][i]), (k, 0))[1],
        "searchsorted": jnp.searchsorted(jnp.sort(k), s),
        "jit": jax.jit(lambda v: jax.jit(jnp.sort)(v) + 1)(k),
        "remat": jax.checkpoint(lambda v: v * 2)(k),
        "checkpointed": jax.nn.relu(k),
        "unique": jnp.unique(k, size=4, fill_value=0),
    }


@settings(max_examples=40, deadline=None)
@given(
    hnp.arrays(np.int32, (4, 5), elements=st.integers(-99, 99)),
    hnp.arrays(np.int32, 6, elements=st.integers(-99, 99)),
    st.integers(-20, 20),
)
def test_control_flow(x: np.ndarray, k: np.ndarray, s: int) -> None:
    agree("control", control, x, k, np.int32(s))


def random_program(seed: int) -> Callable[..., dict[str, Any]]:
    """A composition of some forty operations on small integer arrays, so that fusion meets every neighbour."""

    def program(a: Any, b: Any, s: Any) -> dict[str, Any]:
        rng = np.random.default_rng(seed)
        pool = [a, b, a.reshape(4, 3), b[::-1], jnp.arange(12, dtype=jnp.int32).reshape(3, 4)]

        def pick(shape: tuple[int, ...] | None = None) -> Any:
            fitting = [v for v in pool if shape is None or v.shape == shape]
            return fitting[rng.integers(len(fitting))]

        unary: list[Callable[[Any], Any]] = [
            lambda v: v.T,
            lambda v: v[::-1],
            lambda v: v + s,
            lambda v: v * 3,
            lambda v: jnp.roll(v, 1, 1),
            lambda v: jnp.where(v > s, v, -v),
            lambda v: jnp.pad(v, ((0, 1), (1, 0)))[: v.shape[0], : v.shape[1]],
            lambda v: v.reshape(v.shape[::-1]),
            lambda v: v - v.max(0, keepdims=True),
            lambda v: v + v.sum(1, keepdims=True),
            lambda v: v.at[s % v.shape[0]].add(1),
            lambda v: v.at[0, s % v.shape[1]].set(s),
            lambda v: v[jnp.argsort(v[:, 0])],
            lambda v: jnp.cumsum(v, 0),
            lambda v: jnp.concatenate([v[1:], v[:1]]),
            lambda v: jnp.stack([v[i] for i in range(v.shape[0])]),
            lambda v: lax.cond(s > 0, lambda: v + 1, lambda: v),
            lambda v: lax.fori_loop(0, 2, lambda i, w: w.at[i].add(w[i + 1]), v),
            lambda v: jnp.take(v, jnp.abs(v[:, 0]) % v.shape[0], axis=0),
            lambda v: lax.dynamic_update_slice(v, v[:1] * 2, (s, 0)),
            lambda v: jnp.broadcast_to(v[:, :1], v.shape) ^ v,
            lambda v: v // 3 + v % 5,
            lambda v: jnp.where((v > 0).any(1, keepdims=True), v, s),
            lambda v: lax.scan(lambda c, r: (c + r, c), v[0], v)[1],
            lambda v: jnp.clip(v, -9, 9) @ jnp.eye(v.shape[1], dtype=jnp.int32),
        ]
        for _ in range(40):
            if rng.random() < 0.6:
                pool.append(unary[rng.integers(len(unary))](pick()))
            else:
                x = pick()
                y = pick(x.shape)
                pool.append(
                    [
                        x + y,
                        x - y,
                        jnp.maximum(x, y),
                        x & y,
                        jnp.where(x > y, x, y),
                        jnp.concatenate([x, y])[1::2][: x.shape[0]] + x[:1],
                    ][rng.integers(6)]
                )
        return {f"r{i}": v for i, v in enumerate(pool[-8:])}

    return program


@pytest.mark.parametrize("seed", range(6))
def test_random_programs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    program = random_program(seed)
    for _ in range(30):
        a, b = rng.integers(-50, 50, (2, 3, 4)).astype(np.int32)
        agree(f"program_{seed}", program, a, b, np.int32(rng.integers(-5, 6)))


class Net(nn.Module):
    """Dense layers with what small value nets use."""

    @nn.compact
    def __call__(self, x: Any) -> Any:
        x = nn.relu(nn.Dense(24)(x))
        x = nn.LayerNorm()(x)
        x = x + nn.tanh(nn.Dense(24)(x))
        x = nn.gelu(nn.Dense(17)(x))
        return {
            "value": nn.tanh(nn.Dense(2)(x)),
            "policy": nn.softmax(nn.Dense(9)(x)),
            "odd": nn.sigmoid(nn.Dense(1)(x)),
        }


class Conv(nn.Module):
    @nn.compact
    def __call__(self, x: Any) -> Any:
        x = nn.relu(nn.Conv(6, (3, 3))(x.reshape(1, 3, 4, 2)))
        x = nn.max_pool(x, (2, 2), (1, 1))
        return {"value": nn.Dense(2)(x.reshape(-1))}


@pytest.mark.parametrize("net", [Net(), Conv()], ids=["mlp", "conv"])
def test_a_lowered_net_equals_the_flax_one(net: nn.Module) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=24).astype(np.float32)
    compiled = None
    for seed in range(3):  # new weights, the same code
        params = jax.jit(net.init)(jax.random.key(seed), x)
        params = jax.tree.map(lambda p: p + 0.1 * rng.normal(size=p.shape).astype(np.float32), params)
        compiled = compiled or lower(net.apply, params, x, name=type(net).__name__.lower())
        for _ in range(5):
            x = rng.normal(size=24).astype(np.float32)
            got, want = compiled(params, x), net.apply(params, x)
            jax.tree.map(functools.partial(np.testing.assert_allclose, rtol=2e-5, atol=2e-6), got, want)
    assert compiled is not None
    assert len(compiled.function.signatures) == 1


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(("name", "num_steps"), [("connect_four", 42), ("othello", 66)])
def test_games_of_pgx_agree_over_1000_random_games(name: str, num_steps: int) -> None:
    """Rules that were not written with this in mind, taken as they are."""
    import pgx

    env: Any = pgx.make(name)  # type: ignore[arg-type]
    num_games = 1000
    first = jax.vmap(env.init)(jax.random.split(jax.random.key(0), num_games))
    example = jax.tree.map(lambda leaf: jnp.asarray(leaf)[0] if jnp.ndim(leaf) else jnp.asarray(leaf), first)

    def play(state: Any, key: Any) -> Any:
        uniform = jax.random.uniform(key, (num_games,))
        move = jax.vmap(lambda mask, u: sampling.sample(mask.astype(jnp.float32), u))(state.legal_action_mask, uniform)
        after = jax.vmap(env.step)(state, move)
        return after, (state, move, after)

    keys = jax.random.split(jax.random.key(1), num_steps)
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        last, (states, moves, afters) = jax.jit(lambda s: lax.scan(play, s, keys))(first)
        functions = {"step": Function(env.step, [Argument("row", example), Argument("move", jnp.int32(0))])}
        module, layouts = lower_module(f"pgx_{name}", functions)
    assert bool(last.terminated.all())
    layout, _, result = layouts["step"]
    assert layout.leaves == result.leaves
    rows = layout.pack(states).reshape(-1, layout.num_words)
    want = layout.pack(afters).reshape(-1, layout.num_words)
    got, work = layout.rows(len(rows)), np.zeros(module.WORK_WORDS, np.uint64)
    for row, move, out in zip(rows, np.asarray(moves).reshape(-1), got, strict=True):
        module.step(row, move, out, work)
    np.testing.assert_array_equal(got, want)
    assert len(np.unique(rows, axis=0)) > 15_000
