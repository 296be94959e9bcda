"""Evaluators of positions at the depth limit: none, features, nets, playouts."""

from search.evaluators.evaluator import (
    MOST_PLAYOUTS,
    PLAYOUTS,
    Evaluator,
    batched_net,
    chooses_batches,
    default,
    learned,
    linear,
    misfit,
    named,
    net,
    none,
    of_text,
    playouts,
    td,
)

__all__ = [
    "MOST_PLAYOUTS",
    "PLAYOUTS",
    "Evaluator",
    "batched_net",
    "chooses_batches",
    "default",
    "learned",
    "linear",
    "misfit",
    "named",
    "net",
    "none",
    "of_text",
    "playouts",
    "td",
]
