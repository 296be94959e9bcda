"""The contract of every reader of input: a result or one sentence, in limited time and memory, without side effects."""

from __future__ import annotations

import contextlib
import io
import os
import pathlib
import resource
import signal
import sys
import tempfile
import traceback
from collections.abc import Iterator
from typing import Any, NamedTuple

from boardrl.errors import UserError

CPU_SECONDS = 60.0  # processor time of one case, which may include compiling a kernel
SECONDS = 180.0  # wall-clock time of one case, on a busy machine
GROWTH = 600 << 20  # most bytes of memory that a case may use
LIMIT = 4 << 30  # bytes of additional address space
LONGEST = 6000  # characters of a message that quotes the input
PAYLOAD = "fuzz_payload"  # a module whose import leaves a trace


class Broken(AssertionError):
    """A reader did not keep the contract."""


class Hang(BaseException):
    """Raised when a case takes too long; not an Exception, so that no handler catches it."""


class Place(NamedTuple):
    """Folders of one case."""

    inside: pathlib.Path  # the corrupted files
    outside: pathlib.Path  # files that must not change


@contextlib.contextmanager
def place() -> Iterator[Place]:
    """New folders, of which the outer one must not change."""
    with tempfile.TemporaryDirectory(prefix="fuzz-", ignore_cleanup_errors=True) as folder:
        found = Place(pathlib.Path(folder) / "inside", pathlib.Path(folder) / "outside")
        for made in (*found, found.outside / "folder"):
            made.mkdir()
        (found.outside / "precious.txt").write_text("keep me\n")
        (found.outside / "folder" / "kept.json").write_text("{}\n")
        (found.outside / f"{PAYLOAD}.py").write_text(
            "import pathlib\npathlib.Path(__file__).with_name('payload_ran').write_text('')\n"
            "class Bot:\n    def choose(self, game, state, rng):\n        return 0\n"
        )
        yield found


@contextlib.contextmanager
def keeping(where: Place, story: list[str]) -> Iterator[None]:
    """Raises Broken, with the story of the input, unless the block ends with a result or a UserError."""
    before, memory = _listing(where.outside), _memory()
    output = io.StringIO()
    try:
        with (
            _importable(where.outside),
            _in_time(),
            _in_memory(),
            contextlib.redirect_stderr(output),
            contextlib.redirect_stdout(output),
        ):
            yield
    except UserError as error:
        sentence = str(error)
        if not sentence.strip() or "\n" in sentence.strip() or len(sentence) > LONGEST:
            raise Broken(_report(story, f"no single sentence: {sentence[:300]!r}")) from None
    except Hang:
        raise Broken(_report(story, f"no end within {CPU_SECONDS:g} s of work or {SECONDS:g} s of waiting")) from None
    except Broken as broken:
        raise Broken(_report(story, str(broken))) from None
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        where_raised = f"{pathlib.Path(frame.filename).name}:{frame.name}"
        raise Broken(_report(story, f"{type(error).__name__} in {where_raised}: {str(error)[:300]}")) from error
    if (after := _listing(where.outside)) != before:
        changed = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
        raise Broken(_report(story, f"touched outside: {', '.join(changed)}"))
    if (grown := _memory() - memory) > GROWTH:
        raise Broken(_report(story, f"took {grown >> 20} MB of memory"))


def _report(story: list[str], what: str) -> str:
    return f"{what} [{'; '.join(story)}]"


def _listing(folder: pathlib.Path) -> dict[str, Any]:
    """All paths below a folder, with the contents of the files."""
    found: dict[str, Any] = {}
    for root, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__"]
        for name in [*folders, *names]:
            path = pathlib.Path(root, name)
            found[str(path.relative_to(folder))] = path.read_bytes() if path.is_file() else "folder"
    return found


@contextlib.contextmanager
def _importable(folder: pathlib.Path) -> Iterator[None]:
    """Makes the payload importable, as a module in the user's current folder would be."""
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        sys.modules.pop(PAYLOAD, None)


@contextlib.contextmanager
def _in_time() -> Iterator[None]:
    def ring(number: int, frame: Any) -> None:
        raise Hang

    timers = ((signal.ITIMER_PROF, signal.SIGPROF, CPU_SECONDS), (signal.ITIMER_REAL, signal.SIGALRM, SECONDS))
    before = {number: signal.signal(number, ring) for _, number, _ in timers}
    for timer, _, seconds in timers:
        signal.setitimer(timer, seconds, 1.0)  # repeats, in case a destructor swallows the first
    try:
        yield
    finally:
        for timer, number, _ in timers:
            signal.setitimer(timer, 0)
            signal.signal(number, before[number])


@contextlib.contextmanager
def _in_memory() -> Iterator[None]:
    """Limits the address space: a decompression bomb causes a MemoryError and does not freeze the machine."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (_pages(0) + LIMIT, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _memory() -> int:
    """Peak memory of this process in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _pages(column: int) -> int:
    return int(pathlib.Path("/proc/self/statm").read_text().split()[column]) * resource.getpagesize()
