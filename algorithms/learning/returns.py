"""λ-returns: the regression targets of TD(λ)."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from boardrl.values.return_scale import Scale


class Trail(NamedTuple):
    """Decisions, values and results of one lane over T slots; [B] lanes by vmap.

    A slot holds at most one decision and at most one end of a game, in this order.
    """

    decided: Array  # [T] bool: a decision led to an afterstate here
    value: Array  # [T, P] value of that afterstate
    explored: Array  # [T] bool: the decision was an experiment, not the best known
    best: Array  # [T, P] value of the afterstate of the best known action
    ended: Array  # [T] bool: the game was over after this slot
    returns: Array  # [T, P] of the game that ended

    def in_net_units(self, scale: Scale) -> Trail:
        """The same with returns of the declared range in place of those of the range that results span."""
        value, best, returns = scale.invert((self.value, self.best, self.returns))
        return self._replace(value=value, best=best, returns=returns)


class Window(NamedTuple):
    """T slots of play in B lanes, what was pending before them in the first."""

    inputs: Any  # [T, B] of the net, dense or sparse: the afterstate
    viewer: Array  # [T, B] int32: the seat that it is seen from
    trail: Trail  # [T, B]


class Targets(NamedTuple):
    target: Array  # [T, P] λ-return of the slot's afterstate
    known: Array  # [T] bool: a successor was seen, so that there is something to learn from
    open: Array  # [T] bool: the lane's last afterstate, whose successor is still to come


def lambda_returns(trail: Trail, decay: float) -> Targets:
    """Targets of the forward view: G_t = (1 − λ) V_{t+1} + λ G_{t+1}, G = the returns at the end of a game.

    (Sutton and Barto 2018, eq. 12.2, in recursive form.) The last afterstate in sight bootstraps. An exploring
    move cuts the trace as in Watkins's Q(λ): what came before it learns from the best known action instead, so
    that values are those of greedy play.
    """

    def back(carry: tuple[Array, Array, Array], slot: Trail) -> tuple[tuple[Array, Array, Array], Targets]:
        value_next, target_next, seen = carry
        target = (1 - decay) * value_next + decay * target_next
        opens = slot.decided & ~slot.ended
        target_now = jnp.where(slot.explored, slot.best, jnp.where(seen, target, slot.value))
        value_now = jnp.where(slot.explored, slot.best, slot.value)
        value_before = jnp.where(slot.ended, slot.returns, jnp.where(slot.decided, value_now, value_next))
        target_before = jnp.where(slot.ended, slot.returns, jnp.where(slot.decided, target_now, target_next))
        # An exploring move that ends the game still teaches the best known action, not its own luck.
        cut = slot.ended & slot.decided & slot.explored
        value_before, target_before = (jnp.where(cut, slot.best, x) for x in (value_before, target_before))
        after = (value_before, target_before, seen | slot.decided | slot.ended)
        return after, Targets(target, opens & seen, opens & ~seen)

    nothing = jnp.zeros_like(trail.value[0])
    _, targets = jax.lax.scan(back, (nothing, nothing, jnp.array(False)), trail, reverse=True)
    return targets
