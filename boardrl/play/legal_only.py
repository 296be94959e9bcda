"""Looking at every legal action of many states, without the work for the illegal ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

CHUNK = 256  # pairs of a state and an action that are looked at together
FEW = 16  # actions; to gather the legal ones of so few costs more than it saves

Look = Callable[[Any, Any, Array], Any]  # (params, state, action) -> arrays


def legal_only(look: Look) -> Callable[[Any, Any, Array], Any]:
    """From `look(params, state, action)` a function of (params, state, [A] legal) that gives [A] of what it sees.

    Illegal actions get zeros. Under vmap over states the legal pairs of all of them are gathered and looked at in
    chunks: where few of many actions are legal, as on most boards, that is many times less work.
    """

    @jax.custom_batching.custom_vmap
    def at_all(params: Any, state: Any, legal: Array) -> Any:
        seen = jax.vmap(look, (None, None, 0))(params, state, jnp.arange(legal.shape[0]))
        return jax.tree.map(lambda leaf: _kept(legal, leaf), seen)

    @at_all.def_vmap
    def batched(axis_size: int, in_batched: Any, params: Any, state: Any, legal: Array) -> tuple[Any, Any]:
        params_batched, *others = in_batched
        if any(jax.tree.leaves(params_batched)) or legal.shape[-1] <= FEW or axis_size * legal.shape[-1] <= CHUNK:
            axes = jax.tree.map(lambda has: 0 if has else None, tuple(in_batched))
            every = jax.vmap(jax.vmap(look, (None, None, 0)), (*axes[:2], None))
            seen = every(params, state, jnp.arange(legal.shape[-1]))
            many = _spread(axis_size, others[1], legal)
            return _marked(jax.tree.map(lambda leaf: _kept(many, leaf), seen))
        states, masks = (_spread(axis_size, has, x) for has, x in zip(others, (state, legal), strict=True))
        return _marked(_in_chunks(look, params, states, masks))

    return at_all


def _in_chunks(look: Look, params: Any, states: Any, legal: Array) -> Any:
    """[B, A] of what `look` sees at the legal pairs."""
    num_states, num_actions = legal.shape
    size = num_states * num_actions
    (pairs,) = jnp.nonzero(legal.ravel(), size=size + CHUNK, fill_value=size)
    one = jax.tree.map(lambda leaf: leaf[0], states)
    shapes = jax.eval_shape(look, params, one, jnp.int32(0))
    empty = jax.tree.map(lambda leaf: jnp.zeros((size, *leaf.shape), leaf.dtype), shapes)

    def chunk(carry: tuple[Array, Any]) -> tuple[Array, Any]:
        begin, seen = carry
        here = jax.lax.dynamic_slice(pairs, (begin,), (CHUNK,)).astype(jnp.int32)
        at, action = here // num_actions, here % num_actions
        gathered = jax.tree.map(lambda leaf: leaf.at[at].get(mode="clip"), states)
        found = jax.vmap(look, (None, 0, 0))(params, jax.lax.optimization_barrier(gathered), action)
        return begin + CHUNK, jax.tree.map(lambda all, new: all.at[here].set(new, mode="drop"), seen, found)

    num_legal = legal.sum(dtype=jnp.int32)
    _, seen = jax.lax.while_loop(lambda carry: carry[0] < num_legal, chunk, (jnp.int32(0), empty))
    return jax.tree.map(lambda leaf: leaf.reshape(num_states, num_actions, *leaf.shape[1:]), seen)


def _spread(size: int, has: Any, tree: Any) -> Any:
    """The tree with an axis of `size` states in front of every leaf."""
    return jax.tree.map(lambda b, leaf: leaf if b else jnp.broadcast_to(leaf, (size, *leaf.shape)), has, tree)


def _kept(legal: Array, leaf: Array) -> Array:
    """The entries of legal actions; zeros elsewhere."""
    return jnp.where(legal.reshape(legal.shape + (1,) * (leaf.ndim - legal.ndim)), leaf, jnp.zeros_like(leaf))


def _marked(seen: Any) -> tuple[Any, Any]:
    return seen, jax.tree.map(lambda leaf: True, seen)
