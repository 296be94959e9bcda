"""Draws by a number in [0, 1) that the caller brings: an index in proportion to weights, or a true entry of a mask."""

from __future__ import annotations

import functools
import itertools

import jax
import jax.numpy as jnp
from jax import Array

from boardrl.game import one_hot

SHORT = 16  # the longest axis along which `sample` does without a cumsum
BLOCK = 32  # entries that `sample` and `sample_evenly` take together
BITS = 32  # of a word
CERTAIN = 1e-6  # what is less likely than this does not count as possible


def sample(weights: Array, uniform: Array) -> Array:
    """[] int32 index drawn in proportion to [N] weights by a number in [0, 1): the inverse of the running sum.

    The first index whose running sum exceeds the drawn share has a positive weight, so that what has weight 0
    is never drawn.
    """
    if weights.shape[0] <= SHORT:  # a cumsum along so short an axis is several times slower than single additions
        running = jnp.stack(list(itertools.accumulate(weights[index] for index in range(weights.shape[0]))))
        return (running <= uniform * running[-1]).sum(dtype=jnp.int32)
    if weights.shape[0] <= BLOCK * BLOCK:
        return _sample_block(weights, uniform)
    running = jnp.cumsum(weights)
    return (running <= uniform * running[-1]).sum(dtype=jnp.int32)


def is_drawn(weights: Array) -> Array:
    """[] whether a draw in proportion to [N] weights has several possible results."""
    if weights.shape[0] <= SHORT:  # for the same reason as in `sample`
        single = [weights[index].astype(jnp.float32) for index in range(weights.shape[0])]
        total, most = functools.reduce(jnp.add, single), functools.reduce(jnp.maximum, single)
    else:
        total, most = weights.sum(dtype=jnp.float32), weights.max().astype(jnp.float32)
    return total - most > CERTAIN * total


def _sample_block(weights: Array, uniform: Array) -> Array:
    """`sample` by blocks: first a block, then an entry of it; a CPU is many times faster at that than at a cumsum."""
    num_blocks = -(-weights.shape[0] // BLOCK)
    blocks = _filled(weights, num_blocks * BLOCK).reshape(num_blocks, BLOCK)
    sums = blocks.sum(1)
    running = _running_sum(sums)
    drawn = uniform * running[-1]
    passed = running <= drawn
    block = passed.sum(dtype=jnp.int32)
    inner = _running_sum(jax.lax.dynamic_index_in_dim(blocks, block, keepdims=False))
    # Rounding must lead neither past the block's end nor to a leading entry of weight 0.
    rest = jnp.clip(drawn - jnp.where(passed, sums, 0.0).sum(), 0.0, jnp.nextafter(inner[-1], jnp.float32(0)))
    return block * BLOCK + (inner <= rest).sum(dtype=jnp.int32)


def sample_evenly(mask: Array, uniform: Array) -> Array:
    """[] int32 index of one of the true entries of an [N] mask, each as likely, drawn by a number in [0, 1)."""
    if mask.shape[0] <= SHORT:
        return sample(mask.astype(jnp.float32), uniform)
    # Columns of up to 32 entries become words, in which the k-th bit is found without a running sum.
    num_columns = BLOCK * -(-mask.shape[0] // (BLOCK * BITS))
    num_rows = -(-mask.shape[0] // num_columns)
    table = _filled(mask, num_rows * num_columns).reshape(num_rows, num_columns)
    row = jnp.arange(num_rows, dtype=jnp.uint32)
    words = jnp.where(table, jnp.uint32(1) << row[:, None], jnp.uint32(0)).sum(0, dtype=jnp.uint32)
    counts = jax.lax.population_count(words).astype(jnp.float32)
    running = _running_sum(counts)
    drawn = jnp.floor(uniform * running[-1])
    passed = running <= drawn
    column = passed.sum(dtype=jnp.int32)
    rest = (drawn - jnp.where(passed, counts, 0.0).sum()).astype(jnp.int32)
    word = jnp.where(one_hot(column, num_columns), words, jnp.uint32(0)).sum(dtype=jnp.uint32)
    up_to_row = jax.lax.population_count(word & ((jnp.uint32(2) << row) - jnp.uint32(1))).astype(jnp.int32)
    return column + num_columns * (up_to_row <= rest).sum(dtype=jnp.int32)


def _filled(values: Array, size: int) -> Array:
    """[size] the values, then zeros. A pad would do, but is fused into what follows and makes that twice as slow."""
    return jnp.concatenate([values, jnp.zeros(size - values.shape[0], values.dtype)])


def _running_sum(values: Array) -> Array:
    """[N] float32: for a short axis a product with a triangle is faster than a cumsum."""
    size = values.shape[0]
    return jnp.matmul(values, jnp.triu(jnp.ones((size, size), jnp.float32)), precision=jax.lax.Precision.HIGHEST)
