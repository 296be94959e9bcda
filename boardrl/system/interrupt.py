"""SIGINT (Ctrl-C) and SIGTERM: a clean end if that is quick, an immediate end otherwise.

Python runs signal handlers only between bytecodes, not while the main thread waits for a compiler or a device. So the
signal number is also written to a socket that a thread reads, and that thread can end the process in the middle of a
long compilation. If no thread can run either, as in a C extension that holds the GIL, a watchdog process notices that
the socket is not read, and kills this one.
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
EXIT_CODE = 130  # the shell's exit code of a command ended by Ctrl-C
GRACE_SECONDS = 1.5  # time for a clean end, so that the process is gone within two seconds in all
STUCK_SECONDS = 1.7  # longest time that a signal may stay unread
AGAIN_SECONDS = 0.02  # delay before KeyboardInterrupt is raised again after a destructor swallowed it
SHOW_CURSOR = "\x1b[?25h"
ENDING = "ending with a checkpoint; a second signal ends at once"

_messages: list[Callable[[], str]] = []  # messages about saved results if the process ends at once, innermost last


def exit_code(number: int) -> int:
    """The shell's exit code of a command ended by this signal: 130 for SIGINT, 143 for SIGTERM."""
    return 128 + number


@contextlib.contextmanager
def keeping(tell: Callable[[], str]) -> Iterator[None]:
    """For the duration of the block: prints `tell()`, which says what was saved, if the process has to end at once."""
    _messages.append(tell)
    try:
        yield
    finally:
        _messages.remove(tell)


def end_now(number: int) -> NoReturn:
    """Ends this process and its child processes without waiting for anything; safe in any thread."""
    lines = ["interrupted"]
    with contextlib.suppress(Exception):  # such as a folder that has been removed
        lines += [tell() for tell in _messages[-1:]]
    with contextlib.suppress(Exception):
        os.write(sys.__stderr__.fileno(), f"{_show_cursor()}{'; '.join(lines)}\n".encode())  # type: ignore[union-attr]
    leave(exit_code(number))


def leave(code: int) -> NoReturn:
    """Ends this process and its child processes; a normal exit of Python would wait for threads and for XLA."""
    with contextlib.suppress(Exception):
        worker.kill_all()
    os._exit(code)


class _Listener:
    """Receives SIGNALS from the signal thread while it is open, in addition to earlier listeners."""

    def received(self, number: int) -> None:
        """Called for every signal."""
        raise NotImplementedError

    def late(self, number: int) -> None:
        """Called GRACE_SECONDS after the first of several signals."""


class _Thread:
    """A thread that reads the signals of this process and passes them on to listeners."""

    def __init__(self) -> None:
        self._listeners: list[_Listener] = []
        self._calling = threading.Lock()  # held while listeners are called
        self.reader, self._writer = socket.socketpair()
        self._writer.setblocking(False)
        self._old_fd = signal.set_wakeup_fd(self._writer.fileno())
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def add(self, listener: _Listener) -> None:
        self._listeners.append(listener)

    def remove(self, listener: _Listener) -> None:
        """Waits until a call of the listener has returned; there is no further one."""
        with self._calling:
            self._listeners.remove(listener)

    def close(self) -> None:
        signal.set_wakeup_fd(self._old_fd)
        self._writer.close()  # the thread reads an end of file
        self._thread.join()
        self.reader.close()

    def _run(self) -> None:
        first, end = 0, 0.0
        while True:
            if not select.select([self.reader], [], [], max(end - time.monotonic(), 0.0) if first else None)[0]:
                with self._calling:
                    for listener in self._listeners:
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
                    with self._calling:
                        for listener in reversed(self._listeners):
                            listener.received(number)


_thread: _Thread | None = None  # only one, because Python has one wakeup descriptor


@contextlib.contextmanager
def _listening(listener: _Listener) -> Iterator[_Thread]:
    """For the duration of the block, in the main thread: passes signals to a listener."""
    global _thread
    outermost = _thread is None
    thread = _thread = _thread or _Thread()
    thread.add(listener)
    try:
        yield thread
    finally:
        thread.remove(listener)
        if outermost:
            _thread = None
            thread.close()


# A process that kills its parent if a signal stays unread there: code that holds the GIL stops all threads.
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
    """For the duration of the block: kills this process if it does not read a signal from the socket in time."""
    last_words = f"{_show_cursor()}interrupted\n"
    arguments = [str(signals.fileno()), str(os.getpid()), str(STUCK_SECONDS), last_words]
    with worker.signals_blocked():  # the watchdog keeps them blocked
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


def _show_cursor() -> str:
    """The escape code that shows the cursor again after a progress bar has hidden it."""
    with contextlib.suppress(Exception):
        return SHOW_CURSOR if sys.stderr.isatty() else ""
    return ""


class Command(_Listener):
    """For the duration of a `with` block in the main thread: a signal ends this process within two seconds.

    The first signal raises KeyboardInterrupt, so that the work can end cleanly, and sets `number`. After GRACE_SECONDS,
    or at the second signal, `end_now` ends the process; if not even a thread can run, the watchdog process kills this
    one after STUCK_SECONDS. After a clean end the caller must call `leave`.
    """

    def __init__(self) -> None:
        self.number = 0  # the first signal; 0: none so far
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
        """Raises KeyboardInterrupt again if it was swallowed by a destructor, which cannot propagate it."""
        if not (self.number and unraisable.exc_type is KeyboardInterrupt):
            self._old_hook(unraisable)
            return
        threading.Timer(AGAIN_SECONDS, _interrupt_main).start()  # not here, where it would be swallowed too

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
    """Raises KeyboardInterrupt in the main thread; a real signal would count as the user's second one."""
    main = ctypes.c_ulong(threading.main_thread().ident or 0)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(main, ctypes.py_object(KeyboardInterrupt))


class Interrupted(Exception):
    """Raised inside `breakable` when the user asks to stop."""


class Interrupts(_Listener):
    """Counts SIGINT and SIGTERM for the duration of a `with` block in the main thread: the first requests a clean end,
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
        if self.asked and not self._count:  # the block ended before the signal thread ran
            self._say(ENDING)

    @contextlib.contextmanager
    def breakable(self) -> Iterator[None]:
        """A block that may be abandoned: a request to stop raises Interrupted inside it."""
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
            self._say(ENDING)
        else:
            end_now(number)
