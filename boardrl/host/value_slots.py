"""Slots of a compiled value function: `from boardrl.host.value_slots import EVALUATOR_WORDS, evaluate`.

Filled by `host.specialise(kernel, facet, evaluator=module)` with the module of a `host.lower_value`, such as that of a
net.
"""

from __future__ import annotations

from typing import Any

EVALUATOR_WORDS = 1  # of the workspace that `evaluate` needs


def evaluate(params: Any, row: Any, player: Any, out: Any, work: Any) -> None:
    """Writes [P] float32: the value to each player, as one of them sees the state; `params` is a flat array of data."""
    raise NotImplementedError("a slot, filled by boardrl.host.value")


def evaluate_all(params: Any, row: Any, out: Any, work: Any) -> None:
    """Writes [P] float32: the value to each player, as that player sees the state."""
    raise NotImplementedError("a slot, filled by boardrl.host.value")
