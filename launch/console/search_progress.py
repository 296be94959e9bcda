"""A search that shows its progress and can be stopped with Ctrl-C."""

from __future__ import annotations

import concurrent.futures
import sys
import time
from collections.abc import Callable
from typing import Any, TypeVar

from boardrl.runs import progress
from search.analysis import multi_pv
from search.analysis.multi_pv import Ranking
from search.budget import Budget
from search.kernel import control_block
from search.result import Result
from search.searcher import Searcher

LOOK_SECONDS = 0.2
Found = TypeVar("Found")


def note_if_unlimited(budget: Budget) -> None:
    """Warns the user about a search without limits."""
    if not (budget.ms or budget.nodes or budget.depth):  # a time limit per game does not limit one position
        print(
            "note: no --ms, --nodes or --depth is given: the search runs to the end of the game, which may take for "
            "ever; Ctrl-C ends it",
            file=sys.stderr,
        )


def search(searcher: Searcher, state: Any) -> Result:
    """Runs `searcher.search(state)`, in compiled code on another thread, while this one shows the progress."""
    return _watched(searcher, lambda: searcher.search(state))


def best_moves(searcher: Searcher, state: Any, count: int) -> Ranking:
    """What `multi.best_moves` returns."""
    return _watched(searcher, lambda: multi_pv.best_moves(searcher, state, count))


def _watched(searcher: Searcher, work: Callable[[], Found]) -> Found:
    control, budget = searcher.memory.control, searcher.budget
    began = time.monotonic()
    with (
        concurrent.futures.ThreadPoolExecutor(1) as pool,
        progress.track("searching", budget.nodes, "nodes") as bar,
    ):
        future = pool.submit(work)
        try:
            while not concurrent.futures.wait([future], LOOK_SECONDS).done:
                spent = progress.clock(time.monotonic() - began)
                limit = f" of {progress.clock(budget.ms / 1e3)}" if budget.ms else ""
                bar.update(int(control[control_block.NODES]), f"depth {searcher.depth}, {spent}{limit}")
            return future.result()
        except KeyboardInterrupt:
            searcher.stop()
            concurrent.futures.wait([future])
            raise
