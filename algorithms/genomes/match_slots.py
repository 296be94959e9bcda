"""What matches of a population ask of a game beyond its facet: compiled from JAX by algorithms.genomes.matches.

Like boardrl.host.slots this is only a list of names: `host.specialise` puts a game's own functions in their place.
"""

from __future__ import annotations

from typing import Any

MATCH_WORDS = 1  # of the workspace of these functions


def considered(row: Any, out: Any, work: Any) -> None:
    """Writes [A] bool: the actions that a member considers, at least one at every decision."""
    raise NotImplementedError


def decide(params: Any, row: Any, out: Any, work: Any) -> None:
    """Writes [A] float32: the logits of the member with these parameters."""
    raise NotImplementedError


def rival(row: Any, number: Any, out: Any, work: Any) -> None:
    """Writes [A] float32: the logits of the opponent of that number."""
    raise NotImplementedError


def settle(row: Any, move: Any, out: Any, work: Any) -> None:
    """Writes the state after an outcome."""
    raise NotImplementedError


def act(row: Any, move: Any, out: Any, work: Any) -> None:
    """Writes the state after an action."""
    raise NotImplementedError
