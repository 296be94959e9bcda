"""What learners by search share: the value that is learned, the searchers that use it, one step of its parameters."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array

from boardrl import host, nets
from boardrl.errors import UserError
from boardrl.game import TERMINAL, Game
from boardrl.linear import Linear
from boardrl.policy import Value
from search import evaluators, kinds
from search.budget import Budget
from search.pool import Pool
from search.principal import Leaf
from search.searcher import Searcher

Optimizer = Literal["adam", "sgd"]
LEAST_PADDING = 256  # lengths are padded to powers of two from here on, so that few are compiled


class Setup(NamedTuple):
    """All that decides how positions are searched and valued, but for the parameters."""

    game: Game[Any]
    searcher: str
    depth: int
    kilobytes: int
    hidden: tuple[int, ...] | None  # layers of a net; None: weights of the game's features
    activation: nets.Activation


def searcher_for(game: Game[Any]) -> str:
    """The searcher that suits a game's kind."""
    for name in ("negascout", "expectimax"):
        try:
            kinds.find(name).refuse(name, game)
        except UserError:
            continue
        return name
    return "maxn"


def value_of(setup: Setup) -> Linear | nets.ValueNet:
    """The function that is learned."""
    if setup.hidden is None:
        return Linear(setup.game)
    return nets.ValueNet(setup.game, nets.MLP(setup.hidden, setup.game.spec.num_players, setup.activation))


@functools.lru_cache(maxsize=4)
def pool_of(setup: Setup, workers: int | None = None) -> Pool:
    """Searchers for a setup, made once."""
    value = value_of(setup)
    evaluator, facet = evaluators.learned(setup.game, value, jax.device_get(value.init(jax.random.key(0))))
    return Pool(lambda: make_searcher(setup, evaluator, facet), workers=workers)


def make_searcher(setup: Setup, evaluator: evaluators.Evaluator, facet: host.Facet) -> Searcher:
    budget = Budget(depth=setup.depth, kilobytes=setup.kilobytes)
    return Searcher(setup.game, setup.searcher, budget=budget, evaluator=evaluator, facet=facet)


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


def transformation(optimizer: Optimizer) -> optax.GradientTransformation:
    return optax.scale_by_adam() if optimizer == "adam" else optax.identity()
