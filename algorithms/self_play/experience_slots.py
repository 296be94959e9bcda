"""Slots of what compiled Q-learning needs of a game beyond its rules and players: rewards.

Filled by `algorithms.self_play.experiences`, which lowers it from JAX.
"""

from __future__ import annotations

from typing import Any

REWARD_WORDS = 1  # of the workspace of `reward`


def reward(worth: Any, before: Any, after: Any, out: Any, work: Any) -> None:
    """Writes [P] float32: what each player gets for one step, given the [E] worth of each event."""
    raise NotImplementedError("a slot, filled by algorithms.self_play.experiences")
