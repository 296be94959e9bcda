"""Entry points of installed packages, found and loaded so that a broken package costs only what it registers."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import traceback
from collections.abc import Iterator
from importlib import metadata
from typing import Any

_reported: set[str] = set()


class Unloadable(Exception):
    """What an entry point names cannot be imported; the text says why."""


def of(group: str) -> list[metadata.EntryPoint]:
    """The entry points that all installed packages have in a group."""
    try:
        return list(metadata.entry_points(group=group))
    except Exception:  # of one package, but Python does not say which: its list is garbled
        # JAX and Numba ask Python too, and would fail in the same way.
        metadata.entry_points = _readable  # type: ignore[assignment]
        return list(_readable(group=group))


def _readable(**params: Any) -> metadata.EntryPoints:
    """The entry points of all packages whose list can be read; the others are reported once."""
    found: dict[str, list[metadata.EntryPoint]] = {}  # by package: the first one on Python's path counts
    for package in metadata.distributions():
        place = str(getattr(package, "_path", "a package"))
        try:
            found.setdefault(package.name, list(package.entry_points))
        except Exception as error:
            if place not in _reported:
                _reported.add(place)
                _warn(f"the list of entry points in {place!r} is left out: {reason(error)}; reinstall its package")
    return metadata.EntryPoints(point for points in found.values() for point in points).select(**params)


def load(point: metadata.EntryPoint) -> Any:
    """What an entry point names; its package may do anything while it is imported but fail unnoticed or print."""
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
    """An exception on one line, with the place where it was raised."""
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
    """Whether a file belongs to the machinery that imports modules, or to this one."""
    return path.startswith("<frozen") or path == __file__ or "importlib" in path


@contextlib.contextmanager
def _printing_reported(point: metadata.EntryPoint) -> Iterator[None]:
    """Keeps standard output clean, also of C extensions and child processes, and reports what was printed."""
    with tempfile.TemporaryFile() as printed:
        try:
            with _redirected(printed.fileno()):
                yield
        finally:
            printed.seek(0)
            if text := " ".join(printed.read().decode(errors="replace").split()):
                _warn(f"{point.value!r} prints while it is imported, which is left out: {text[:80]!r}")


@contextlib.contextmanager
def _redirected(target: int) -> Iterator[None]:
    """Everything that is written to standard output meanwhile goes to another file, below Python's own stream too."""
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
