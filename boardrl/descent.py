"""Gradient steps of learners: Adam's, or plain ones."""

from __future__ import annotations

from typing import Any, Literal

import jax
import optax
from jax import Array

Optimizer = Literal["adam", "sgd"]


def init(optimizer: Optimizer, params: Any) -> Any:
    """What the optimizer remembers, before the first step."""
    return _transformation(optimizer).init(params)


def step(optimizer: Optimizer, params: Any, momentum: Any, gradient: Any, *, rate: Array) -> tuple[Any, Any]:
    """(params, momentum) after a step θ ← θ − rate · d, with d the gradient or what Adam makes of it."""
    with jax.numpy_dtype_promotion("standard"):  # optax raises a float to the power of its integer count
        direction, momentum = _transformation(optimizer).update(gradient, momentum)
    return jax.tree.map(lambda p, d: p - rate * d, params, direction), momentum


def _transformation(optimizer: Optimizer) -> optax.GradientTransformation:
    return optax.scale_by_adam() if optimizer == "adam" else optax.identity()
