"""Shards of the lanes that play and learn at the same time, one thread each: compiled code releases Python's lock."""

from __future__ import annotations

import concurrent.futures
import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
from jax import Array

from algorithms.learning import afterstates
from boardrl.game import Game
from boardrl.play import rollout
from boardrl.play.policy import Policy
from boardrl.values import return_scale

Result = TypeVar("Result")


class Carried(NamedTuple):
    """What lanes carry from one window of play into the next."""

    lanes: rollout.Lanes
    pending: afterstates.Pending
    traces: Any


class Sums(NamedTuple):
    """What is added up over all shards."""

    gradient: Any
    loss: Array  # []
    squared_error: Array  # [] of the returns
    known: Array  # [] float32: number of afterstates with a target
    games: Array  # [] int32: that ended
    decisions: Array  # [] int32
    rolls: Array  # [] int32


class ShardResult(NamedTuple):
    """What one shard of the lanes has played, and the gradient that follows."""

    carried: Carried
    seen: return_scale.Range  # with the returns of the games that ended
    sums: Sums


def update(learn: Any, apply: Any, config: Any, game: Game[Any], opponents: tuple[Policy, ...], state: Any) -> Any:
    """`apply(config, state, results)` with the results of `learn(config, game, opponents, state, shard)` in all shards.

    Args:
      learn, apply: jitted functions, `config.shards` says for how many shards.
    """
    if config.shards == 1:
        return _update_unsharded(learn, apply, config, game, opponents, state)
    results = together(lambda shard: learn(config, game, opponents, state, shard), config.shards)
    return apply(config, state, tuple(results))


@functools.partial(jax.jit, static_argnames=("learn", "apply", "config", "game"), donate_argnames="state")
def _update_unsharded(
    learn: Any, apply: Any, config: Any, game: Game[Any], opponents: tuple[Policy, ...], state: Any
) -> Any:
    """`update` as one program: small updates are over before two could be called."""
    return apply(config, state, (learn(config, game, opponents, state, 0),))


def keys(state: Any, count: int) -> Array:
    """For the next update, then one for each shard's play, then for what all shards share."""
    return jax.random.split(jax.random.wrap_key_data(state.key), 2 + count)


def together(work: Callable[[int], Result], count: int) -> list[Result]:
    """[work(0), work(1), ...], all finished; the same whatever the number of cores."""

    def finished(shard: int) -> Result:
        return jax.block_until_ready(work(shard))

    return [finished(0)] if count == 1 else list(_threads(count).map(finished, range(count)))


def shard_of(batch: Result, shard: Any, count: int) -> Result:
    """One of `count` equal shards of every leaf's first axis."""

    def cut(leaf: Array) -> Array:
        size = leaf.shape[0] // count
        return jax.lax.dynamic_slice_in_dim(leaf, shard * size, size)

    return jax.tree.map(cut, batch)


def joined(shards: Sequence[Result]) -> Result:
    """All shards along the first axis of every leaf."""
    return jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *shards)


def summed(results: Sequence[Result]) -> Result:
    """The sum of every leaf over all shards."""
    return jax.tree.map(lambda *leaves: functools.reduce(jnp.add, leaves), *results)


@functools.cache
def _threads(count: int) -> concurrent.futures.ThreadPoolExecutor:
    return concurrent.futures.ThreadPoolExecutor(count, "shard")
