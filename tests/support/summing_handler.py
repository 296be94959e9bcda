"""A handler of workers for the tests: sums, and the ways in which work goes wrong."""

from __future__ import annotations

import os
import pathlib
import signal
import time
from typing import Any, Self

import numpy as np

from boardrl.errors import UserError
from boardrl.workers.job import Handler


class Sums(Handler):
    """The sum of what is shared and some numbers drawn by the item's seed, and the process that found it."""

    def __init__(self, marker: str) -> None:
        self.marker, self.shared, self.loads = marker, np.zeros(3), 0

    @classmethod
    def to_data(cls, marker: str) -> Any:
        return None if marker == "here" else {"marker": marker}

    @classmethod
    def from_data(cls, data: Any) -> Self:
        return cls(data["marker"])

    @classmethod
    def name(cls, item: Any) -> str:
        return f"sum {item}"

    def load(self, shared: Any) -> None:
        self.shared, self.loads = shared, self.loads + 1

    def run(self, item: int) -> Any:
        if item == 5 and self.marker not in ("", "here") and not os.path.exists(self.marker):
            pathlib.Path(self.marker).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if item == 99:
            raise UserError("99 cannot be summed; expected less")
        if item == 98:
            raise RuntimeError("a bug")
        if item == 97:
            time.sleep(60)
        drawn = np.random.default_rng(item).random(3)
        return {"sum": drawn + self.shared, "process": os.getpid(), "loads": self.loads}


class ThreadedSums(Sums):
    LOCALLY = "threads"
