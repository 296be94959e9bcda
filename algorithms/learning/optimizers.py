"""Gradient steps of learners: Adam's, or plain ones."""

from __future__ import annotations

from typing import Any, Literal

import jax
import optax
from jax import Array

Optimizer = Literal["adam", "sgd"]


def init(optimizer: Optimizer, params: Any, *, keep: float = 0.0) -> Any:
    """What the optimizer remembers, before the first step."""
    return _transformation(optimizer, keep).init(params)


def step(
    optimizer: Optimizer, params: Any, momentum: Any, gradient: Any, *, rate: Array, keep: float = 0.0
) -> tuple[Any, Any]:
    """(params, momentum) after a step θ ← θ − rate · d, with d the gradient or what Adam makes of it.

    Args:
      keep: share of the d before that is added to a plain one.
    """
    with jax.numpy_dtype_promotion("standard"):  # optax raises a float to the power of its integer count
        direction, momentum = _transformation(optimizer, keep).update(gradient, momentum)
    return jax.tree.map(lambda p, d: p - rate * d, params, direction), momentum


def _transformation(optimizer: Optimizer, keep: float) -> optax.GradientTransformation:
    if optimizer == "adam":
        return optax.scale_by_adam()
    return optax.trace(keep) if keep else optax.identity()
