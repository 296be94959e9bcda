"""Workers of a Ray cluster: one that is started on this machine, or one that is running.

Ray schedules tasks, does those of dead processes again and moves data; what it is given is bytes, and the name of a
function of ours.
"""

from __future__ import annotations

import os
import socket
import sys
import time
import uuid
import warnings
from collections.abc import Generator
from typing import Any

import numpy as np

from boardrl import registry
from boardrl.errors import UserError
from boardrl.system import machine
from boardrl.workers import remote, versions, workers
from boardrl.workers.batches import Batches
from boardrl.workers.job import Handlers, Job
from boardrl.workers.local import Local
from boardrl.workers.remote import Answer, Packed
from boardrl.workers.workers import Workers

MOST_RETRIES = 10  # that Ray gives a task whose process or machine dies
AHEAD = 1.5  # tasks in Ray's hands for each processor, so that none waits for this process
CONNECT_SECONDS = 5.0  # for an address to answer
CHECK_SECONDS = 120.0  # for each machine to start a worker and to say what it has
STORE_BYTES = 256 << 20  # of shared memory of a Ray that we start: parameters and results, soon dropped
COUNT_SECONDS = 5.0  # between two looks at how many processors the cluster has
INSTALL = "pip install 'boardrl[ray]', or -e '.[ray]' in a checkout"


class Ray(Workers):
    """Every processor of a Ray cluster is a worker.

    Args:
      address: HOST:PORT of a running cluster; empty: one is started on this machine, and ended by `close`.
      count: processors of a Ray that is started; None: those of this machine.
      delay: seconds that every task waits before it begins, as a slower network would make it.
    """

    def __init__(self, address: str = "", *, count: int | None = None, delay: float = 0.0) -> None:
        super().__init__()
        self._ray = _import_ray()
        self._delay, self._name, self._seconds = delay, uuid.uuid4().hex, {}
        self._path = [] if address else [os.path.abspath(folder) for folder in sys.path]
        self._here: Local | None = None
        self._connect(address, count)
        self._task = self._ray.remote(num_cpus=1, max_retries=MOST_RETRIES)(answer)
        self._counted, self._count = 0.0, 0
        if not self.count:
            self.close()
            raise UserError(f"the Ray cluster{' at ' + address if address else ''} has no processor; add a machine")

    _seconds: dict[str, float]  # of an item, by handler

    @property
    def count(self) -> int:
        if time.monotonic() > self._counted + COUNT_SECONDS:
            self._count = int(self._ray.cluster_resources().get("CPU", 0))
            self._counted = time.monotonic()
        return self._count

    def run(self, job: Job) -> Generator[tuple[int, Any]]:
        if (data := job.data()) is None:  # nobody else can do it
            self._here = self._here or Local()
            yield from self._here.run(job)
            return
        number = f"{self._name}-{workers.next_number()}"
        packed = Packed(job, data, number, path=self._path, delay=self._delay)
        shared = self._ray.put(np.frombuffer(packed.shared, np.uint8))
        self.traffic.shared += len(packed.shared)
        batches = Batches(len(job.items), self._seconds.get(job.handler.__qualname__))
        under_way: dict[Any, list[int]] = {}
        # A job that is left unfinished leaves its tasks to end by themselves: `ray.cancel` ends this process if a task
        # ends at that moment (Ray 2.60: "Tried to complete task that was not pending").
        while batches or under_way:
            while batches and len(under_way) < max(int(AHEAD * self.count), 1):
                batch = batches.next(self.count)
                task = packed.task(batch)
                self.traffic.sent += len(task)
                under_way[self._task.remote(bytes(task), shared)] = batch
            done, _ = self._ray.wait(list(under_way), num_returns=1)
            for reference in done:
                batch = under_way.pop(reference)
                found = self._take(reference, job, batch)
                batches.took(found.seconds, len(batch))
                yield from zip(batch, packed.results(found), strict=True)
        if batches.seconds:
            self._seconds[job.handler.__qualname__] = batches.seconds

    def check(self, game: str) -> None:
        """Asks every machine for its versions and for the game."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy as On

        nodes = [node for node in self._ray.nodes() if node["Alive"] and node["Resources"].get("CPU", 0) >= 1]
        ask = self._ray.remote(num_cpus=1, max_retries=MOST_RETRIES)(check)
        asked = {
            ask.options(scheduling_strategy=On(node["NodeID"], soft=False)).remote(versions.versions(), game): node
            for node in nodes
        }
        ready, late = self._ray.wait(list(asked), num_returns=len(asked), timeout=CHECK_SECONDS)
        for reference in ready:
            try:
                refused = self._ray.get(reference)
            except Exception as error:
                raise UserError(self._failure(error, f"machine {_host(asked[reference])}")) from None
            if refused:
                raise UserError(f"machine {_host(asked[reference])} cannot work for this process: {refused}")
        if late:
            raise UserError(
                f"machine {_host(asked[late[0]])} of the Ray cluster started no worker within {CHECK_SECONDS:.0f} "
                "seconds; see `ray status`, or wait until others have ended their work"
            )

    def close(self) -> None:
        if self._here is not None:
            self._here.close()
        self._ray.shutdown()

    def _connect(self, address: str, count: int | None) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        os.environ.setdefault("RAY_worker_niceness", "0")  # of 15, any other program would stop the work
        # No workers ahead of the work: a driver was seen to wait for ever after one had been killed as it started.
        os.environ.setdefault("RAY_prestart_worker_first_driver", "0")
        quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR", "configure_logging": True}
        if address and address != "auto":
            _check_address(address)
        own = {"num_cpus": count or machine.num_cores(), "object_store_memory": STORE_BYTES, "include_dashboard": False}
        try:
            with warnings.catch_warnings():
                # JAX warns of forks; those of Ray run another program at once.
                warnings.filterwarnings("ignore", r"os\.fork\(\) was called", RuntimeWarning)
                self._ray.init(**({"address": address} if address else own), **quiet)
        except Exception as error:
            where = f"the Ray cluster at {address}" if address else "a Ray on this machine"
            raise UserError(
                f"{where} cannot be used: {_first_line(error)}; with RAY_AUTH_MODE=token the same token is needed "
                "everywhere, and the same versions of Ray and Python (docs/scaling.md)"
            ) from None

    def _take(self, reference: Any, job: Job, batch: list[int]) -> Answer:
        """The answer to a task."""
        try:
            buffer = self._ray.get(reference)
        except Exception as error:
            raise UserError(self._failure(error, job.handler.name(job.items[batch[0]]))) from None
        found = Answer(buffer)
        self.traffic.tasks += 1
        self.traffic.items += len(batch)
        self.traffic.received += buffer.nbytes
        self.traffic.busy += found.seconds
        return found

    def _failure(self, error: Exception, what: str) -> str:
        """What Ray says about a task that has no answer."""
        errors = self._ray.exceptions
        if isinstance(error, errors.RaySystemError | errors.RayTaskError) or "failed to import" in str(error):
            return f"{what} failed on the Ray cluster: {_last_line(error)}; install the same boardrl on all machines"
        if isinstance(error, errors.WorkerCrashedError | errors.OutOfMemoryError | errors.NodeDiedError):
            return (
                f"{what} was abandoned: {MOST_RETRIES + 1} workers in a row died while doing it "
                f"({_first_line(error)}); see Ray's logs, or use --workers=local:1"
            )
        return f"{what} failed on the Ray cluster: {_first_line(error)}; see `ray status`"


_handlers = Handlers()  # of this process, if it is a worker of Ray
_prepared = False


def answer(task: bytes, shared: np.ndarray) -> np.ndarray:
    """A task of Ray: does the items of a task."""
    _prepare()
    return np.frombuffer(remote.answer(_handlers, task, shared, place=remote.place()), np.uint8)


def check(theirs: dict[str, str], game: str) -> str:
    """A task of Ray: why this worker cannot work for a process with these versions, or on a game; empty if it can."""
    _prepare()
    if differs := versions.difference(theirs):
        return f"it has {differs}; install the same on all machines"
    try:
        if game:
            registry.make(game)
    except UserError as error:
        return f"{error}; install the game's package there"
    return ""


def _prepare() -> None:
    global _prepared
    if not _prepared:
        remote.prepare()
        _prepared = True


def _import_ray() -> Any:
    os.environ.setdefault("RAY_NUM_REDIS_GET_RETRIES", "4")  # a second each, to find a cluster
    try:
        import ray
        import ray.exceptions
    except ImportError as error:
        raise UserError(f"--workers=ray needs Ray, which cannot be imported ({error}): {INSTALL}") from None
    return ray


def _check_address(address: str) -> None:
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=CONNECT_SECONDS).close()
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UserError(
            f"nobody answers at {address} ({reason}); start a cluster there with `ray start --head --port={port}`"
        ) from None


def _host(node: dict[str, Any]) -> str:
    return f"{node['NodeManagerHostname']} ({node['NodeManagerAddress']})"


def _first_line(error: Exception) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__).rstrip(".")


def _last_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1].rstrip(".") if lines else type(error).__name__
