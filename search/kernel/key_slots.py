"""Slots of the position key: by what the transposition table knows a position.

Filled by `search.searcher.Searcher`: with `search.kernel.plain_key`, or with `search.kernel.symmetric_key` where the
option `symmetry` is on.
"""

from __future__ import annotations

from typing import Any


def position_key(rows: Any, at: int, top: int, control: Any, work: Any) -> Any:
    """64 bits of the position in rows[at], the same for positions of the same value; rows from `top` on are free."""
    raise NotImplementedError("a slot, filled by search.searcher")
