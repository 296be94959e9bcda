"""What a position at the depth limit is worth, as a searcher's kernel sees it.

A kernel imports these functions from here; `search.evaluators` puts one of the modules `evaluate_*` in their place.
`weights` and `scratch` are float32 vectors that the evaluator has asked for. Values are exact in float32, so that
the table loses nothing, and lie between the least and the most that a player can get.
"""

from __future__ import annotations

from typing import Any


def evaluate(row: Any, seat: int, weights: Any, scratch: Any, work: Any) -> Any:
    """What the position is worth to a seat."""
    raise NotImplementedError


def evaluate_all(row: Any, out: Any, weights: Any, scratch: Any, work: Any) -> None:
    """Writes [P] float64: what the position is worth to each player."""
    raise NotImplementedError
