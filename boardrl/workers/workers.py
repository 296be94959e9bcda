"""The interface to workers, and the workers in use: `active()`."""

from __future__ import annotations

import abc
import contextlib
import contextvars
import dataclasses
import itertools
from collections.abc import Callable, Generator, Iterator
from typing import Any

from boardrl.workers.job import Job


@dataclasses.dataclass
class Traffic:
    """What has travelled to and from other processes."""

    tasks: int = 0  # batches of items
    items: int = 0
    shared: int = 0  # bytes that all tasks of a job share, as they left
    sent: int = 0  # bytes of tasks
    received: int = 0  # bytes of results
    busy: float = 0.0  # seconds that workers spent on items
    made_again: int = 0  # tasks whose worker died

    def since(self, before: Traffic) -> Traffic:
        """The difference to an earlier count."""
        pairs = zip(dataclasses.astuple(self), dataclasses.astuple(before), strict=True)
        return Traffic(*(now - then for now, then in pairs))


class Workers(abc.ABC):
    """Hands out the items of jobs, and takes their results.

    How many workers there are, and which of them does an item, changes no result.
    """

    def __init__(self) -> None:
        self.traffic = Traffic()

    @property
    @abc.abstractmethod
    def count(self) -> int:
        """How many items are done at a time."""

    @abc.abstractmethod
    def run(self, job: Job) -> Generator[tuple[int, Any]]:
        """(index of an item, its result) of all items, in the order in which they are done.

        An item whose worker dies is done again by another. Closing the generator abandons what is under way.
        """

    def map(self, job: Job) -> list[Any]:
        """The results in the order of the items."""
        found = dict(self.run(job))
        return [found[index] for index in range(len(job.items))]

    @abc.abstractmethod
    def check(self, game: str) -> None:
        """Raises UserError if some worker cannot work for this process, or has no game of this text."""

    @abc.abstractmethod
    def close(self) -> None:
        """Ends the workers."""

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_active: contextvars.ContextVar[Workers | None] = contextvars.ContextVar("workers", default=None)
_default: Callable[[], Workers]


def active() -> Workers:
    """The workers in use; by default threads of this process, and processes that end with each job."""
    return _active.get() or _default()


def in_use() -> bool:
    """Whether workers were asked for."""
    return _active.get() is not None


def set_default(make: Callable[[], Workers]) -> None:
    """Where no workers are in use, these are."""
    global _default
    _default = make


@contextlib.contextmanager
def lent(workers: Workers) -> Iterator[Workers]:
    """Within the block these workers are in use; they stay open."""
    token = _active.set(workers)
    try:
        yield workers
    finally:
        _active.reset(token)


@contextlib.contextmanager
def using(workers: Workers) -> Iterator[Workers]:
    """Within the block these workers are in use; they are closed at its end."""
    with workers, lent(workers):
        yield workers


_numbers = itertools.count()


def next_number() -> int:
    """A number for a job, which no other job of this process has."""
    return next(_numbers)
