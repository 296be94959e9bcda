"""One line of a benchmark, and what the suites share."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

from boardrl.errors import UserError


class Row(NamedTuple):
    """What is measured: each function does its work once, already compiled, and returns a rate per second."""

    name: str
    unit: str
    ours: Callable[[], float]
    peer_name: str = ""
    peer: Callable[[], float] | None = None


def processor_seconds(work: Callable[[], Any]) -> float:
    """Of the thread that calls, so that what else runs on the machine matters little."""
    began = time.thread_time()
    work()
    return max(time.thread_time() - began, 1e-9)


def missing(package: str) -> UserError:
    return UserError(f"the suite compares with {package}, which is not installed: pip install -e '.[bench]'")
