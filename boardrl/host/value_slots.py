"""The compiled evaluation of a position, as a kernel sees it.

A kernel imports it as in `from boardrl.host.value_slots import EVALUATOR_WORDS, evaluate`;
`host.specialise(kernel, facet, evaluator=module)` takes these from a module that has them,
such as the one `host.lower_value` makes of a net.
"""

from __future__ import annotations

from typing import Any

EVALUATOR_WORDS = 1  # of the workspace that `evaluate` needs


def evaluate(params: Any, row: Any, player: Any, out: Any, work: Any) -> None:
    """Writes [P] float32: what each player can expect, as one of them sees it; `params` are flat, and data."""
    raise NotImplementedError


def evaluate_all(params: Any, row: Any, out: Any, work: Any) -> None:
    """Writes [P] float32: what each player can expect, as it sees the position itself."""
    raise NotImplementedError
