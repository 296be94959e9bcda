"""One row of a benchmark, and helpers that the suites share."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

from boardrl.errors import UserError


class Row(NamedTuple):
    """A measurement: each function does its work once, already compiled, and returns a rate per second."""

    name: str
    unit: str
    ours: Callable[[], float]
    peer_name: str = ""
    peer: Callable[[], float] | None = None


def processor_seconds(work: Callable[[], Any]) -> float:
    """Processor time of the calling thread, which other load on the machine hardly affects."""
    began = time.thread_time()
    work()
    return max(time.thread_time() - began, 1e-9)


def missing(package: str) -> UserError:
    return UserError(f"the suite compares with {package}, which is not installed: pip install -e '.[bench]'")
