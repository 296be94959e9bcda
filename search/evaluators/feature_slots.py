"""A game's features, as the linear evaluator sees them; `search.evaluators` puts those of a game in their place."""

from __future__ import annotations

from typing import Any

NUM_FEATURES = 0  # F


def features(row: Any, player: int, out: Any, work: Any) -> None:
    """Writes [F] float32: what the evaluation weighs."""
    raise NotImplementedError
