"""A worker's side: a task arrives as bytes, its answer leaves as bytes."""

from __future__ import annotations

import functools
import hashlib
import os
import pathlib
import platform
import sys
import time
import traceback
from collections.abc import Sequence
from typing import Any

import jax

from boardrl import trust
from boardrl.errors import UserError
from boardrl.workers import addresses, versions
from boardrl.workers.job import Handler, Handlers, Job
from boardrl.workers.packing import pack, unpack


class Packed:
    """A job as bytes."""

    def __init__(self, job: Job, data: Any, number: str, *, path: Sequence[str] = (), delay: float = 0.0) -> None:
        """Args:
        path: folders that a worker on the same machine imports from too, such as the current one.
        """
        self.job, self.number, self._data = job, number, data
        address = addresses.of(job.handler)
        self._common = {
            "handler": address,
            "key": hashlib.sha256(address.encode() + pack(data)).hexdigest(),
            "job": number,
            "trusted": trust.is_granted(),
            "versions": versions.versions(),
            "path": list(path),
            "delay": delay,
        }

    @functools.cached_property
    def shared(self) -> bytearray:
        """What all tasks share: the handler's arguments too, which may have files in them."""
        return pack({"data": self._data, "shared": self.job.handler.shared_to_data(self.job.shared)})

    def task(self, batch: list[int], **more: Any) -> bytearray:
        """The task of doing some items, by their index."""
        items = [self.job.handler.item_to_data(self.job.items[index], self.job.shared) for index in batch]
        return pack({**self._common, **more, "items": items})

    def results(self, answer: Answer) -> list[Any]:
        """The results of a task as the job's owner wants them."""
        return [self.job.handler.result_from_data(found, self.job.shared) for found in answer.results]


class Answer:
    """What a worker sends back."""

    def __init__(self, buffer: Any) -> None:
        found = unpack(buffer)
        if "mistake" in found:
            if found["traceback"]:
                print(found["traceback"], file=sys.stderr)
            raise UserError(found["mistake"])
        self.results: list[Any] = found["results"]
        self.seconds: float = found["seconds"]


def answer(handlers: Handlers, task: Any, shared: Any, *, place: str = "") -> bytearray:
    """Does a task, and packs its results, or the sentence that says why there are none.

    Args:
      shared: the packed data that all tasks of a job share.
      place: the machine, for messages.
    """
    try:
        return _answer(handlers, task, shared)
    except UserError as error:
        return pack({"mistake": f"{place}{error}", "traceback": ""})
    except Exception as error:
        sentence = f"{place}a worker failed: {type(error).__name__}: {error}; its traceback is above"
        return pack({"mistake": sentence, "traceback": traceback.format_exc()})


def _answer(handlers: Handlers, task: Any, shared: Any) -> bytearray:
    asked = unpack(task)
    if differs := versions.difference(asked["versions"]):
        raise UserError(f"this worker has {differs}; install the same on all machines")
    sys.path += [folder for folder in asked["path"] if folder not in sys.path]
    if asked["delay"]:
        time.sleep(asked["delay"])
    with trust.granted(asked["trusted"]):

        def make() -> Handler:
            made: Handler = addresses.find(asked["handler"]).from_data(unpack(shared)["data"])
            return made

        handler = handlers.ready(asked["key"], make, asked["job"], lambda: unpack(shared)["shared"])
        began = time.perf_counter()
        results = [handler.run(item) for item in asked["items"]]
        return pack({"results": results, "seconds": time.perf_counter() - began})


def prepare(compile_cache: str | None = None) -> None:
    """Settings of a worker process, before its first task."""
    jax.config.update("jax_platforms", "cpu")  # many processes cannot share one accelerator
    folder = pathlib.Path(os.environ.get("BOARDRL_CACHE", pathlib.Path.home() / ".cache" / "boardrl"))
    jax.config.update("jax_compilation_cache_dir", compile_cache or str(folder / "jax"))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)


def place() -> str:
    """This machine, before a worker's message."""
    return f"a worker on {platform.node()}: "
