"""Jobs: many items of work for one handler, which any process can make from plain data."""

from __future__ import annotations

import abc
import collections
import threading
from collections.abc import Callable, Hashable, Sequence
from typing import Any, ClassVar, Literal, NamedTuple, Self

MOST_HANDLERS = 4  # of a worker, which keeps those that it used last: their compiled code and memory


class Handler(abc.ABC):
    """Does the items of a job; the result of an item depends on the item, the arguments and what is shared alone.

    All randomness of an item comes from seeds in it, so that it does not matter where, when and how often it is done.
    A class at the top level of a module, made by `Class(*arguments)`.
    """

    # Who does items on this machine: threads, where `run` is mostly compiled code that releases the GIL; processes; or
    # the caller's thread alone, where `run` uses all cores by itself.
    LOCALLY: ClassVar[Literal["threads", "processes", "caller"]] = "processes"

    @classmethod
    @abc.abstractmethod
    def to_data(cls, *arguments: Any, **_: Any) -> Any:
        """The arguments as data (boardrl.workers.packing); None: they mean nothing in another process."""

    @classmethod
    @abc.abstractmethod
    def from_data(cls, data: Any) -> Self:
        """The same handler in another process."""

    @classmethod
    @abc.abstractmethod
    def name(cls, item: Any) -> str:
        """An item in messages: 'game 3 of the match'."""

    def load(self, shared: Any) -> None:  # noqa: B027
        """Takes what all items of a job share, such as the parameters of an update: once a job."""

    @abc.abstractmethod
    def run(self, item: Any) -> Any:
        """The result of an item, which is data."""

    # Where threads of this process should use objects as they are: the same as data, for the handler of `from_data`.

    @classmethod
    def shared_to_data(cls, shared: Any) -> Any:
        return shared

    @classmethod
    def item_to_data(cls, item: Any, shared: Any) -> Any:
        return item

    @classmethod
    def result_from_data(cls, result: Any, shared: Any) -> Any:
        return result


class Job(NamedTuple):
    """Items of work that do not depend on each other."""

    handler: type[Handler]
    arguments: tuple[Hashable, ...]  # by which each worker makes the handler, and keeps it for the next jobs
    items: Sequence[Any]  # data
    shared: Any = None  # data that travels once, not with every item

    def data(self) -> Any:
        """What another process makes the handler from; None if it cannot."""
        return self.handler.to_data(*self.arguments)


_making = threading.Lock()  # modules that are compiled for a game are not loaded by two threads at a time


class Handlers:
    """The handlers that one worker has made, the last few of them."""

    def __init__(self) -> None:
        self._made: collections.OrderedDict[Hashable, tuple[Handler, Hashable]] = collections.OrderedDict()

    def ready(self, key: Hashable, make: Callable[[], Handler], job: Hashable, shared: Callable[[], Any]) -> Handler:
        """The handler of a key with what the job shares loaded; both only if they are not yet."""
        handler, loaded = self._made.pop(key, (None, None))
        if handler is None:
            with _making:
                handler = make()
        if loaded != job:
            handler.load(shared())
        self._made[key] = handler, job
        while len(self._made) > MOST_HANDLERS:
            self._made.popitem(last=False)
        return handler
