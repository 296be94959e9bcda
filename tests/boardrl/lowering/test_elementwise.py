"""Elementwise primitives against JAX, on drawn numbers and on the edges of every type."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from jax import lax
from lowering_agreement import agree

N = 12
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float32", "float64"]


def integer_operations(a: Any, b: Any, c: Any) -> dict[str, Any]:
    one = jnp.ones((), a.dtype)
    out = {
        "add": lax.add(a, b),
        "sub": lax.sub(a, b),
        "mul": lax.mul(a, b),
        "div": lax.div(a, b),
        "rem": lax.rem(a, b),
        "max": lax.max(a, b),
        "min": lax.min(a, b),
        "clamp": lax.clamp(lax.min(a, b), c, lax.max(a, b)),
        "clamp_scalar": lax.clamp(a[0], c, b[0]),
        "and": a & b,
        "or": a | b,
        "xor": a ^ b,
        "not": ~a,
        "sign": lax.sign(a),
        "shift_left": lax.shift_left(a, b),
        "shift_right_logical": lax.shift_right_logical(a, b),
        "shift_right_arithmetic": lax.shift_right_arithmetic(a, b),
        "popcount": lax.population_count(a),
        "clz": lax.clz(a),
        "square": lax.square(a),
        "power_0": lax.integer_pow(a, 0),
        "power_5": lax.integer_pow(a, 5),
        "eq": a == b,
        "ne": a != b,
        "lt": a < b,
        "le": a <= b,
        "gt": a > b,
        "ge": a >= b,
        "select": jnp.where(a > b, c, lax.add(a, one)),
        "with_one": lax.add(a, one),
        "floor_div": a // 3,
        "mod": a % 3,
        "by_2": lax.div(a, one + one),
        "rem_2": lax.rem(a, one + one),
        "chained": lax.sub(lax.mul(lax.add(a, b), c), a),
        "compared": lax.add(a, b) > c,
    }
    if jnp.issubdtype(a.dtype, jnp.signedinteger):
        out |= {"neg": -a, "abs": jnp.abs(a)}
    for other in [*INTEGERS, "float32", "float64", "bool"]:
        out[f"to_{other}"] = lax.convert_element_type(a, other)
    return out


def edges(dtype: str) -> list[Any]:
    info = np.iinfo(dtype)
    negative = {-1, -2} if info.min < 0 else set()
    return sorted({info.min, info.min + 1, 0, 1, 2, 3, info.bits - 1, info.bits, info.max - 1, info.max} | negative)


def integers(dtype: str) -> st.SearchStrategy[np.ndarray]:
    return hnp.arrays(dtype, N, elements=st.one_of(st.sampled_from(edges(dtype)), hnp.from_dtype(np.dtype(dtype))))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers(dtype: str) -> None:
    """Wrap-around, division towards 0 and by 0, shifts beyond the width, conversions, in all types."""

    @settings(max_examples=40, deadline=None)
    @given(integers(dtype), integers(dtype), integers(dtype))
    @example(*(np.resize(np.array(edges(dtype), dtype)[k:], N) for k in (0, 3, 1)))
    def run(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
        agree(f"integers_{dtype}", integer_operations, a, b, c, x64=True)

    run()
    values = np.array(edges(dtype), dtype)
    for k in range(len(values)):  # every edge with every other
        a, b = np.resize(values, N), np.resize(np.roll(values, k), N)
        agree(f"integers_{dtype}", integer_operations, a, b, a, x64=True)


def exact_float_operations(a: Any, b: Any, c: Any) -> dict[str, Any]:
    one = jnp.ones((), a.dtype)
    out = {
        "add": a + b,
        "sub": a - b,
        "mul": a * b,
        "div": a / b,
        "rem": lax.rem(a, b),
        "neg": -a,
        "abs": jnp.abs(a),
        "max": jnp.maximum(a, b),
        "min": jnp.minimum(a, b),
        "clamp": lax.clamp(lax.min(a, b), c, lax.max(a, b)),
        "clip": jnp.clip(c, -one, one),
        "sign": jnp.sign(a),
        "floor": jnp.floor(a),
        "ceil": jnp.ceil(a),
        "round": lax.round(a),
        "round_even": lax.round(a, lax.RoundingMethod.TO_NEAREST_EVEN),
        "sqrt": jnp.sqrt(a),
        "square": lax.square(a),
        "is_finite": jnp.isfinite(a),
        "isnan": jnp.isnan(a),
        "eq": a == b,
        "ne": a != b,
        "lt": a < b,
        "le": a <= b,
        "gt": a > b,
        "ge": a >= b,
        "select": jnp.where(a > b, c, a),
        "power_3": lax.integer_pow(a, 3),
        "half": a * 0.5,
        "third": a / 3,
        "bits": lax.bitcast_convert_type(a, jnp.int32 if a.dtype == jnp.float32 else jnp.int64),
        "and_back": lax.bitcast_convert_type(
            lax.bitcast_convert_type(a, jnp.uint32 if a.dtype == jnp.float32 else jnp.uint64), a.dtype
        ),
        "literal": a > 0.1,
        "infinite": jnp.where(a > b, -jnp.inf, a),
        "nan": jnp.where(a > b, jnp.nan, a),
    }
    for other in [*INTEGERS, "float32", "float64", "bool"]:
        out[f"to_{other}"] = lax.convert_element_type(a, other)
    return out


WILD = [float("inf"), float("-inf"), float("nan")]
FLOAT_EDGES = [0.0, -0.0, 0.5, -0.5, 1.0, -1.5, 2.5, 3.5, 127.5, -128.5, 255.9, 3e9, -3e9, 2.0**63, 1e19, 1e38, *WILD]


def floats(dtype: str, low: float | None = None, high: float | None = None) -> st.SearchStrategy[np.ndarray]:
    width = np.dtype(dtype).itemsize * 8
    drawn = st.floats(low, high, width=width, allow_subnormal=False)
    fitting = [x for x in FLOAT_EDGES if low is None or low <= x <= high]  # type: ignore[operator]
    fitting = [float(np.array(x, dtype)) for x in fitting]
    return hnp.arrays(dtype, N, elements=st.one_of(st.sampled_from(fitting), drawn))


@pytest.mark.parametrize("dtype", FLOATS)
def test_floats(dtype: str) -> None:
    """NaN, infinities, signed zeros, saturating conversions: the same bits as JAX."""

    @settings(max_examples=60, deadline=None)
    @given(floats(dtype), floats(dtype), floats(dtype))
    @example(*(np.resize(np.array(FLOAT_EDGES[k:], dtype), N) for k in (0, 5, 9)))
    @example(*(np.resize(np.array(FLOAT_EDGES[k:], dtype), N) for k in (7, 7, 1)))
    def run(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
        agree(f"floats_{dtype}", exact_float_operations, a, b, c, x64=True)

    run()


def functions(a: Any, p: Any, u: Any) -> dict[str, Any]:
    """a any moderate number, p positive, u in [-1, 1]."""
    return {
        "exp": jnp.exp(a),
        "exp2": jnp.exp2(a),
        "expm1": jnp.expm1(a),
        "log": jnp.log(p),
        "log1p": jnp.log1p(p),
        "tanh": jnp.tanh(a),
        "logistic": jax.nn.sigmoid(a),
        "rsqrt": lax.rsqrt(p),
        "pow": jnp.power(p, u),
        "pow_int": lax.pow(p, jnp.full(p.shape, 3, jnp.int32)),
        "power_minus_2": lax.integer_pow(p, -2),
        "sin": jnp.sin(a),
        "cos": jnp.cos(a),
        "tan": jnp.tan(u),
        "asin": jnp.arcsin(u),
        "acos": jnp.arccos(u),
        "atan": jnp.arctan(a),
        "atan2": jnp.arctan2(a, p),
        "sinh": jnp.sinh(a),
        "cosh": jnp.cosh(a),
        "asinh": jnp.arcsinh(a),
        "acosh": jnp.arccosh(1 + p),
        "atanh": jnp.arctanh(0.9 * u),
        "erf": lax.erf(u),
        "erfc": lax.erfc(u),
        "lgamma": lax.lgamma(p + 1),
        "cbrt": jnp.cbrt(p),
        "gelu": jax.nn.gelu(a),
        "softplus": jax.nn.softplus(a),
        "logaddexp": jnp.logaddexp(a, u),
        "relu": jax.nn.relu(a),
        "elu": jax.nn.elu(a),
        "log_softmax": jax.nn.log_softmax(a),
        "softmax": jax.nn.softmax(a),
        "silu": jax.nn.silu(a),
        "one_hot": jax.nn.one_hot(jnp.int32(2), 5, dtype=jnp.float32),
        "hypot": jnp.hypot(a, p),
    }


@settings(max_examples=60, deadline=None)
@given(floats("float32", -20, 20), floats("float32", 2**-10, 2**10), floats("float32", -1, 1))
@example(*(np.resize(np.array(x, "float32"), N) for x in ([0.0, -0.0, 20, -20], [2**-10, 1, 2**10], [0, 1, -1, -0.0])))
def test_functions_within_float32_rounding(a: np.ndarray, p: np.ndarray, u: np.ndarray) -> None:
    agree("functions", functions, a, p, u, rtol=2e-5, atol=2e-6)


def edge_functions(a: Any) -> dict[str, Any]:
    return {
        "lt_to": lax.lt_to_p.bind(a, a[::-1]),
        "le_to": lax.le_to_p.bind(a, a[::-1]),
        "eq_to": lax.eq_to_p.bind(a, a[::-1]),
        "exp": jnp.exp(a),
        "log": jnp.log(a),
        "log1p": jnp.log1p(a),
        "tanh": jnp.tanh(a),
        "sqrt": jnp.sqrt(a),
        "logistic": jax.nn.sigmoid(a),
        "rsqrt": lax.rsqrt(a),
        "expm1": jnp.expm1(a),
        "erf": lax.erf(a),
        "reciprocal": 1 / a,
        "pow_2": jnp.power(2.0, a),
        "logaddexp": jnp.logaddexp(a, a[::-1]),
        "softmax": jax.nn.softmax(a[:3]),
    }


def test_functions_at_their_edges() -> None:
    a = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -1.0, 200.0, -200.0], np.float32)
    agree("edge_functions", edge_functions, a, rtol=1e-5)


def booleans(a: Any, b: Any, k: Any) -> dict[str, Any]:
    return {
        "and": a & b,
        "or": a | b,
        "xor": a ^ b,
        "not": ~a,
        "eq": a == b,
        "ne": a != b,
        "lt": lax.lt(a, b),
        "le": lax.le(a, b),
        "gt": lax.gt(a, b),
        "ge": lax.ge(a, b),
        "max": lax.max(a, b),
        "min": lax.min(a, b),
        "int": a.astype(jnp.int8) + b.astype(jnp.int8),
        "float": a.astype(jnp.float32),
        "select": jnp.where(a, b, ~b),
        "select_n": lax.select_n(k, a, b, ~a),
        "any": a.any(),
        "all": b.all(),
        "count": a.sum(),
        "nested": (a & b).any() | ~a.all(),
        "argmax": jnp.argmax(a),
        "max_of": a.max(),
        "min_of": a.min(),
        "xor_of": lax.reduce_xor(a, (0,)),
        "scalar": a[0] & ~b[1],
    }


@settings(max_examples=40, deadline=None)
@given(hnp.arrays(np.bool_, N), hnp.arrays(np.bool_, N), hnp.arrays(np.int32, N, elements=st.integers(0, 2)))
def test_booleans(a: np.ndarray, b: np.ndarray, k: np.ndarray) -> None:
    agree("booleans", booleans, a, b, k)
