"""The range of returns that a game's results really span, learned while it is played.

A value net's outputs are shares of the range that a game declares (`boardrl.values.nets`). Where results span a small
part of it, as in a game that declares 100 points and ends with five, all shares lie close together and
differences between actions are lost in the net's noise. So the declared range is mapped to the smallest one that holds
every result so far:

    r = offset + factor · r_declared

Results that fill the declared range, or were all equal so far (such as draws), give r = r_declared to the bit.
The range only ever grows, so that no result lies outside it from the next update on.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from boardrl.game import Spec


class Range(NamedTuple):
    """The least and the greatest return of any player in the games that have ended; the other way round before any."""

    low: Array  # [] float32
    high: Array  # [] float32


class Scale(NamedTuple):
    """An increasing linear map from the declared range of returns to the one that results span."""

    offset: Array  # [] float32
    factor: Array  # [] float32

    def apply(self, values: Any) -> Any:
        """Values within the declared range as returns; of a pytree, each leaf."""
        return jax.tree.map(lambda value: self.offset + self.factor * value, values)

    def invert(self, returns: Any) -> Any:
        """Returns as values within the declared range; of a pytree, each leaf."""
        return jax.tree.map(lambda each: (each - self.offset) / self.factor, returns)


def nothing_seen(spec: Spec) -> Range:
    """The range before any game has ended; finite, as checkpoints hold nothing else."""
    return Range(jnp.float32(spec.max_return), jnp.float32(spec.min_return))


def widened(seen: Range, returns: Array, ended: Array) -> Range:
    """The range with the [..., P] returns of all games that [...] ended."""
    over = ended[..., None]
    return Range(
        jnp.minimum(seen.low, jnp.where(over, returns, seen.low).min()),
        jnp.maximum(seen.high, jnp.where(over, returns, seen.high).max()),
    )


def joined(*ranges: Range) -> Range:
    """The smallest range that holds all of these."""
    low, high = (jnp.stack(ends) for ends in zip(*ranges, strict=True))
    return Range(low.min(), high.max())


def scale_of(spec: Spec, seen: Range) -> Scale:
    """The map to the range that was seen.

    Shares of returns with a fixed sum follow from the least of them alone: the cake is what is left of the sum when
    each player has the least.
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
