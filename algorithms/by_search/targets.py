"""What a search teaches: values that should be others, as arrays, and one step of an evaluator's parameters."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array

from boardrl import host
from boardrl.game import TERMINAL
from boardrl.play.policy import Value
from search.principal_variation import Leaf
from search.searcher import Searcher

Optimizer = Literal["adam", "sgd"]
LEAST_PADDING = 256  # lengths are padded to powers of two from here on, so that few are compiled


class Lesson(NamedTuple):
    """A value that should be another: that which rests on some leaves, to a seat."""

    seat: int
    leaves: Sequence[Leaf]
    value: float  # as it is
    target: float  # as it should be


class Batch(NamedTuple):
    """L leaves of N lessons, both padded."""

    states: Any  # [L]
    seat: Array  # [L] int32: whose value is meant
    share: Array  # [L] float32: of the leaf in its lesson; 0 for padding
    lesson: Array  # [L] int32
    result: Array  # [L] float32: what the seat has got where the game is over
    over: Array  # [L] bool
    target: Array  # [N] float32
    value: Array  # [N] float32: as searched
    counts: Array  # [N] bool: not padding


def towards(searcher: Searcher, row: np.ndarray, value: np.ndarray) -> list[Lesson]:
    """A position should be worth [P] values, to each seat as it sees it.

    To one seat alone it would not do: a value that says that all is well to whoever looks agrees with itself.
    """
    now = searcher.evaluate(row)
    return [Lesson(seat, [Leaf(row, 1.0)], float(now[seat]), float(value[seat])) for seat in range(len(value))]


def batch_of(facet: host.Facet, lessons: Sequence[Lesson]) -> Batch:
    """Lessons as arrays."""
    owners = [number for number, lesson in enumerate(lessons) for _ in lesson.leaves]
    found = [leaf for lesson in lessons for leaf in lesson.leaves]
    length, count = _padded(len(found)), _padded(len(lessons))
    rows = facet.rows(length)
    facet.init(rows[0])
    rows[:] = rows[0]  # a state like any other
    work, returns = facet.work(), np.zeros(facet.game.spec.num_players, np.float32)
    seat, share, over, result = (np.zeros(length, kind) for kind in (np.int32, np.float32, np.bool_, np.float32))
    for place, (leaf, owner) in enumerate(zip(found, owners, strict=True)):
        rows[place], seat[place], share[place] = leaf.row, lessons[owner].seat, leaf.share
        over[place] = facet.actor(leaf.row, work) == TERMINAL
        if over[place]:
            facet.returns(leaf.row, returns, work)
            result[place] = returns[seat[place]]
    numbers = np.zeros((2, count), np.float32)
    numbers[:, : len(lessons)] = [[lesson.target for lesson in lessons], [lesson.value for lesson in lessons]]
    parts: dict[str, Any] = {
        "states": facet.state(rows),
        "seat": seat,
        "share": share,
        "lesson": np.pad(np.array(owners, np.int32), (0, length - len(owners))),
        "result": result,
        "over": over,
        "target": numbers[0],
        "value": numbers[1],
        "counts": np.arange(count) < len(lessons),
    }
    return Batch(**parts)


def _padded(count: int) -> int:
    return max(1 << (count - 1).bit_length(), LEAST_PADDING)


def loss(value: Value, params: Any, batch: Batch) -> tuple[Array, dict[str, Array]]:
    """½ mean (target − Σ_l share_l V(leaf_l))², the target held fixed: its gradient is −δ Σ_l share_l ∇V(leaf_l).

    `leaf_error` is how far the values of the leaves in JAX are at most from what the search had found.
    """
    said = jax.vmap(lambda state, seat: value(params, state, seat)[seat])(batch.states, batch.seat)
    worth = batch.share * jnp.where(batch.over, batch.result, said)
    values = jax.ops.segment_sum(worth, batch.lesson, batch.target.shape[0])
    number = jnp.maximum(batch.counts.sum(), 1).astype(jnp.float32)
    squared = jnp.where(batch.counts, (batch.target - values) ** 2, 0.0)
    strays = jnp.where(batch.counts, jnp.abs(values - batch.value), 0.0)
    total = 0.5 * squared.sum() / number
    return total, {"loss": total, "error": jnp.sqrt(2 * total), "leaf_error": strays.max()}


@functools.partial(jax.jit, static_argnames=("value", "optimizer"))
def step(
    value: Value, optimizer: Optimizer, params: Any, momentum: Any, batch: Batch, rate: Array
) -> tuple[Any, Any, dict[str, Array]]:
    """Parameters and the optimizer's memory after one step, and metrics."""
    gradient, metrics = jax.grad(loss, argnums=1, has_aux=True)(value, params, batch)
    with jax.numpy_dtype_promotion("standard"):  # optax raises a float to the power of its integer count
        direction, momentum = transformation(optimizer).update(gradient, momentum)
    return jax.tree.map(lambda p, d: p - rate * d, params, direction), momentum, metrics


@jax.jit
def mean_with(mean: Any, one_more: Any, count: Array) -> Any:
    """The mean of `count` parameters, of which the last is one more; of 1 it is that one, to the bit."""
    return jax.tree.map(lambda old, new: (1 - 1 / count) * old + new / count, mean, one_more)


def transformation(optimizer: Optimizer) -> optax.GradientTransformation:
    return optax.scale_by_adam() if optimizer == "adam" else optax.identity()
