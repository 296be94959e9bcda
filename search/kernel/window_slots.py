"""Slots of the search window: what Negascout adds to alpha-beta.

Filled as the searcher declares: for `alphabeta` with `search.kernel.full_window`, for `negascout` with
`search.negascout`.
"""

from __future__ import annotations

from typing import Any


def first_beta(number: int, floor: Any, beta: Any) -> Any:
    """The upper end of the window in which move `number` of a node is searched first; its lower end is `floor`."""
    raise NotImplementedError("a slot, filled by search.alphabeta or search.negascout")


def needs_research(value: Any, floor: Any, high: Any, beta: Any) -> Any:
    """Whether a value found in the window (floor, high) is only a bound that the window (floor, beta) would refine."""
    raise NotImplementedError("a slot, filled by search.alphabeta or search.negascout")
