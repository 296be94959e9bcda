"""Slots of a player's observation as a list of its inputs.

Filled by `search.evaluators.evaluator.td` with the module of `boardrl.host.lower_inputs`.
"""

from __future__ import annotations

from typing import Any

NUM_INPUTS = 1  # K
INPUT_WORDS = 1  # of what `inputs` writes


def inputs(row: Any, player: int, out: Any, work: Any) -> None:
    """Writes [K] int32 places in the observation and [K] float32 numbers, which add up to it."""
    raise NotImplementedError("a slot, filled by search.evaluators.evaluator")
