"""What all tabs of a server share: settings, players, threads, and the sessions of tabs that come back."""

from __future__ import annotations

import asyncio
import collections
import concurrent.futures
import dataclasses
import functools
import pathlib
from collections.abc import AsyncIterator, Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from boardrl.matches.replay_file import Replay
from boardrl.system import machine
from launch.serve.agents import Agents
from launch.serve.permitted import Permitted

if TYPE_CHECKING:
    from launch.serve.tab import Tab

MOST_KEPT = 2000  # records of sessions whose tab is gone
MOST_TABS = 500
Answer = TypeVar("Answer")


@dataclasses.dataclass(frozen=True)
class Start:
    """What a tab shows that asks for nothing else."""

    game: str
    seats: tuple[str, ...]
    position: str = ""
    replay: Replay | None = None


class Service:
    """The server without its sockets.

    Rules, players and analyses have threads of their own: no search makes a move of another tab wait for the rules.
    Compiled code holds no lock of Python's, so that the event loop stays free.
    """

    def __init__(self, start: Start, *, runs: pathlib.Path, typed: tuple[str, ...] = ()) -> None:
        self.start = start
        self.permitted = Permitted(runs, typed)
        self.agents = Agents(self.permitted)
        self.tabs: dict[str, Tab] = {}  # by session
        self.kept: collections.OrderedDict[str, dict[str, Any]] = collections.OrderedDict()  # records by session
        self.num_tabs = 0
        workers = max(2, machine.num_cores())
        self._rules, self._thoughts, self._analyses = (
            concurrent.futures.ThreadPoolExecutor(workers, thread_name_prefix=name)
            for name in ("rules", "thoughts", "analyses")
        )

    async def rules(self, work: Callable[..., Answer], *arguments: Any) -> Answer:
        """Calls `work` on a thread for what takes little: rules, pictures, files."""
        return await asyncio.get_running_loop().run_in_executor(self._rules, work, *arguments)

    async def thought(self, work: Callable[..., Answer], *arguments: Any) -> Answer:
        """Calls `work` on a thread for players."""
        return await asyncio.get_running_loop().run_in_executor(self._thoughts, work, *arguments)

    async def stream(self, items: Callable[[], Iterator[Answer]]) -> AsyncIterator[Answer]:
        """The items of an iterator that works on a thread for analyses."""
        loop = asyncio.get_running_loop()
        queue: asyncio.Queue[Answer | None] = asyncio.Queue()

        def work() -> None:
            try:
                for item in items():
                    loop.call_soon_threadsafe(queue.put_nowait, item)
            finally:
                if not loop.is_closed():
                    loop.call_soon_threadsafe(queue.put_nowait, None)

        future = loop.run_in_executor(self._analyses, work)
        try:
            while (item := await queue.get()) is not None:
                yield item
            await future
        finally:
            future.cancel()

    def keep(self, session: str, record: dict[str, Any]) -> None:
        """Keeps the record of a session whose tab is gone, and forgets the oldest ones beyond MOST_KEPT."""
        self.kept[session] = record
        self.kept.move_to_end(session)
        while len(self.kept) > MOST_KEPT:
            self.kept.popitem(last=False)

    def close(self) -> None:
        """Ends all threads, those that search too."""
        for tab in list(self.tabs.values()):
            tab.stop_work()
        for pool in (self._rules, self._thoughts, self._analyses):
            pool.shutdown(wait=False, cancel_futures=True)


@functools.cache
def version() -> str:
    from importlib import metadata

    return metadata.version("boardrl")
