"""Slots of what matches of a population need of a game beyond its facet: the members' decisions and their opponents'.

Filled by `algorithms.genomes.matches`, which lowers these functions from JAX.
"""

from __future__ import annotations

from typing import Any

MATCH_WORDS = 1  # of the workspace of these functions


def considered(row: Any, out: Any, work: Any) -> None:
    """Writes [A] bool: the actions that a member considers, at least one at every decision."""
    raise NotImplementedError("a slot, filled by algorithms.genomes.matches")


def decide(params: Any, row: Any, out: Any, work: Any) -> None:
    """Writes [A] float32: the logits of the member with these parameters."""
    raise NotImplementedError("a slot, filled by algorithms.genomes.matches")


def rival(row: Any, number: Any, out: Any, work: Any) -> None:
    """Writes [A] float32: the logits of the opponent of that number."""
    raise NotImplementedError("a slot, filled by algorithms.genomes.matches")


def settle(row: Any, move: Any, out: Any, work: Any) -> None:
    """Writes the state after an outcome."""
    raise NotImplementedError("a slot, filled by algorithms.genomes.matches")


def act(row: Any, move: Any, out: Any, work: Any) -> None:
    """Writes the state after an action."""
    raise NotImplementedError("a slot, filled by algorithms.genomes.matches")
