"""SIGINT (Ctrl-C) and SIGTERM: a clean end where that is quick, an end at once where it is not.

Python runs signal handlers between bytecodes only, not while the main thread waits for a compiler or a device. The
signal's number is therefore also written to a socket that a thread reads, and that thread can end the process in the
middle of a long compilation. Where no thread can run either, as in a C extension that holds Python's lock, a second
process sees that the socket is not read, and kills this one.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from boardrl.system import worker

SIGNALS = (signal.SIGINT, signal.SIGTERM)
EXIT_CODE = 130  # what shells give for a command ended by Ctrl-C
GRACE_SECONDS = 1.5  # that a command has for a clean end: with all that follows it is gone within two seconds
STUCK_SECONDS = 1.7  # that a signal may stay unread
AGAIN_SECONDS = 0.02  # until KeyboardInterrupt is raised again where a destructor has swallowed it
SHOW_CURSOR = "\x1b[?25h"

_kept: list[Callable[[], str]] = []  # what is said of results when a process ends at once, innermost last


def exit_code(number: int) -> int:
    """The exit code of a command that this signal has ended, as shells count: 130 for SIGINT, 143 for SIGTERM."""
    return 128 + number


@contextlib.contextmanager
def keeping(tell: Callable[[], str]) -> Iterator[None]:
    """For the length of the block: `tell` says what is kept of it should the process have to end at once."""
    _kept.append(tell)
    try:
        yield
    finally:
        _kept.remove(tell)


def end_now(number: int) -> NoReturn:
    """Ends this process and those that it has started, without waiting for anything; safe in any thread."""
    lines = ["interrupted"]
    with contextlib.suppress(Exception):  # such as a folder that was removed meanwhile
        lines += [tell() for tell in _kept[-1:]]
    with contextlib.suppress(Exception):
        os.write(sys.__stderr__.fileno(), f"{_shown_cursor()}{'; '.join(lines)}\n".encode())  # type: ignore[union-attr]
    leave(exit_code(number))


def leave(code: int) -> NoReturn:
    """Ends this process and those that it has started; Python's own way out would wait for threads and for XLA."""
    with contextlib.suppress(Exception):
        worker.kill_all()
    os._exit(code)


class _Listener:
    """Is told of SIGNALS by a thread, while it is open, besides whoever listened before."""

    def received(self, number: int) -> None:
        """Called for every signal."""
        raise NotImplementedError

    def late(self, number: int) -> None:
        """Called when GRACE_SECONDS have passed since the first of several signals."""


class _Thread:
    """Reads the signals of this process as they come and passes them on to listeners."""

    def __init__(self) -> None:
        self.listeners: list[_Listener] = []
        self.reader, self._writer = socket.socketpair()
        self._writer.setblocking(False)
        self._old_fd = signal.set_wakeup_fd(self._writer.fileno())
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def close(self) -> None:
        signal.set_wakeup_fd(self._old_fd)
        self._writer.close()  # the thread reads an end of file
        self._thread.join()
        self.reader.close()

    def _run(self) -> None:
        first, end = 0, 0.0
        while True:
            if not select.select([self.reader], [], [], max(end - time.monotonic(), 0.0) if first else None)[0]:
                for listener in list(self.listeners):
                    listener.late(first)
                first = 0
                continue
            if not (numbers := self.reader.recv(64)):
                return
            if self._old_fd >= 0:
                with contextlib.suppress(OSError):
                    os.write(self._old_fd, numbers)
            for number in numbers:
                if number in SIGNALS:
                    if not first:
                        first, end = number, time.monotonic() + GRACE_SECONDS
                    for listener in reversed(self.listeners):
                        listener.received(number)


_thread: _Thread | None = None  # as Python can wake up one only


@contextlib.contextmanager
def _listening(listener: _Listener) -> Iterator[_Thread]:
    """For the length of the block in the main thread: a listener is told of signals."""
    global _thread
    outermost = _thread is None
    thread = _thread = _thread or _Thread()
    thread.listeners.append(listener)
    try:
        yield thread
    finally:
        thread.listeners.remove(listener)
        if outermost:
            _thread = None
            thread.close()


# A process that kills its parent if a signal stays unread there: code that holds Python's lock stops all threads.
WATCHDOG = """
import os, select, signal, socket, sys, time
parent, patience, last_words = int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
signals = socket.socket(fileno=int(sys.argv[1]))
while signals.recv(1, socket.MSG_PEEK):
    end = time.monotonic() + patience
    while select.select([signals], [], [], 0)[0]:
        if os.getppid() != parent or not signals.recv(1, socket.MSG_PEEK):
            os._exit(0)
        if time.monotonic() > end:
            os.write(2, last_words.encode())
            os.kill(parent, signal.SIGKILL)
            os._exit(0)
        time.sleep(0.02)
os._exit(0)
"""


@contextlib.contextmanager
def _watchdog(signals: socket.socket) -> Iterator[None]:
    """For the length of the block: a signal that this process does not read from the socket in time kills it."""
    last_words = f"{_shown_cursor()}interrupted\n"
    arguments = [str(signals.fileno()), str(os.getpid()), str(STUCK_SECONDS), last_words]
    with worker.signals_blocked():  # in the process too, for good
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", WATCHDOG, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[signals.fileno()],
        )
    try:
        yield
    finally:
        process.kill()
        process.wait()


def _shown_cursor() -> str:
    """What shows the cursor again that a progress bar has hidden."""
    with contextlib.suppress(Exception):
        return SHOW_CURSOR if sys.stderr.isatty() else ""
    return ""


class Command(_Listener):
    """For the length of a `with` block in the main thread: a signal ends this process within two seconds.

    It raises KeyboardInterrupt first, so that what is under way can end cleanly; `number` is that of the signal. What
    has not ended after GRACE_SECONDS, or at the second signal, is ended by `end_now`; where not even a thread can run,
    another process kills this one after STUCK_SECONDS. After a clean end it is up to the caller to `leave`.
    """

    def __init__(self) -> None:
        self.number = 0  # of the first signal; 0: none so far
        self._count = 0
        self._open = contextlib.ExitStack()

    def __enter__(self) -> Command:
        thread = self._open.enter_context(_listening(self))
        self._open.enter_context(_watchdog(thread.reader))
        self._old_handlers = {number: signal.signal(number, self._handle) for number in SIGNALS}
        self._old_hook, sys.unraisablehook = sys.unraisablehook, self._swallowed
        return self

    def __exit__(self, *_: object) -> None:
        sys.unraisablehook = self._old_hook
        for number, handler in self._old_handlers.items():
            signal.signal(number, handler)
        self._open.close()

    def _swallowed(self, unraisable: Any) -> None:
        """Raises KeyboardInterrupt once more where a destructor, which cannot pass it on, was interrupted."""
        if not (self.number and unraisable.exc_type is KeyboardInterrupt):
            self._old_hook(unraisable)
            return
        threading.Timer(AGAIN_SECONDS, _interrupt_main).start()  # not from in here, where it would be swallowed too

    def _handle(self, number: int, _: Any) -> None:
        self.number = self.number or number
        raise KeyboardInterrupt

    def received(self, number: int) -> None:
        self.number = self.number or number
        self._count += 1
        if self._count >= 2:
            end_now(self.number)

    def late(self, number: int) -> None:
        end_now(number)


def _interrupt_main() -> None:
    """Raises KeyboardInterrupt in the main thread, without a signal, which would count as the user's second."""
    main = ctypes.c_ulong(threading.main_thread().ident or 0)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(main, ctypes.py_object(KeyboardInterrupt))


class Interrupted(Exception):
    """Raised inside `breakable` by a request to end."""


class Interrupts(_Listener):
    """Counts SIGINT and SIGTERM for the length of a `with` block in the main thread: the first asks for a clean end,
    the second ends the process at once."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self.asked = False
        self._say = say
        self._breakable = False
        self._count = 0
        self._open = contextlib.ExitStack()

    def __enter__(self) -> Interrupts:
        self._open.enter_context(_listening(self))
        self._old_handlers = {number: signal.signal(number, self._handle) for number in SIGNALS}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._old_handlers.items():
            signal.signal(number, handler)
        self._open.close()

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

    def received(self, number: int) -> None:
        self._count += 1
        if self._count == 1:
            self._say("ending with a checkpoint; once more ends at once")
        else:
            end_now(number)
