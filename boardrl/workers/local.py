"""Workers on this machine: threads of this process for compiled code, processes for everything else."""

from __future__ import annotations

import collections
import concurrent.futures
import contextlib
import json
import multiprocessing.connection
import queue
import sys
from collections.abc import Generator
from typing import Any

import jax

from boardrl.errors import UserError
from boardrl.system import machine
from boardrl.system.worker import Worker
from boardrl.workers import remote, workers
from boardrl.workers.batches import Batches
from boardrl.workers.job import Handlers, Job
from boardrl.workers.remote import Answer, Packed
from boardrl.workers.workers import Workers

PROCESS_BYTES = 200 << 20  # memory of a process, before it has loaded anything
MOST_DEATHS = 3  # processes that may die doing one item before the job is given up


class Local(Workers):
    """Threads and processes, which are started when they are first needed.

    Args:
      count: how many; None: one for each core.
      keep: whether processes stay for the next job, with all that they have compiled, until `close`.
    """

    def __init__(self, count: int | None = None, *, keep: bool = True) -> None:
        super().__init__()
        self._count = count or machine.num_cores()
        self._keep = keep
        self._threads: concurrent.futures.ThreadPoolExecutor | None = None
        self._handlers: queue.SimpleQueue[Handlers] = queue.SimpleQueue()  # of threads that have nothing to do
        self._idle: list[_Process] = []

    @property
    def count(self) -> int:
        return self._count

    def run(self, job: Job) -> Generator[tuple[int, Any]]:
        if job.handler.LOCALLY == "threads":
            yield from self._in_threads(job)
            return
        alone = job.handler.LOCALLY == "caller" or min(self.count, len(job.items)) <= 1
        if alone or (data := job.data()) is None:
            yield from here(job)
        else:
            yield from self._in_processes(job, data)

    def check(self, game: str) -> None:
        """Threads and processes of this machine have what this process has."""

    def close(self) -> None:
        self._end_processes()
        if self._threads is not None:
            self._threads.shutdown(cancel_futures=True)
            self._threads = None

    # --- threads ------------------------------------------------------------------------------------------------------

    def _in_threads(self, job: Job) -> Generator[tuple[int, Any]]:
        number = workers.next_number()
        if self._threads is None:
            self._threads = concurrent.futures.ThreadPoolExecutor(self.count, "worker")
            for _ in range(self.count):
                self._handlers.put(Handlers())
        key = (job.handler, job.arguments)

        def one(item: Any) -> Any:
            handlers = self._handlers.get()
            try:
                handler = handlers.ready(key, lambda: job.handler(*job.arguments), number, lambda: job.shared)
                return handler.run(item)
            finally:
                self._handlers.put(handlers)

        futures = [self._threads.submit(one, item) for item in job.items]
        try:
            for index, future in enumerate(futures):
                yield index, future.result()
        finally:
            for future in futures:
                future.cancel()

    # --- processes ----------------------------------------------------------------------------------------------------

    def _in_processes(self, job: Job, data: Any) -> Generator[tuple[int, Any]]:
        """Hands out batches of items; if a process dies, another does its items again."""
        count = min(self.count, len(job.items))
        machine.require(count * PROCESS_BYTES, f"work in {count:,} processes", "give fewer, as in --workers=local:1")
        packed = Packed(job, data, str(workers.next_number()))
        batches, deaths = Batches(len(job.items)), collections.Counter[int]()
        busy: dict[Any, tuple[_Process, list[int]]] = {}  # by connection
        try:
            while batches or busy:
                while batches and len(busy) < count:
                    process, batch = self._process(), batches.next(count)
                    process.send(packed, batch)
                    busy[process.worker.connection] = process, batch
                for connection in multiprocessing.connection.wait(list(busy)):
                    process, batch = busy.pop(connection)
                    try:
                        buffer = process.worker.receive_bytes()
                    except EOFError:
                        self._died(process, job, batch, deaths)
                        batches.lost(batch)
                        continue
                    self._idle.append(process)
                    answer = Answer(buffer)
                    batches.took(answer.seconds, len(batch))
                    self._count_traffic(answer, batch, len(buffer))
                    yield from zip(batch, packed.results(answer), strict=True)
        finally:
            for process, _ in busy.values():  # of no use any more: what they send belongs to this job
                process.worker.close()
            if not self._keep:
                self._end_processes()

    def _process(self) -> _Process:
        while self._idle:
            process = self._idle.pop()
            if process.worker.is_alive():
                return process
            process.worker.close()
        return _Process()

    def _end_processes(self) -> None:
        for process in self._idle:
            process.worker.close()
        self._idle = []

    def _died(self, process: _Process, job: Job, batch: list[int], deaths: collections.Counter[int]) -> None:
        """Warns that items are done again, or raises UserError after MOST_DEATHS deaths with the same one."""
        how = process.worker.how_it_ended()
        process.worker.close()
        deaths.update(batch)
        self.traffic.made_again += 1
        for index in batch:
            if deaths[index] >= MOST_DEATHS:
                raise UserError(
                    f"{job.handler.name(job.items[index])} was abandoned: {MOST_DEATHS} processes in a row died while "
                    f"doing it, and the last one {how}; see their output above, or use --workers=local:1 to do it in "
                    "the command's own process"
                )
        names = [job.handler.name(job.items[index]) for index in batch]
        more = f" and {len(names) - 1:,} more" if len(names) > 1 else ""
        print(f"warning: a worker process {how}; doing {names[0]}{more} again", file=sys.stderr)

    def _count_traffic(self, answer: Answer, batch: list[int], size: int) -> None:
        self.traffic.tasks += 1
        self.traffic.items += len(batch)
        self.traffic.received += size
        self.traffic.busy += answer.seconds


def here(job: Job) -> Generator[tuple[int, Any]]:
    """A job done by this thread."""
    with jax.default_device(jax.devices("cpu")[0]):  # as in the other processes
        handler = job.handler(*job.arguments)
        handler.load(job.shared)
        for index, item in enumerate(job.items):
            yield index, handler.run(item)


class _Process:
    """A worker process, and the job whose shared data it has."""

    def __init__(self) -> None:
        self.worker = Worker(f"{__name__}:serve")
        cache: str | None = jax.config.jax_compilation_cache_dir  # type: ignore[attr-defined]
        self.worker.send(cache)
        self._job = ""

    def send(self, packed: Packed, batch: list[int]) -> None:
        shares = self._job != packed.number
        self._job = packed.number
        self.worker.send_bytes(packed.task(batch, shares=shares))
        if shares:
            self.worker.send_bytes(packed.shared)


def serve(connection: Any) -> None:
    """Main function of a worker process: answers tasks until the parent closes the connection."""
    handlers, shared = Handlers(), b""
    with contextlib.suppress(EOFError, OSError):  # the parent is done, or gone
        remote.prepare(json.loads(connection.recv_bytes()))
        while True:
            task = connection.recv_bytes()
            if remote.unpack(task)["shares"]:
                shared = connection.recv_bytes()
            buffer = remote.answer(handlers, task, shared)
            sys.stdout.flush()  # keeps what was printed if this process is killed
            connection.send_bytes(buffer)
