"""What a position at the depth limit is worth, as a searcher's kernel sees it.

A kernel imports these functions from here; `search.evaluators` puts one of the modules `evaluate_*` in their place.
`weights` and `scratch` are float32 vectors that the evaluator has asked for. Values are exact in float32, so that
the table loses nothing, and lie between the least and the most that a player can get.
"""

from __future__ import annotations

from typing import Any


def prepare(rows: Any, first: int, count: int, seat: int, weights: Any, scratch: Any, work: Any) -> None:
    """Tells that these rows may soon be evaluated for a seat: some evaluators do it at once for less."""
    raise NotImplementedError


def prepare_all(rows: Any, first: int, count: int, weights: Any, scratch: Any, work: Any) -> None:
    """The same for all seats."""
    raise NotImplementedError


def evaluate(rows: Any, at: int, seat: int, weights: Any, scratch: Any, work: Any) -> Any:
    """What the position in rows[at] is worth to a seat."""
    raise NotImplementedError


def evaluate_all(rows: Any, at: int, out: Any, weights: Any, scratch: Any, work: Any) -> None:
    """Writes [P] float64: what the position in rows[at] is worth to each player."""
    raise NotImplementedError


def sample_all(rows: Any, at: int, out: Any, stream: Any, weights: Any, scratch: Any, work: Any) -> None:
    """Like `evaluate_all`; what leaves something to chance draws by the stream (`search.kernel.random_stream`)."""
    raise NotImplementedError
