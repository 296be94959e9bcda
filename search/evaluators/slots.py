"""Slots of the evaluator: the value of a position at the depth limit.

Filled by `search.searcher.Searcher` with `Evaluator.module`, which `search.evaluators.evaluator` specialises from
`none_kernel`, `linear_kernel`, `net_kernel`, `batched_net_kernel`, `playouts_kernel` or `td_kernel`.

`weights` and `scratch` are float32 vectors of the sizes that the evaluator asks for. Values are exact in float32, so
that the transposition table loses nothing, and lie between the lowest and the highest return of a player.
"""

from __future__ import annotations

from typing import Any

BATCHED = False  # whether `prepare` does anything


def prepare(rows: Any, first: int, count: int, seat: int, weights: Any, scratch: Any, work: Any) -> None:
    """Announces rows that may soon be evaluated for a seat: some evaluators value a batch for less."""
    raise NotImplementedError("a slot, filled by search.evaluators.evaluator")


def prepare_all(rows: Any, first: int, count: int, weights: Any, scratch: Any, work: Any) -> None:
    """The same for all seats."""
    raise NotImplementedError("a slot, filled by search.evaluators.evaluator")


def evaluate(rows: Any, at: int, seat: int, weights: Any, scratch: Any, work: Any) -> Any:
    """The value of the position in rows[at] to a seat."""
    raise NotImplementedError("a slot, filled by search.evaluators.evaluator")


def evaluate_all(rows: Any, at: int, out: Any, weights: Any, scratch: Any, work: Any) -> None:
    """Writes [P] float64: the value of the position in rows[at] to each player."""
    raise NotImplementedError("a slot, filled by search.evaluators.evaluator")


def sample_all(rows: Any, at: int, out: Any, stream: Any, weights: Any, scratch: Any, work: Any) -> None:
    """Like `evaluate_all`; a random evaluator draws from the stream (`search.kernel.random_stream`), and one
    that learns may learn from the position."""
    raise NotImplementedError("a slot, filled by search.evaluators.evaluator")
