"""Entry points of installed packages; a broken package does not affect the others."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import tempfile
import traceback
from collections.abc import Iterator
from importlib import metadata
from typing import Any

_reported: set[str] = set()


class Unloadable(Exception):
    """Raised for an entry point that cannot be imported; the text says why."""


def of(group: str) -> list[metadata.EntryPoint]:
    """The entry points of all installed packages in a group."""
    return list(_read(group, _places()))


def _places() -> tuple[tuple[str, int], ...]:
    """The folders on Python's path with the times of their last change, as when a package is installed."""
    found = []
    for folder in sys.path:
        with contextlib.suppress(OSError, ValueError):
            found.append((folder, os.stat(folder or os.curdir).st_mtime_ns))
    return tuple(found)


@functools.lru_cache(maxsize=16)  # reading the lists of a hundred packages takes milliseconds, and every name asks
def _read(group: str, places: tuple[tuple[str, int], ...]) -> metadata.EntryPoints:
    """The entry points in a group of all packages in these places."""
    try:
        return metadata.entry_points(group=group)
    except Exception:  # one package's list is corrupt, but Python does not say which
        # JAX and Numba read entry points too, and would fail in the same way.
        metadata.entry_points = _readable  # type: ignore[assignment]
        return _readable(group=group)


def _readable(**params: Any) -> metadata.EntryPoints:
    """The entry points of all packages with a readable list; the others are reported once."""
    found: dict[str, list[metadata.EntryPoint]] = {}  # by package; the first one on Python's path wins
    for package in metadata.distributions():
        place = str(getattr(package, "_path", "a package"))
        try:
            found.setdefault(package.name, list(package.entry_points))
        except Exception as error:
            if place not in _reported:
                _reported.add(place)
                _warn(f"the list of entry points in {place!r} is ignored: {reason(error)}; reinstall its package")
    return metadata.EntryPoints(point for points in found.values() for point in points).select(**params)


def load(point: metadata.EntryPoint) -> Any:
    """Loads the object that an entry point names; reports errors and output of its package during the import."""
    if not metadata.EntryPoint.pattern.match(point.value):
        raise Unloadable("expected package.module:name")
    try:
        with _printing_reported(point):
            return point.load()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit too
        raise Unloadable(reason(error)) from error


def reason(error: BaseException) -> str:
    """An exception in one line, with the place where it was raised."""
    if isinstance(error, SystemExit):
        words = "it ends the program while it is imported"
    elif isinstance(error, ImportError | AttributeError):
        words = str(error)
    else:
        words = f"{type(error).__name__}: {error}"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not _of_python(frame.filename)]
    where = f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames else ""
    return " ".join(words.split()) + where


def _of_python(path: str) -> bool:
    """Whether a file belongs to Python's import system, or is this one."""
    return path.startswith("<frozen") or path == __file__ or "importlib" in path


@contextlib.contextmanager
def _printing_reported(point: metadata.EntryPoint) -> Iterator[None]:
    """Suppresses standard output, also of C extensions and child processes, and reports what was printed."""
    with tempfile.TemporaryFile() as printed:
        try:
            with _redirected(printed.fileno()):
                yield
        finally:
            printed.seek(0)
            if text := " ".join(printed.read().decode(errors="replace").split()):
                _warn(f"{point.value!r} prints while it is imported; the output is suppressed: {text[:80]!r}")


@contextlib.contextmanager
def _redirected(target: int) -> Iterator[None]:
    """Redirects standard output to another file, below the level of Python's own stream too."""
    with contextlib.ExitStack() as stack:
        try:
            sys.stdout.flush()
            before = os.dup(1)
            stack.callback(os.close, before)
            os.dup2(target, 1)
            stack.callback(os.dup2, before, 1)
        except (OSError, ValueError, AttributeError):  # a program without standard output
            pass
        stream = stack.enter_context(open(os.dup(target), "w", errors="replace"))
        stack.enter_context(contextlib.redirect_stdout(stream))
        yield


def _warn(sentence: str) -> None:
    print(f"warning: {sentence}", file=sys.stderr)
