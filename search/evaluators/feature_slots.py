"""Slots of a set of features.

Filled by `search.evaluators.evaluator.linear`: with the game's facet, or with one of the facet's feature sets.
"""

from __future__ import annotations

from typing import Any

NUM_FEATURES = 0  # F


def features(row: Any, player: int, out: Any, work: Any) -> None:
    """Writes [F] float32: the features of the position, as a player sees it."""
    raise NotImplementedError("a slot, filled by search.evaluators.evaluator")
