"""What Q-learning asks of a game beyond its facet, as a kernel sees it: compiled from JAX by algorithms.tabular.

Like boardrl.host.slots this is only a list of names: `host.specialise` puts a game's own functions in their place.
"""

from __future__ import annotations

from typing import Any

Q_WORDS = 1  # of the workspace of these functions
NUM_KEYS = 1  # K: 1 where all actions share a key, else A
KEY_WORDS = 1  # W
NUM_VALUES = 1  # V of an entry: A where all actions share a key, else 1


def encode(row: Any, out: Any, work: Any) -> None:
    """Writes [K * W] uint32: the keys of the actor's actions."""
    raise NotImplementedError


def allowed(row: Any, out: Any, work: Any) -> None:
    """Writes [MASK_WORDS] uint64: the actions that are considered, at least one at every decision."""
    raise NotImplementedError


def rival(row: Any, number: Any, out: Any, work: Any) -> None:
    """Writes [A] float32: the weights by which the opponent of that number draws its action."""
    raise NotImplementedError


def settle(row: Any, move: Any, out: Any, work: Any) -> None:
    """Writes the state after an outcome."""
    raise NotImplementedError


def act(row: Any, move: Any, out: Any, work: Any) -> None:
    """Writes the state after an action."""
    raise NotImplementedError


def own_events(before: Any, after: Any, player: Any, out: Any, work: Any) -> None:
    """Writes [E + 1] float32: how often each rewarded event happened to a player by its own decision, then 0."""
    raise NotImplementedError


def other_events(before: Any, after: Any, player: Any, out: Any, work: Any) -> None:
    """The same of another player's decision, for the events that it can bring."""
    raise NotImplementedError


def dice_events(before: Any, after: Any, player: Any, out: Any, work: Any) -> None:
    """The same of an outcome, for the events that it can bring."""
    raise NotImplementedError
