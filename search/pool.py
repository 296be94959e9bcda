"""A pool of searchers, one for each core, each on its own thread."""

from __future__ import annotations

import concurrent.futures
import queue
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from boardrl.system import machine
from search.searcher import Searcher

Item = TypeVar("Item")
Result = TypeVar("Result")


class Pool:
    """Runs searches on threads, as compiled code releases the GIL; all searchers share one evaluator."""

    def __init__(self, make: Callable[[], Searcher], *, workers: int | None = None) -> None:
        self.searchers = [make() for _ in range(workers or machine.num_cores())]
        self._threads = concurrent.futures.ThreadPoolExecutor(len(self.searchers))
        self._idle: queue.SimpleQueue[Searcher] = queue.SimpleQueue()
        for searcher in self.searchers:
            self._idle.put(searcher)

    def load(self, params: Any) -> None:
        """Sets new parameters of the evaluator, for all searchers."""
        self.searchers[0].evaluator.load(params)

    def map(self, work: Callable[[Searcher, Item], Result], items: Sequence[Item]) -> list[Result]:
        """work(searcher, item) of every item, in their order; searchers are reset before each item."""

        def one(item: Item) -> Result:
            searcher = self._idle.get()
            try:
                searcher.reset()
                return work(searcher, item)
            finally:
                self._idle.put(searcher)

        return list(self._threads.map(one, items))
