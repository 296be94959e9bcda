"""What every reader of input promises: a result or one sentence, soon, in little memory, and nothing else touched."""

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

CPU_SECONDS = 60.0  # for one case, in which a kernel may have to be compiled
SECONDS = 180.0  # for a case that waits, on a machine that is busy with other work
GROWTH = 600 << 20  # bytes of memory that a case may take at most
LIMIT = 4 << 30  # bytes of address space beyond which it gets none
LONGEST = 6000  # characters of a sentence that quotes what it was given
PAYLOAD = "fuzz_payload"  # a module whose import leaves a trace


class Broken(AssertionError):
    """A reader did not keep the contract."""


class Hang(BaseException):
    """A case took too long; not an Exception, so that nobody takes it for an error of its own."""


class Place(NamedTuple):
    """Folders of one case."""

    inside: pathlib.Path  # what is garbled
    outside: pathlib.Path  # somebody else's files


@contextlib.contextmanager
def place() -> Iterator[Place]:
    """Fresh folders, of which the outer one must stay as it is."""
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
    """A block that ends with a result or a UserError; anything else is Broken, told with the story of the input."""
    before, memory = _listing(where.outside), _memory()
    said = io.StringIO()
    try:
        with (
            _importable(where.outside),
            _in_time(),
            _in_memory(),
            contextlib.redirect_stderr(said),
            contextlib.redirect_stdout(said),
        ):
            yield
    except UserError as error:
        sentence = str(error)
        if not sentence.strip() or "\n" in sentence.strip() or len(sentence) > LONGEST:
            raise Broken(_told(story, f"no single sentence: {sentence[:300]!r}")) from None
    except Hang:
        raise Broken(_told(story, f"no end within {CPU_SECONDS:g} s of work or {SECONDS:g} s of waiting")) from None
    except Broken as broken:
        raise Broken(_told(story, str(broken))) from None
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        where_raised = f"{pathlib.Path(frame.filename).name}:{frame.name}"
        raise Broken(_told(story, f"{type(error).__name__} in {where_raised}: {str(error)[:300]}")) from error
    if (after := _listing(where.outside)) != before:
        changed = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
        raise Broken(_told(story, f"touched outside: {', '.join(changed)}"))
    if (grown := _memory() - memory) > GROWTH:
        raise Broken(_told(story, f"took {grown >> 20} MB of memory"))


def _told(story: list[str], what: str) -> str:
    return f"{what} [{'; '.join(story)}]"


def _listing(folder: pathlib.Path) -> dict[str, Any]:
    """All names below a folder, with what the files hold."""
    found: dict[str, Any] = {}
    for root, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__"]
        for name in [*folders, *names]:
            path = pathlib.Path(root, name)
            found[str(path.relative_to(folder))] = path.read_bytes() if path.is_file() else "folder"
    return found


@contextlib.contextmanager
def _importable(folder: pathlib.Path) -> Iterator[None]:
    """The payload could be imported, as it could from the folder that a user works in."""
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
        signal.setitimer(timer, seconds, 1.0)  # again, should a destructor swallow the first
    try:
        yield
    finally:
        for timer, number, _ in timers:
            signal.setitimer(timer, 0)
            signal.signal(number, before[number])


@contextlib.contextmanager
def _in_memory() -> Iterator[None]:
    """A bomb ends in a MemoryError, not in a machine that stands still."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (_pages(0) + LIMIT, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _memory() -> int:
    """The most bytes that this process has held so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _pages(column: int) -> int:
    return int(pathlib.Path("/proc/self/statm").read_text().split()[column]) * resource.getpagesize()
