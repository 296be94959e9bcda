"""Optimizers: Adam, or plain gradient descent (SGD) with or without momentum."""

from __future__ import annotations

from typing import Any, Literal

import jax
import optax
from jax import Array

Optimizer = Literal["adam", "sgd"]


def init(optimizer: Optimizer, params: Any, *, momentum: float = 0.0) -> Any:
    """The optimizer's state before the first step."""
    return _transformation(optimizer, momentum).init(params)


def step(
    optimizer: Optimizer, params: Any, state: Any, gradient: Any, *, rate: Array, momentum: float = 0.0
) -> tuple[Any, Any]:
    """(params, state) after a step θ ← θ − rate · d, with d the gradient or what Adam makes of it.

    Args:
      momentum: of SGD: d ← gradient + momentum · d.
    """
    with jax.numpy_dtype_promotion("standard"):  # optax raises a float to the power of its integer count
        direction, state = _transformation(optimizer, momentum).update(gradient, state)
    return jax.tree.map(lambda p, d: p - rate * d, params, direction), state


def _transformation(optimizer: Optimizer, momentum: float) -> optax.GradientTransformation:
    if optimizer == "adam":
        return optax.scale_by_adam()
    return optax.trace(momentum) if momentum else optax.identity()
