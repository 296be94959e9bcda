"""Regression targets from a search, as arrays, and one gradient step of an evaluator towards them."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from algorithms.learning import optimizers
from algorithms.learning.optimizers import Optimizer
from boardrl import host
from boardrl.game import TERMINAL
from boardrl.play.policy import Value
from search.analysis.principal_variation import Leaf
from search.searcher import Searcher

LEAST_PADDING = 256  # lengths are padded to powers of two from here on, so that few are compiled


class RegressionTarget(NamedTuple):
    """A regression target for the value to a seat that is backed up from some leaves."""

    seat: int
    leaves: Sequence[Leaf]
    value: float  # as searched
    target: float  # what it should be


class TargetArrays(NamedTuple):
    """N regression targets and their L leaves, as they travel from workers."""

    seat: np.ndarray  # [N] int32
    value: np.ndarray  # [N] float32
    target: np.ndarray  # [N] float32
    num_leaves: np.ndarray  # [N] int32
    rows: np.ndarray  # [L, W]: the leaves
    share: np.ndarray  # [L] float32


class Batch(NamedTuple):
    """N regression targets and their L leaves, both padded."""

    states: Any  # [L]
    seat: Array  # [L] int32: whose value is meant
    share: Array  # [L] float32: weight of the leaf in its value; 0 for padding
    owner: Array  # [L] int32: the regression target that the leaf belongs to
    result: Array  # [L] float32: what the seat has got where the game is over
    over: Array  # [L] bool
    target: Array  # [N] float32
    value: Array  # [N] float32: as searched
    counts: Array  # [N] bool: not padding


def towards(searcher: Searcher, row: np.ndarray, value: np.ndarray) -> list[RegressionTarget]:
    """The targets of one position: [P] values, to each seat as it sees the position.

    All seats, as an evaluator that says the same to whoever looks could fit the targets of one seat alone.
    """
    now = searcher.evaluate(row)
    return [
        RegressionTarget(seat, [Leaf(row, 1.0)], float(now[seat]), float(value[seat])) for seat in range(len(value))
    ]


def arrays_of(facet: host.Facet, wanted: Sequence[RegressionTarget]) -> TargetArrays:
    """Regression targets as arrays."""
    found = [leaf for one in wanted for leaf in one.leaves]
    rows = facet.rows(len(found))
    for place, leaf in enumerate(found):
        rows[place] = leaf.row
    return TargetArrays(
        np.array([one.seat for one in wanted], np.int32),
        np.array([one.value for one in wanted], np.float32),
        np.array([one.target for one in wanted], np.float32),
        np.array([len(one.leaves) for one in wanted], np.int32),
        rows,
        np.array([leaf.share for leaf in found], np.float32),
    )


def batch_of(facet: host.Facet, wanted: Sequence[TargetArrays]) -> Batch:
    """All regression targets, padded."""
    seats, values, aims, num_leaves, leaves, shares = (np.concatenate(parts) for parts in zip(*wanted, strict=True))
    owners = np.repeat(np.arange(len(seats), dtype=np.int32), num_leaves)
    length, count = _padded(len(leaves)), _padded(len(seats))
    rows = facet.rows(length)
    facet.init(rows[0])
    rows[:] = rows[0]  # padding is a valid state
    rows[: len(leaves)] = leaves
    work, returns = facet.work(), np.zeros(facet.game.spec.num_players, np.float32)
    seat, share, over, result = (np.zeros(length, kind) for kind in (np.int32, np.float32, np.bool_, np.float32))
    seat[: len(leaves)], share[: len(leaves)] = seats[owners], shares
    for place in range(len(leaves)):
        over[place] = facet.actor(rows[place], work) == TERMINAL
        if over[place]:
            facet.returns(rows[place], returns, work)
            result[place] = returns[seat[place]]
    numbers = np.zeros((2, count), np.float32)
    numbers[:, : len(seats)] = aims, values
    arrays: dict[str, Any] = {
        "states": facet.state(rows),
        "seat": seat,
        "share": share,
        "owner": np.pad(owners, (0, length - len(owners))),
        "result": result,
        "over": over,
        "target": numbers[0],
        "value": numbers[1],
        "counts": np.arange(count) < len(seats),
    }
    return Batch(**arrays)


def _padded(count: int) -> int:
    return max(1 << (count - 1).bit_length(), LEAST_PADDING)


def loss(value: Value, params: Any, batch: Batch) -> tuple[Array, dict[str, Array]]:
    """½ mean (target − Σ_l share_l V(leaf_l))², the target held fixed: its gradient is −δ Σ_l share_l ∇V(leaf_l).

    `leaf_error` is how far the values of the leaves in JAX are at most from what the search had found.
    """
    said = jax.vmap(lambda state, seat: value(params, state, seat)[seat])(batch.states, batch.seat)
    worth = batch.share * jnp.where(batch.over, batch.result, said)
    values = jax.ops.segment_sum(worth, batch.owner, batch.target.shape[0])
    number = jnp.maximum(batch.counts.sum(), 1).astype(jnp.float32)
    squared = jnp.where(batch.counts, (batch.target - values) ** 2, 0.0)
    strays = jnp.where(batch.counts, jnp.abs(values - batch.value), 0.0)
    total = 0.5 * squared.sum() / number
    return total, {"loss": total, "error": jnp.sqrt(2 * total), "leaf_error": strays.max()}


@functools.partial(jax.jit, static_argnames=("value", "optimizer"))
def step(
    value: Value, optimizer: Optimizer, params: Any, optimizer_state: Any, batch: Batch, rate: Array
) -> tuple[Any, Any, dict[str, Array]]:
    """Parameters and optimizer state after one step, and metrics."""
    gradient, metrics = jax.grad(loss, argnums=1, has_aux=True)(value, params, batch)
    params, optimizer_state = optimizers.step(optimizer, params, optimizer_state, gradient, rate=rate)
    return params, optimizer_state, metrics


@jax.jit
def mean_with(mean: Any, one_more: Any, count: Array) -> Any:
    """The mean of `count` parameters, of which the last is one more; of 1 it is that one, to the bit."""
    return jax.tree.map(lambda old, new: (1 - 1 / count) * old + new / count, mean, one_more)
