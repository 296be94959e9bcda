"""Rearrangements, reductions, indexing, sorting and products against JAX."""

from __future__ import annotations

import pathlib
import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from jax import lax
from jax.lax import GatherScatterMode
from lowering_agreement import agree

from boardrl.lowering import lower

small = st.integers(-128, 127)
SETTINGS = settings(max_examples=40, deadline=None)


def rearranged(b: Any, x: Any, s: Any) -> dict[str, Any]:
    """b int8[3,4], x float32[2,3,4], s int32[]."""
    flat = b.reshape(12)
    sides = jnp.pad(b[:, 1:], ((0, 0), (0, 1))), jnp.concatenate([b[:, 2:], b[:, :2] + 1], 1)
    return {
        "sides_reshaped": jnp.where(s > 0, *sides).reshape(2, 6),
        "reshape": x.reshape(4, 6),
        "reshape_split": (b + 1).reshape(2, 2, 3),
        "of_transposed": b.T.reshape(2, 6),
        "reshape_order": lax.reshape(b, (6, 2), dimensions=(1, 0)),
        "transpose": x.transpose(2, 0, 1),
        "squeeze": lax.squeeze(b[None, :, :1], (0,)),
        "expand": b[:, None] + b[:, None],
        "broadcast": jnp.broadcast_to(b[:, None, :], (3, 5, 4)),
        "broadcast_in_dim": lax.broadcast_in_dim(b, (4, 3, 2, 4), (1, 3)),
        "ones": x * x[:1, :, :1],
        "rows": x - x.max(2, keepdims=True),
        "splat": jnp.full((3, 2), s),
        "slice": x[:, 1:3, ::2],
        "strided": flat[1:11:3],
        "reverse": x[::-1, :, ::-1],
        "reversed_slice": flat[10:2:-2],
        "pad": jnp.pad(b, ((1, 2), (0, 3)), constant_values=9),
        "pad_value": lax.pad(b, b[0, 0], ((2, 0, 0), (0, 1, 0))),
        "pad_interior": lax.pad(b, jnp.int8(3), ((1, -1, 2), (-1, 2, 1))),
        "pad_all": lax.pad(b, jnp.int8(1), ((-3, 1, 0), (0, 0, 0))),
        "pad_reduced": jnp.pad(b, 1).sum(0),
        "pad_chain": jnp.pad(jnp.pad(b, 1) + 1, ((0, 1), (1, 0))) * 2,
        "concatenate": jnp.concatenate([b, b[:1] + 1, b], 0),
        "concatenate_axis": jnp.concatenate([b, b[:, :2]], 1) + 1,
        "concatenate_many": jnp.concatenate([b[k % 3] + k for k in range(11)]),
        "concatenate_sum": jnp.concatenate([flat, flat * 2]).sum(),
        "concatenate_empty": jnp.concatenate([b[:0], b]),
        "of_concatenated": jnp.concatenate([flat, flat + 1])[5:20:2],
        "concatenate_reversed": jnp.concatenate([b, b + 1], 1)[:, ::-1],
        "concatenated_reshape": jnp.concatenate([flat, flat]).reshape(4, 6),
        "stack": jnp.stack([b, b * 2, b * 3], 1),
        "stack_scalars": jnp.stack([s, s + 1, b[0, 0].astype(jnp.int32)]),
        "stack_many": jnp.stack([flat[k] + k for k in range(12)]),
        "tile": jnp.tile(b, (2, 3)),
        "repeat": jnp.repeat(b, 2, axis=1),
        "roll": jnp.roll(b, 1, 0),
        "roll_by": jnp.roll(flat, s),
        "roll_rows": jnp.roll(b, s, 1),
        "split": jnp.split(flat, [3, 7])[1],
        "iota": lax.broadcasted_iota(jnp.int32, (3, 4), 1) * s,
        "arange": jnp.arange(3, 30, 4) + s,
        "iota_reshape": jnp.arange(12).reshape(3, 4).T + s,
        "eye": jnp.eye(4, dtype=jnp.int32) * s,
        "tri": jnp.tril(b),
        "diagonal": jnp.diagonal(b),
        "same": b,
        "scalar": s,
        "constant": jnp.array([3, 1, 2]),
        "linspace": jnp.linspace(0.0, 1.0, 5),
        "float_table": x[0, 0] + jnp.array([0.1, -2.0, 3.5, jnp.nan]),
        "bool_table": jnp.where(jnp.array([True, False, True, True]), b, -b),
        "negative_zero": x[0, 0] * jnp.array([-0.0, 0.0, -0.0, 1.0]),
    }


@SETTINGS
@given(
    hnp.arrays(np.int8, (3, 4)),
    hnp.arrays(np.float32, (2, 3, 4), elements=st.floats(-100, 100, width=32)),
    st.integers(-30, 30),
)
def test_rearrangements(b: np.ndarray, x: np.ndarray, s: int) -> None:
    agree("rearranged", rearranged, b, x, np.int32(s), rtol=1e-6, atol=1e-6)


def reduced(b: Any, u: Any, x: Any) -> dict[str, Any]:
    """b int8[3,4,5], u uint64[10], x float32[4,6]."""
    wide = b.astype(jnp.int32)
    return {
        "sum": wide.sum(),
        "sum_axis": wide.sum(1),
        "sum_axes": wide.sum((0, 2)),
        "sum_wraps": lax.reduce_sum_p.bind(b, axes=(0,), out_sharding=None),
        "prod": lax.reduce_prod_p.bind(b, axes=(2,), out_sharding=None),
        "max": b.max(),
        "min": b.min(0),
        "max_axes": b.max((1, 2)),
        "or": lax.reduce_or(b, (0,)),
        "and": lax.reduce_and(b, (1,)),
        "xor": lax.reduce_xor(b, (0, 1, 2)),
        "unsigned_max": u.max(),
        "unsigned_sum": u.sum(),
        "unsigned_prod": u.prod(),
        "unsigned_min": u.min(),
        "float_max": x.max(0),
        "float_min": x.min(1),
        "float_of_all": x.max(),
        "any": (b > 100).any(),
        "all": (b < 120).all((0, 1)),
        "count": (b[0] > 3).sum(),
        "any_of_all": (b > -100).all(2).any(0),
        "none": b[:0].sum(),
        "empty_max": lax.reduce_max(b[:, :0], (1,)),
        "argmax": jnp.argmax(x, 1),
        "argmin": jnp.argmin(x, 0),
        "argmax_int": jnp.argmax(b, 2),
        "argmax_flat": jnp.argmax(b),
        "argmax_one": jnp.argmax(b[:, :1], 1),
        "argmin_unsigned": jnp.argmin(u),
        "cumsum": jnp.cumsum(wide, 1),
        "cumsum_wraps": lax.cumsum(b, axis=2),
        "cumprod": lax.cumprod(b, axis=0),
        "cummax": lax.cummax(x, axis=1),
        "cummin": lax.cummin(b, axis=2, reverse=True),
        "cumsum_reverse": lax.cumsum(wide, axis=0, reverse=True),
        "cumsum_u": jnp.cumsum(u),
        "sort": jnp.sort(x, 1),
        "sort_down": -jnp.sort(-x, 0),
        "sort_int": jnp.sort(b.reshape(-1)),
        "argsort": jnp.argsort(b.reshape(-1), stable=True),
        "sort_keys": lax.sort((wide[0, 0] % 2, b[0, 0], b[1, 1]), num_keys=2)[2],
        "sort_rows": lax.sort(b, dimension=1),
        "sort_u": jnp.sort(u),
        "sort_bool": jnp.sort(b.reshape(-1) > 0),
        "argsort_float": jnp.argsort(x, 1),
        "median": jnp.median(x[0]),
        "top_k": lax.top_k(b.reshape(-1), 7)[0],
        "top_k_places": lax.top_k(b.reshape(-1), 7)[1],
        "top_k_all": lax.top_k(b[0], 5)[1],
        "top_k_float": lax.top_k(x, 2)[0],
        "top_k_float_places": lax.top_k(x, 2)[1],
        "top_1": lax.top_k(u, 1)[0],
        "sort_long": jnp.argsort(jnp.concatenate([b.reshape(-1) % 7, b.reshape(-1)]), stable=True),
        "window_sum": lax.reduce_window(wide, np.int32(0), lax.add, (1, 2, 3), (1, 1, 2), "SAME"),
        "window_max": lax.reduce_window(b, np.int8(-128), lax.max, (2, 2, 1), (1, 2, 1), "VALID"),
    }


wild = st.one_of(
    st.sampled_from([0.0, -0.0, float("nan"), float("inf"), float("-inf"), 1.0]),
    st.floats(-3, 3, width=32, allow_subnormal=False),
)


@SETTINGS
@given(hnp.arrays(np.int8, (3, 4, 5)), hnp.arrays(np.uint64, 10), hnp.arrays(np.float32, (4, 6), elements=wild))
@example(np.full((3, 4, 5), -128, np.int8), np.full(10, 2**64 - 1, np.uint64), np.full((4, 6), np.nan, np.float32))
@example(np.zeros((3, 4, 5), np.int8), np.arange(10, dtype=np.uint64) << np.uint64(60), np.zeros((4, 6), np.float32))
def test_reductions_and_orders(b: np.ndarray, u: np.ndarray, x: np.ndarray) -> None:
    agree("reduced", reduced, b, u, x, rtol=1e-6, x64=True)


MODES = [GatherScatterMode.CLIP, GatherScatterMode.FILL_OR_DROP, GatherScatterMode.PROMISE_IN_BOUNDS]


def indexed(b: Any, k: Any, s: Any) -> dict[str, Any]:
    """b int8[4,5], k int32[3] any number, s int32[] any number."""
    out: dict[str, Any] = {}
    inside, columns, x = k % 4, k % 5, b.astype(jnp.float32)
    for name, m in (("clip", "clip"), ("fill", "fill"), ("wrap", "wrap")):
        out |= {
            f"take_{name}": jnp.take(b, k, axis=0, mode=m),
            f"take_float_{name}": jnp.take(x, k, axis=1, mode=m),
            f"take_flat_{name}": jnp.take(b, k, mode=m),
        }
    for m in ("clip", "drop"):
        out |= {
            f"set_{m}": b.at[k].set(jnp.int8(7), mode=m),
            f"set_element_{m}": b.at[k, columns].set(jnp.arange(3, dtype=jnp.int8), mode=m),
            f"add_{m}": b.at[k].add(b[:3], mode=m),
            f"add_column_{m}": b.at[:, k].add(jnp.int8(3), mode=m),
            f"mul_{m}": b.at[k, s].multiply(jnp.int8(2), mode=m),
            f"min_{m}": b.at[k].min(b[1], mode=m),
            f"max_{m}": x.at[k].max(x[1], mode=m),
            f"set_one_{m}": b.at[s].set(b[0], mode=m),
        }
    numbers = lax.GatherDimensionNumbers((0, 2), (), (1, 0))
    window = jnp.stack([k, k[::-1]], 1)
    for m in MODES[:2]:
        out[f"window_{m.name}"] = lax.gather(b, window, numbers, (2, 3), mode=m)
        out[f"window_filled_{m.name}"] = lax.gather(b, window, numbers, (2, 3), mode=m, fill_value=5)
        places = lax.ScatterDimensionNumbers((0, 2), (), (1, 0))
        update = jnp.arange(18, dtype=jnp.int8).reshape(2, 3, 3)
        out[f"scatter_window_{m.name}"] = lax.scatter(b, window, update, places, mode=m)
        out[f"scatter_add_window_{m.name}"] = lax.scatter_add(b, window, update, places, mode=m)
        out[f"scatter_sub_{m.name}"] = lax.scatter_sub(b, window, update, places, mode=m)
    out |= {
        "element": b[s, 1],
        "row": b[s],
        "rows": b[inside],
        "elements": b[inside, columns],
        "grid": b[inside[:, None], columns[None]],
        "wrapped": b[-2],
        "along": jnp.take_along_axis(b, jnp.broadcast_to(columns[None], (4, 3)), 1),
        "masked": jnp.where(jnp.arange(5) == s % 5, b, 0),
        "constant": b[jnp.array([3, 0, 3]), jnp.array([1, 1, 4])],
        "promised": b.at[inside].get(mode="promise_in_bounds"),
        "promised_set": b.at[inside, 2].set(jnp.int8(9), mode="promise_in_bounds"),
        "batched": jax.vmap(lambda r, i: r[i])(b[:3], columns),
        "batched_set": jax.vmap(lambda r, i: r.at[i].set(jnp.int8(1)))(b[:3], k),
        "batched_add": jax.vmap(lambda r, i: r.at[i % 5].add(r[i]))(b[:3], k),
        "batched_drop": jax.vmap(lambda r, i: r.at[i].get(mode="fill", fill_value=3))(b[:3], k),
        "batched_slices": jax.vmap(lambda i: lax.dynamic_slice(b, (i, 1), (2, 2)))(k),
        "batched_updates": jax.vmap(lambda i: lax.dynamic_update_slice(b, b[:1, :2], (i, i)))(k),
        "dynamic_slice": lax.dynamic_slice(b, (s, k[0]), (2, 3)),
        "dynamic_update": lax.dynamic_update_slice(b, b[:2, :2] + 1, (k[1], s)),
        "dynamic_index": lax.dynamic_index_in_dim(b, s % 4, 0, keepdims=False),
        "twice": b.at[inside].add(jnp.int8(1)).at[0].set(jnp.int8(5)),
        "repeated": jnp.zeros(6, jnp.int32).at[k % 6].add(1),
        "swap": b.at[jnp.stack([s % 4, 0])].set(b[jnp.stack([0, s % 4])]),
        "old_and_new": b.at[s].set(jnp.int8(0)) + b,
        "nested": b[inside][:, columns],
        "unsigned": b[k.astype(jnp.uint32) % 4],
        "one_hot": jnp.where((jnp.arange(4) == s)[:, None], b, 0).sum(0),
        "bool": (b > 0)[s],
        "bool_fill": jnp.take(b > 0, k, axis=0, mode="fill"),
        "bool_set": (b > 0).at[k].set(True),
        "empty": b[k[:0]],
        "empty_set": b.at[k[:0]].set(jnp.int8(1)),
        "unsigned_fill": jnp.take(b.astype(jnp.uint8), k, mode="fill"),
    }
    return out


anywhere = st.one_of(st.integers(-8, 8), st.sampled_from([2**31 - 1, -(2**31), 100, -100]))


@SETTINGS
@given(hnp.arrays(np.int8, (4, 5)), hnp.arrays(np.int32, 3, elements=anywhere), anywhere)
@example(np.arange(20, dtype=np.int8).reshape(4, 5), np.array([4, -5, 3], np.int32), 4)
def test_indexing_in_every_mode(b: np.ndarray, k: np.ndarray, s: int) -> None:
    agree("indexed", indexed, b, k, np.int32(s))


def huge(x: Any, k: Any) -> dict[str, Any]:
    return {
        "clip": jnp.take(x, k, mode="clip"),
        "fill": jnp.take(x, k, mode="fill"),
        "set": x.at[k].set(0, mode="drop"),
    }


@pytest.mark.parametrize("dtype", ["uint64", "int64", "uint8"])
def test_indices_of_other_types(dtype: str) -> None:
    info = np.iinfo(dtype)
    k = np.array([0, 3, info.max, info.max - 1, info.min, 4], dtype)
    agree(f"huge_{dtype}", huge, np.arange(5, dtype=np.int32), k, x64=True)


def products(a: Any, b: Any, x: Any, w: Any) -> dict[str, Any]:
    """a int8[3,4], b int8[4,5], x float32[6,7], w float32[2,7,9]."""
    wide_a, wide_b = a.astype(jnp.int32), b.astype(jnp.int32)
    return {
        "matrix": wide_a @ wide_b,
        "wraps": lax.dot(a, b),
        "widened": lax.dot(a, b, preferred_element_type=jnp.int32),
        "vector": wide_a @ wide_b[:, 0],
        "row": wide_a[0] @ wide_b,
        "inner": wide_a[0] @ wide_b[:, 1],
        "outer": jnp.outer(wide_a[0], wide_b[0]),
        "transposed": jnp.einsum("ij,kj->ki", wide_a, wide_a),
        "two_axes": jnp.tensordot(wide_a, wide_a, 2),
        "batched": jnp.einsum("bij,ki->bkj", w, x @ x.T @ x),
        "batch_both": jnp.einsum("bij,bkj->bik", w, w),
        "float": x @ w[0],
        "affine": jnp.maximum(x @ w[1] + w[0, :1], 0) @ w[0].T,
        "bool_sum": (a > 0).astype(jnp.int32) @ wide_b,
        "deep": jnp.einsum("bij,bij->", w, w),
        "empty": wide_a[:, :0] @ wide_b[:0],
    }


moderate = st.floats(-2, 2, width=32, allow_subnormal=False)


@settings(max_examples=20, deadline=None)
@given(
    hnp.arrays(np.int8, (3, 4)),
    hnp.arrays(np.int8, (4, 5)),
    hnp.arrays(np.float32, (6, 7), elements=moderate),
    hnp.arrays(np.float32, (2, 7, 9), elements=moderate),
)
def test_products(a: np.ndarray, b: np.ndarray, x: np.ndarray, w: np.ndarray) -> None:
    agree("products", products, a, b, x, w, rtol=1e-4, atol=1e-3)


def convolutions(x: Any, k: Any) -> dict[str, Any]:
    """x float32[1,5,6,4], k float32[3,3,4,6]."""
    nhwc = ("NHWC", "HWIO", "NHWC")
    swapped = x.transpose(0, 3, 1, 2), k.transpose(3, 2, 0, 1)
    return {
        "same": lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=nhwc),
        "strides": lax.conv_general_dilated(x, k, (2, 1), "VALID", dimension_numbers=nhwc),
        "dilated": lax.conv_general_dilated(
            x, k, (1, 1), ((2, 1), (0, 3)), rhs_dilation=(2, 1), dimension_numbers=nhwc
        ),
        "upsampled": lax.conv_general_dilated(
            x, k, (1, 1), ((1, 1), (2, 0)), lhs_dilation=(2, 3), dimension_numbers=nhwc
        ),
        "nchw": lax.conv_general_dilated(*swapped, (1, 1), "SAME", dimension_numbers=("NCHW", "OIHW", "NCHW")),
        "groups": lax.conv_general_dilated(
            x, k[:, :, :2], (1, 1), "SAME", dimension_numbers=nhwc, feature_group_count=2
        ),
        "pool": lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "SAME"),
    }


def test_convolutions() -> None:
    rng = np.random.default_rng(0)
    for _ in range(3):
        x, k = rng.normal(size=(1, 5, 6, 4)).astype(np.float32), rng.normal(size=(3, 3, 4, 6)).astype(np.float32)
        agree("convolutions", convolutions, x, k, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("low", "high", "kept"), [(-1, 126, "int8"), (0, 200, "uint8"), (-300, 200, "int16")])
def test_large_tables_are_kept_in_narrow_types(low: int, high: int, kept: str) -> None:
    table = np.random.default_rng(5).integers(low, high, (40, 1000), endpoint=True).astype(np.int32)
    table[0, :2] = low, high

    def look_up(row: jax.Array, column: jax.Array) -> jax.Array:
        return jnp.asarray(table)[row, column] * 1000  # past the narrow type

    lowered = lower(look_up, np.int32(0), np.int32(0))
    source = pathlib.Path(sys.modules[lowered.function.py_func.__module__].__file__ or "").read_text()
    assert f'"), np.{kept})' in source
    for row, column in ((0, 0), (0, 1), (7, 999), (39, 3)):
        assert lowered(np.int32(row), np.int32(column)) == table[row, column] * 1000
