"""The range of returns actually seen in a game, tracked during training.

A value net's outputs are fractions of the range that a game declares (`boardrl.values.nets`). If results span a small
part of it, as in a game that declares 100 points and ends with five, all fractions are close together and differences
between actions are lost in the net's noise. So the declared range is mapped to the smallest range that contains every
result so far:

    r = offset + factor · r_declared

If the results fill the declared range, or were all equal so far (such as draws), r = r_declared exactly. The range only
grows, so that from the next update on no result lies outside it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from boardrl.game import Spec


class Range(NamedTuple):
    """The smallest and largest return of any player in the finished games; reversed before the first game ends."""

    low: Array  # [] float32
    high: Array  # [] float32


class Scale(NamedTuple):
    """An increasing linear map from the declared range of returns to the range seen."""

    offset: Array  # [] float32
    factor: Array  # [] float32

    def apply(self, values: Any) -> Any:
        """Maps values in the declared range to returns, leaf by leaf for a pytree."""
        return jax.tree.map(lambda value: self.offset + self.factor * value, values)

    def invert(self, returns: Any) -> Any:
        """Maps returns to values in the declared range, leaf by leaf for a pytree."""
        return jax.tree.map(lambda each: (each - self.offset) / self.factor, returns)


def nothing_seen(spec: Spec) -> Range:
    """The range before any game has ended; finite, because checkpoints contain only finite numbers."""
    return Range(jnp.float32(spec.max_return), jnp.float32(spec.min_return))


def widened(seen: Range, returns: Array, ended: Array) -> Range:
    """The range extended by the [..., P] returns of the games where [...] `ended` is true."""
    over = ended[..., None]
    return Range(
        jnp.minimum(seen.low, jnp.where(over, returns, seen.low).min()),
        jnp.maximum(seen.high, jnp.where(over, returns, seen.high).max()),
    )


def joined(*ranges: Range) -> Range:
    """The smallest range that contains all of these."""
    low, high = (jnp.stack(ends) for ends in zip(*ranges, strict=True))
    return Range(low.min(), high.max())


def scale_of(spec: Spec, seen: Range) -> Scale:
    """The map to the range seen.

    With a fixed sum only the smallest return matters: the fractions divide what remains of the sum after every player
    has received the smallest return.
    """
    least, most = np.float32(spec.min_return), np.float32(spec.max_return)
    if spec.return_sum is None:
        declared, spanned = most - least, seen.high - seen.low
        fills = (seen.low <= least) & (seen.high >= most)
    else:
        total, players = np.float32(spec.return_sum), np.float32(spec.num_players)
        declared, spanned = total - players * least, total - players * seen.low
        fills = seen.low <= least
    known = (seen.high > seen.low) & (spanned > 0) & ~fills
    factor = jnp.where(known, spanned / declared, 1.0).astype(jnp.float32)
    return Scale(jnp.where(known, seen.low - factor * least, 0.0).astype(jnp.float32), factor)
