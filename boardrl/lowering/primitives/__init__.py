"""The table of primitives, one module for each kind."""

from __future__ import annotations

import importlib

PARTS = (
    "elementwise",
    "shape",
    "reduce",
    "indexing",
    "order",
    "linear",
    "sparse",
    "control",
    "bits",
    "bits_moved",
    "bits_reduce",
)


def load() -> None:
    """Fills the table."""
    for part in PARTS:
        importlib.import_module(f"boardrl.lowering.primitives.{part}")
