"""Processes that keep cores busy, for measurements on an overloaded machine."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

from boardrl.system.worker import Worker


@contextlib.contextmanager
def busy(number: int) -> Iterator[None]:
    """Keeps that many cores busy for the duration of the block."""
    with contextlib.ExitStack() as stack:
        workers = [stack.enter_context(contextlib.closing(Worker(f"{__name__}:spin"))) for _ in range(number)]
        for worker in workers:
            worker.receive()
        yield


def spin(connection: Any) -> None:
    """Keeps a core busy until the process is killed."""
    os.setsid()  # a separate session: Linux may schedule the processes of one session as a group
    connection.send_bytes(b"0")
    while True:
        pass
