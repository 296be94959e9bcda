"""The entries of an observation that may not be 0, where `observe` adds up a few numbers.

A game that writes its observation as `jnp.zeros(size).at[places].add(numbers)` has said which entries those are. Nets
in JAX read them in a fraction of the time that a product with the whole array takes; lowered code finds the entries of
every observation by itself (`boardrl.lowering.sparse`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.extend import core

from boardrl.game import Game

LEAST_SAVED = 4  # times as many entries as numbers that are added, or it does not pay

Entries = Callable[[Any, Array], tuple[Array, Array]]  # (state, player) -> [K] places and [K] numbers, which add up


def entries(game: Game[Any]) -> Entries | None:
    """A function that gives the entries, or None where `observe` is not written so."""
    return _entries(cast(Hashable, game))


@functools.cache
def _entries(game: Any) -> Entries | None:
    traced = jax.make_jaxpr(game.observe)(jax.eval_shape(game.init), jax.ShapeDtypeStruct((), jnp.int32))
    jaxpr = traced.jaxpr
    made = {var: eqn for eqn in jaxpr.eqns for var in eqn.outvars}
    (result,) = jaxpr.outvars
    last = made.get(result) if isinstance(result, core.Var) else None
    if last is None or last.primitive.name != "scatter-add" or not _adds_to_zeros(last, made):
        return None
    _, places, numbers = last.invars
    (size,), count = result.aval.shape, numbers.aval.size
    if count * LEAST_SAVED > size:
        return None
    before = jaxpr.replace(
        eqns=jaxpr.eqns[: jaxpr.eqns.index(last)],
        outvars=[places, numbers],
        debug_info=jaxpr.debug_info.with_unknown_names(),
    )
    inside = last.params["mode"] == jax.lax.GatherScatterMode.PROMISE_IN_BOUNDS

    def found(state: Any, player: Array) -> tuple[Array, Array]:
        leaves = jax.tree.leaves((state, player))
        where, added = jax.core.eval_jaxpr(before, traced.consts, *leaves)
        where, added = where.reshape(count), added.reshape(count)
        if inside:
            return where, added
        return jnp.clip(where, 0, size - 1), jnp.where((where >= 0) & (where < size), added, 0.0)

    return found


def _adds_to_zeros(eqn: Any, made: dict[Any, Any]) -> bool:
    """Whether single numbers are added to a vector of zeros."""
    target, places, _ = eqn.invars
    source = made.get(target) if isinstance(target, core.Var) else None
    zeros = (
        source is not None
        and source.primitive.name == "broadcast_in_dim"
        and isinstance(source.invars[0], core.Literal)
        and not np.any(source.invars[0].val)
    )
    single = len(target.aval.shape) == 1 and not eqn.params["dimension_numbers"].update_window_dims
    return zeros and single and places.aval.shape[-1] == 1 and target.aval.dtype == jnp.float32
