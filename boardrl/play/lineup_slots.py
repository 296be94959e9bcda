"""Slots of compiled players: `from boardrl.play.lineup_slots import LINEUP_WORDS, value`.

Filled by `boardrl.play.lineup.lower`. The players of a lineup have numbers from 0 on; `params` is the flat array of
`Lineup.params`, which holds the parameters of all of them: new parameters compile nothing anew.
"""

from __future__ import annotations

from typing import Any

LINEUP_WORDS = 1  # of the workspace of these functions
BY_VALUE = (True,)  # of each player: whether it decides by `value` of afterstates, else by `logits`
BY_RETURNS = (True,)  # whether an afterstate where the game is over is worth its returns to it, else its `value`
BY_MARGIN = (False,)  # whether its utility is its own value less that of all others, else its own value


def value(number: Any, params: Any, row: Any, player: Any, out: Any, work: Any) -> None:
    """Writes [P] float32: the value of a state to each player, as `player` sees it, by the net of player `number`."""
    raise NotImplementedError("a slot, filled by boardrl.play.lineup")


def logits(number: Any, params: Any, row: Any, out: Any, work: Any) -> None:
    """Writes [A] float32: the logits of player `number` at a decision; those of illegal actions mean nothing."""
    raise NotImplementedError("a slot, filled by boardrl.play.lineup")
