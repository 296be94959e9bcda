"""One line of a benchmark."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Row(NamedTuple):
    """What is measured: each function does its work once, already compiled, and returns a rate per second."""

    name: str
    unit: str
    ours: Callable[[], float]
    peer_name: str = ""
    peer: Callable[[], float] | None = None
