"""Progress of work that takes over two seconds: a bar on a terminal, plain lines elsewhere; always on stderr."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator

import rich.console
import rich.live
import rich.progress
import rich.text

QUIET_SECONDS = 2.0  # shorter work shows no progress
LINE_SECONDS = 10.0  # between two plain lines


class Bar:
    """Progress of a piece of work; shows nothing before QUIET_SECONDS."""

    def __init__(self, label: str, total: int, unit: str, done: int) -> None:
        self._label, self._total, self._unit = label, total, unit
        self._began, self._first, self._done = time.monotonic(), done, done
        self._next_line = self._began + QUIET_SECONDS
        self._console = rich.console.Console(stderr=True, highlight=False, soft_wrap=True)
        self._live: rich.live.Live | None = None

    def update(self, done: int, note: str = "") -> None:
        """Shows that `done` of the total is done, with a short note such as the latest loss."""
        now = time.monotonic()
        self._done = done
        if now < self._next_line:
            return
        rate = (done - self._first) / max(now - self._began, 1e-9)
        of = f"/{self._total:,}" if self._total else ""
        line = f"{done:,}{of} {self._unit}  {rate:,.0f} {self._unit}/s"
        if self._total:
            # A batch of games may end with more games than were asked for.
            left = max(self._total - done, 0) / rate if rate > 0 else float("inf")
            line += f"  {clock(left)} left"
        if self._console.is_terminal:
            self._draw(done, line, note)
            self._next_line = now + 0.1
        else:
            self.say(f"{self._label}: {line}  {note}")
            self._next_line = now + LINE_SECONDS

    def restart(self, done: int) -> None:
        """Measures the rate from now on, without one-off work such as compilation."""
        self._began, self._first, self._done = time.monotonic(), done, done

    def part(self, label: str, total: int) -> Bar:
        """A bar for a subtask, shown as the note of this one."""
        return _Part(self, label, total)

    def rest(self, first: int) -> Bar:
        """This bar for a subtask that counts from 0 when `first` of the total is done."""
        return _Rest(self, first)

    def say(self, line: str) -> None:
        """Prints a line, above the bar if there is one."""
        (self._live.console if self._live else self._console).print(rich.text.Text(line.rstrip()))

    def close(self) -> None:
        if self._live is not None:
            self._live.stop()

    def _draw(self, done: int, line: str, note: str) -> None:
        if self._live is None:
            columns = ("[bold]{task.description}", rich.progress.BarColumn(16), "{task.fields[line]}")
            self._tasks = rich.progress.Progress(*columns, console=self._console)
            self._tasks.add_task(self._label, total=self._total or None)
            self._live = rich.live.Live(console=self._console, transient=True)
            self._live.start()
        self._tasks.update(rich.progress.TaskID(0), completed=done, line=line)
        # The note has its own line: both do not fit in 80 columns.
        below = rich.text.Text("  " + note.strip(), no_wrap=True, overflow="ellipsis")
        self._live.update(rich.console.Group(self._tasks, below))


class _Part(Bar):
    """A subtask, shown through the bar of the whole task."""

    def __init__(self, whole: Bar, label: str, total: int) -> None:
        super().__init__(label, total, "games", 0)
        self._whole = whole

    def update(self, done: int, note: str = "") -> None:
        self._whole.update(self._whole._done, f"{self._label} {done:,}/{self._total:,}  {note}")

    def say(self, line: str) -> None:
        self._whole.say(line)


class _Rest(_Part):
    """A subtask that continues the count of the whole task."""

    def __init__(self, whole: Bar, first: int) -> None:
        super().__init__(whole, whole._label, whole._total)
        self._first = first

    def update(self, done: int, note: str = "") -> None:
        self._whole.update(self._first + done, note)


@contextlib.contextmanager
def track(label: str, total: int, unit: str, *, done: int = 0) -> Iterator[Bar]:
    """A bar for the duration of a `with` block; `done` is the amount that an earlier session completed.

    A total of 0 means that the total is unknown.
    """
    bar = Bar(label, total, unit, done)
    try:
        yield bar
    finally:
        bar.close()
        sys.stderr.flush()


def clock(seconds: float) -> str:
    """A duration as '1:02:03' or '4:05', or '?' if it is unknown."""
    if seconds == float("inf"):
        return "?"
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"
