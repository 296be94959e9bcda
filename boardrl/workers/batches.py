"""How many items travel together: batches that last about a second, and end at about the same time."""

from __future__ import annotations

import collections
from collections.abc import Sequence

SECONDS = 1.0  # that a batch should last, as handing one out costs some milliseconds
SHARES = 2  # batches that each worker still gets at the end, so that none waits long for the last


class Batches:
    """The items of a job that are still to be handed out, by their index."""

    def __init__(self, count: int, seconds: float | None = None) -> None:
        self._left = collections.deque(range(count))
        self._again: list[Sequence[int]] = []  # batches whose worker died
        self.seconds = seconds  # of an item, as far as it is known

    def __bool__(self) -> bool:
        return bool(self._left or self._again)

    def __len__(self) -> int:
        return len(self._left) + sum(map(len, self._again))

    def next(self, workers: int) -> list[int]:
        """The next batch, where so many workers take batches."""
        if self._again:
            return list(self._again.pop())
        most = max(int(SECONDS / self.seconds), 1) if self.seconds else 1
        fair = -(-len(self._left) // (SHARES * workers))
        return [self._left.popleft() for _ in range(min(most, fair, len(self._left)))]

    def took(self, seconds: float, items: int) -> None:
        """Learns from a batch how long an item takes."""
        self.seconds = max(seconds / items, 1e-6)

    def lost(self, batch: Sequence[int]) -> None:
        """The worker of a batch died: its items are handed out again, one by one."""
        self._again += [[index] for index in batch]
