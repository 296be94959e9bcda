"""Says that rules are being compiled, if that takes long: a first command on a large game may need a minute for it."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
from typing import Any

from numba.core import event

from boardrl.lowering import LOWERING

QUIET_SECONDS = 3.0
KINDS = ("numba:compile", LOWERING)
NOTE = "compiling the rules; the result is cached, so that later commands start at once"


class _Listener(event.Listener):
    """Prints NOTE once, when compiling has been under way for QUIET_SECONDS in all."""

    def __init__(self) -> None:
        self._lock, self._depth, self._said = threading.Lock(), 0, False
        self._timer: threading.Timer | None = None

    def on_start(self, event: Any) -> None:
        with self._lock:
            self._depth += 1
            if self._timer is None:
                self._timer = threading.Timer(QUIET_SECONDS, self._say)
                self._timer.daemon = True
                self._timer.start()

    def on_end(self, event: Any) -> None:
        with self._lock:
            self._depth -= 1

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _say(self) -> None:
        with self._lock:
            if self._depth > 0 and not self._said:
                self._said = True
                print(NOTE, file=sys.stderr, flush=True)
            elif not self._said:
                self._timer = None  # the next compilation starts another


@contextlib.contextmanager
def shown() -> Iterator[None]:
    """Within this context, compiling that takes long is announced on stderr."""
    listener = _Listener()
    for kind in KINDS:
        event.register(kind, listener)
    try:
        yield
    finally:
        for kind in KINDS:
            event.unregister(kind, listener)
        listener.close()
