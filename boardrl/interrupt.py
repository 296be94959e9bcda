"""Ctrl-C: the first asks for a clean end, the second ends at once."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM)
EXIT_CODE = 130  # what shells give for a command ended by Ctrl-C
SHOW_CURSOR = "\x1b[?25h"


class Interrupted(Exception):
    """Raised inside `breakable` by a request to end."""


class Interrupts:
    """Counts SIGINT and SIGTERM for the length of a `with` block in the main thread.

    Python runs signal handlers between bytecodes only, not while the main thread waits for a compiler or a
    device. The kernel's signal is therefore also written to a socket that a thread reads, and that thread
    can end the process in the middle of a long compilation.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self.asked = False
        self._say = say
        self._breakable = False
        self._reader, self._writer = socket.socketpair()
        self._writer.setblocking(False)
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Interrupts:
        self._thread.start()
        self._old_fd = signal.set_wakeup_fd(self._writer.fileno())
        self._old_handlers = {number: signal.signal(number, self._handle) for number in SIGNALS}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._old_handlers.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._old_fd)
        self._writer.close()  # the thread reads an end of file
        self._thread.join()
        self._reader.close()

    @contextlib.contextmanager
    def breakable(self) -> Iterator[None]:
        """Work that may be given up half done: a request to end raises Interrupted in it."""
        self._breakable = True
        try:
            if self.asked:
                raise Interrupted
            yield
        finally:
            self._breakable = False

    def _handle(self, *_: Any) -> None:
        self.asked = True
        if self._breakable:
            self._breakable = False
            raise Interrupted

    def _watch(self) -> None:
        count = 0
        while received := self._reader.recv(64):
            count += sum(number in SIGNALS for number in received)
            if count >= 2:
                if sys.stderr.isatty():
                    os.write(sys.stderr.fileno(), SHOW_CURSOR.encode())
                os._exit(EXIT_CODE)
            elif count == 1:
                self._say("ending with a checkpoint; once more ends at once")
