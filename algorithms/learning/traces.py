"""Eligibility traces: the backward view of TD(λ), with the same gradient as λ-returns."""

from __future__ import annotations

from typing import Any, Literal

import jax
import jax.numpy as jnp
from jax import Array

from algorithms.learning.returns import Window
from boardrl.values import nets

Loss = Literal["cross_entropy", "squared"]


def no_traces(params: Any, num_lanes: int, num_players: int) -> Any:
    """Traces of fresh games: zeros like the parameters, with leading axes [B, P]."""
    return jax.tree.map(lambda leaf: jnp.zeros((num_lanes, num_players, *leaf.shape), leaf.dtype), params)


def backward_gradient(
    net: nets.ValueNet, params: Any, window: Window, known: Array, traces: Any, *, loss: Loss, decay: float
) -> tuple[Any, Any]:
    """Summed gradient −Σ_t Σ_i δ_i e_i with e ← λ e + ∇f(s_t), one trace for each output i, and the traces after it.

    f is what the loss is linear in: the net's logits for cross-entropy (∇L = Σ_i (p_i − target_i) ∇z_i), its
    shares for the squared error. Traces of unfinished games are carried into the next window.

    δ compares recorded values, which are those that the movers saw. Where the net is shown s_t from another seat, its
    output p_t is not quite the recorded V(s_t), and −(V(s_t) − p_t) ∇f(s_t) is added, so that s_t learns from its own
    error, as in the forward view.

    Args:
      known: [T, B] whether an afterstate has a target in this window, see `Targets`.
    """
    spec = net.game.spec
    outputs = net.logits if loss == "cross_entropy" else lambda *a: net.shares(net.logits(*a))

    def lane(window: Window, known: Array, trace: Any) -> tuple[Any, Any]:
        first = net.shares(net.logits(params, jax.tree.map(lambda x: x[0], window.inputs), window.viewer[0]))

        def forth(
            carry: tuple[Any, Any, Array, Array], now: tuple[Window, Array]
        ) -> tuple[tuple[Any, Any, Array, Array], None]:
            total, trace, previous, seen = carry
            slot, learns = now
            trail = slot.trail
            value = jnp.where(trail.explored, trail.best, jnp.where(trail.ended, trail.returns, trail.value))
            news = trail.decided | trail.ended
            delta = jnp.where(seen & news, nets.from_returns(spec, value) - previous, 0.0)
            total = jax.tree.map(lambda g, e: g - jnp.tensordot(delta, e, 1), total, trace)
            keep = jnp.where(trail.ended | trail.explored, 0.0, jnp.where(trail.decided, decay, 1.0))
            grown = trail.decided & ~trail.ended
            inputs, recorded = net.dense(slot.inputs), nets.from_returns(spec, trail.value)
            fresh = jax.jacrev(outputs)(params, inputs, slot.viewer)
            apart = jnp.where(learns, recorded - net.shares(net.logits(params, inputs, slot.viewer)), 0.0)
            total = jax.tree.map(lambda g, f: g - jnp.tensordot(apart, f, 1), total, fresh)
            trace = jax.tree.map(lambda e, f: keep * e + jnp.where(grown, f, 0.0), trace, fresh)
            previous = jnp.where(trail.decided, recorded, previous)
            return (total, trace, previous, (seen | trail.decided) & ~trail.ended), None

        nothing = jax.tree.map(jnp.zeros_like, params)
        carry = (nothing, trace, first, window.trail.decided[0])
        (total, trace, _, _), _ = jax.lax.scan(forth, carry, jax.tree.map(lambda x: x[1:], (window, known)))
        return total, trace

    # The pending afterstates of slot 0 are in the traces already.
    totals, traces = jax.vmap(lane, (1, 1, 0))(window, known, traces)
    return jax.tree.map(lambda g: g.sum(0), totals), traces
