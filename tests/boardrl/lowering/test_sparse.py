"""Products with vectors that are mostly 0: lowered code adds the rows of what is set, and gives JAX's numbers."""

from __future__ import annotations

import inspect
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from boardrl.game import one_hot
from boardrl.lowering import ir, lower, sparse
from boardrl.lowering.passes.fold import fold


class Seen(NamedTuple):
    """What the observations below are made of."""

    plane: Any  # [5, 7] bool
    wide: Any  # [300] bool
    square: Any  # [] int32
    squares: Any  # [3, 2] int8
    counts: Any  # [40] int8
    places: Any  # [4] int32
    share: Any  # [] float32
    flag: Any  # [] bool


def draw(rng: np.random.Generator) -> Seen:
    density = rng.choice([0.0, 0.1, 1.0])
    return Seen(
        rng.random((5, 7)) < density,
        rng.random(300) < density,
        np.int32(rng.integers(-2, 12)),
        rng.integers(-1, 11, (3, 2)).astype(np.int8),
        (rng.integers(0, 4, 40) * (rng.random(40) < density)).astype(np.int8),
        rng.integers(-12, 12, 4).astype(np.int32),  # beyond both ends, and some twice
        np.float32(rng.normal()),
        rng.random() < 0.5,
    )


def planes(s: Seen) -> Any:
    """Booleans stacked, turned about, cut and padded."""
    stacked = jnp.stack([s.plane, s.plane[::-1]], -1)  # [5, 7, 2]
    return jnp.pad(stacked.transpose(1, 0, 2)[1:6], ((1, 0), (0, 2), (0, 0))).ravel().astype(jnp.float32)


def one_hots(s: Seen) -> Any:
    """A one-hot, and shares of pieces on squares, with squares that are on no board."""
    there = s.squares[:, :, None] == jnp.arange(9, dtype=jnp.int8)[None, None]
    shares = there.sum(1, dtype=jnp.float32) / 2
    counted = there.sum(1, dtype=jnp.int32).astype(jnp.float32)
    single = one_hot(s.square, 10).astype(jnp.float32)
    return jnp.concatenate([single, shares.ravel(), -counted.ravel()])


def added(s: Seen) -> Any:
    """Numbers added at places, those out of bounds dropped; a number where booleans are set; all or nothing."""
    scattered = jnp.zeros(11, jnp.float32).at[s.places].add(s.share * jnp.arange(1.0, 5.0, dtype=jnp.float32))
    chosen = jnp.where(s.plane.ravel(), s.share, 0.0)
    either = jnp.where(s.flag, s.wide[:20].astype(jnp.float32) - s.wide[20:40].astype(jnp.float32), 0.0)
    return jnp.concatenate([scattered, chosen, either, jnp.array([0.5, 0.0, -2.0], jnp.float32)])


def numbers(s: Seen) -> Any:
    """Small integers, scaled, and more booleans than are walked word by word."""
    return jnp.concatenate([s.counts.astype(jnp.float32) / 3, s.wide.astype(jnp.float32), s.share[None]])


def stacks(s: Seen) -> Any:
    """Planes stacked along the last axis, one of them under a condition, with a constant and one boolean."""
    rest = jnp.stack([jnp.array(True), s.flag])
    stacked = jnp.stack([s.plane, jnp.where(s.flag, s.plane[::-1], s.plane)], -1)
    return jnp.concatenate([stacked.ravel(), rest]).astype(jnp.float32)


def product(observe: Any) -> Any:
    return lambda s, matrix: observe(s) @ matrix


@pytest.mark.parametrize(
    ("observe", "columns", "kinds"),
    [
        (planes, 20, {"bits"}),
        (one_hots, 5, {"one_hot"}),
        (added, 33, {"scatter", "bits", "constant"}),
        (numbers, 260, {"dense", "bits"}),
        (stacks, 20, {"bits", "constant", "dense"}),
    ],
)
def test_rows_of_what_is_set_add_up_to_the_product(observe: Any, columns: int, kinds: set[str]) -> None:
    rng = np.random.default_rng(7)
    examples = [draw(rng) for _ in range(30)]
    matrix = rng.normal(size=(jax.eval_shape(observe, examples[0]).shape[0], columns)).astype(np.float32)
    lowered = lower(product(observe), jax.tree.map(jnp.asarray, examples[0]), matrix, name=observe.__name__)
    source = inspect.getsource(lowered.function.py_func)
    assert "sum_rows(" in source
    assert "dot_rows(" not in source
    assert {term.kind for term in terms_of(product(observe), examples[0], matrix)} == kinds
    for s in examples:
        wanted = np.asarray(observe(jax.tree.map(jnp.asarray, s)), np.float64) @ matrix
        np.testing.assert_allclose(lowered(s, matrix), wanted, rtol=1e-5, atol=5e-5)


def terms_of(function: Any, *examples: Any) -> list[sparse.Term]:
    block, _ = ir.trace(function, [jax.tree.map(jnp.asarray, e) for e in examples], name="product")
    fold(block)
    sparse.rewrite(block)
    (eqn,) = [eqn for eqn in block.equations if eqn.name == sparse.NAME]
    return eqn.params["terms"]


@pytest.mark.parametrize(("depth", "columns"), [(64, 4), (6, 1), (10, 300), (7, 6), (16, 128)])
def test_dense_products_in_vectors(depth: int, columns: int) -> None:
    """Narrow matrices, of which a vector holds several rows, and wide ones, in blocks of columns."""
    rng = np.random.default_rng(depth)
    x, matrix = rng.normal(size=depth).astype(np.float32), rng.normal(size=(depth, columns)).astype(np.float32)
    lowered = lower(lambda x, matrix: jnp.tanh(x) @ matrix, x, matrix, name="dense")
    assert "dot_rows(" in inspect.getsource(lowered.function.py_func)
    np.testing.assert_allclose(lowered(x, matrix), np.tanh(x.astype(np.float64)) @ matrix, atol=1e-5)


@pytest.mark.parametrize(("depth", "columns"), [(64, 64), (100, 32), (7, 300), (130, 48)])
def test_rows_of_units_at_rest_are_skipped(depth: int, columns: int) -> None:
    """Words of bits that are full, cut short, empty or odd; NaN is no 0."""
    rng = np.random.default_rng(depth)
    matrix = rng.normal(size=(depth, columns)).astype(np.float32)
    x = rng.normal(size=(6, depth)).astype(np.float32)
    x[0], x[1], x[2, 1:], x[3, :3] = -1, 1, -1, -1
    lowered = lower(lambda x, matrix: jax.nn.relu(x + 0.5) @ matrix, x[0], matrix, name="rectified")
    assert "dot_nonzero_rows(" in inspect.getsource(lowered.function.py_func)
    for one in x:
        wanted = np.maximum(one.astype(np.float64) + 0.5, 0) @ matrix
        np.testing.assert_allclose(lowered(one, matrix), wanted, rtol=1e-5, atol=5e-5)
    x[0, depth // 2] = np.nan
    assert np.isnan(lowered(x[0], matrix)).all()


def test_exponentials_are_those_of_jax() -> None:
    """All sizes and ends of exp and tanh, one by one and as a vector of few."""
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.uniform(-104, 90, 4000), rng.normal(size=4000), rng.normal(size=200) / 1000])
    ends = [0.0, -0.0, np.inf, -np.inf, np.nan, 88.7, 88.8, -87.3, 0.25, -0.25]
    x = np.concatenate([x, ends, np.zeros(6)]).astype(np.float32)
    few = np.array([-1.5, 0.1, 30.0, np.nan], np.float32)
    lowered = lower(lambda x, few: (jnp.exp(x), jnp.tanh(x), jnp.exp(few), jnp.tanh(few)), x, few, name="exponentials")
    found = lowered(x, few)
    with np.errstate(over="ignore"):
        wanted = [f(v.astype(np.float64)).astype(np.float32) for v in (x, few) for f in (np.exp, np.tanh)]
    for ours, exact in zip(found, wanted, strict=True):
        np.testing.assert_allclose(ours, exact, rtol=4e-7, atol=1e-37)
    assert np.signbit(found[1][list(x).index(0.0) + 1])
