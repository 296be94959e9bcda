"""Worker processes, which end with their parent process however it ends."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import weakref
from collections.abc import Iterator
from typing import Any

from boardrl.errors import UserError

SIGNALS = {signal.SIGINT, signal.SIGTERM}  # may reach all processes of a command; only the parent handles them

# The first code that a worker runs, before any large import. On Linux the kernel kills it when its parent dies;
# elsewhere a thread watches the connection, which needs the GIL (and so waits for code that holds it).
# The handlers do nothing; SIG_IGN would be inherited by programs that a worker starts.
BOOT = """
import os, signal, sys
fd, parent = map(int, sys.argv[1:])
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda *_: None)
signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT, signal.SIGTERM])
if sys.platform == "linux":
    import ctypes
    PR_SET_PDEATHSIG = 1
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
if os.getppid() != parent:
    os._exit(1)
import select, threading
def watch():
    hang_up = select.poll()
    hang_up.register(fd, 0)
    hang_up.poll()
    os._exit(1)
threading.Thread(target=watch, daemon=True).start()
import importlib, json
from multiprocessing.connection import Connection
connection = Connection(fd)
path, module, name = json.loads(connection.recv_bytes())
sys.path[:] = path
sys.argv[:] = [module]
getattr(importlib.import_module(module), name)(connection)
"""

_running: weakref.WeakSet[Worker] = weakref.WeakSet()


class Worker:
    """A process that calls a function with its end of a connection; messages are JSON or bytes, never pickles.

    On Linux it also ends with the thread that started it.

    Args:
      function: as `package.module:name`.
    """

    def __init__(self, function: str) -> None:
        module, _, name = function.partition(":")
        self.connection, there = multiprocessing.Pipe()
        flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
        command = [sys.executable, *flags, "-c", BOOT, str(there.fileno()), str(os.getpid())]
        try:
            with there, signals_blocked():
                self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=[there.fileno()])
                _running.add(self)
        except OSError as error:
            self.connection.close()
            raise UserError(f"cannot start another process: {error.strerror}; use fewer processes") from error
        self.send([[str(place) for place in sys.path], module, name])

    @property
    def pid(self) -> int:
        return self._process.pid

    def send(self, message: Any) -> None:
        """Sends a JSON value; does nothing if the worker has died, which `receive` will report."""
        self.send_bytes(json.dumps(message).encode())

    def send_bytes(self, message: bytes | bytearray) -> None:
        """Sends a message that is no JSON."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.connection.send_bytes(message)

    def receive(self) -> Any:
        """Waits for a JSON value; raises EOFError if the worker has died, even in the middle of one."""
        return json.loads(self.receive_bytes())

    def receive_bytes(self) -> bytes:
        """Waits for a message; raises EOFError like `receive`."""
        try:
            return self.connection.recv_bytes()
        except OSError as error:
            raise EOFError from error

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def how_it_ended(self) -> str:
        """How a dead worker ended: 'was killed by SIGKILL', 'ended with exit code 3'."""
        code = self._process.wait()
        if code >= 0:
            return f"ended with exit code {code}"
        with contextlib.suppress(ValueError):
            return f"was killed by {signal.Signals(-code).name}"
        return f"was killed by signal {-code}"

    def kill(self) -> None:
        """Kills the process."""
        self._process.kill()

    def close(self) -> None:
        """Kills the process and waits for its end."""
        self.kill()
        self.connection.close()
        self._process.wait()
        _running.discard(self)


def kill_all() -> None:
    """Kills all workers of this process; safe in any thread."""
    for one in list(_running):
        one.kill()


@contextlib.contextmanager
def signals_blocked() -> Iterator[None]:
    """Blocks SIGNALS until the end of the block, so that a process started inside can install its handlers first."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
