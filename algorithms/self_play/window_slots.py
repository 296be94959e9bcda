"""Slots of what compiled TD learning needs of a game beyond its rules and players: the inputs of its net.

Filled by `algorithms.self_play.windows`, which lowers it from JAX.
"""

from __future__ import annotations

from typing import Any

INPUT_WORDS = 1  # W of the inputs of one position
SHOW_WORDS = 1  # of the workspace of `show`


def viewer_of(row: Any, player: Any, work: Any) -> int:
    """The seat from whose side the net sees a position, given a player drawn by lot."""
    raise NotImplementedError("a slot, filled by algorithms.self_play.windows")


def show(row: Any, player: Any, out: Any, work: Any) -> None:
    """Writes [W] words: what the net is shown of a position as a player sees it, dense or sparse."""
    raise NotImplementedError("a slot, filled by algorithms.self_play.windows")
