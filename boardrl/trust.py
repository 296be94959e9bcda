"""Trust in code named as `module:Name`: imported if the user typed the name, but not if a run directory stores it.

A run may come from somebody else, and a module that is imported runs with the user's rights. Texts read from a run are
used within `stored_in`; functions that import by name call `check` first.
"""

from __future__ import annotations

import contextlib
import contextvars
import pathlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

from boardrl.errors import UserError

FLAG = "--trust"
NAMES_CODE = re.compile(r"(^|[\s,=(\"])[A-Za-z_][\w.]*:[A-Za-z_]")

_granted = False  # for the whole process, set from the command line
_source: contextvars.ContextVar[pathlib.Path | None] = contextvars.ContextVar("source", default=None)


@contextlib.contextmanager
def granted(yes: bool = True) -> Iterator[None]:
    """Within the block, runs may name code if `yes`; earlier trust remains."""
    global _granted
    before, _granted = _granted, _granted or yes
    try:
        yield
    finally:
        _granted = before


def is_granted() -> bool:
    """Whether runs may name code."""
    return _granted


@contextlib.contextmanager
def stored_in(run: pathlib.Path) -> Iterator[None]:
    """Within the block, texts come from a run directory."""
    token = _source.set(run)
    try:
        yield
    finally:
        _source.reset(token)


def check(name: str) -> None:
    """Raises UserError for code that a run names, unless runs are trusted."""
    run = _source.get()
    if run is not None and not _granted:
        raise UserError(
            f"the run {str(run)!r} names code to import, {name!r}, which could do anything that you can do; "
            f"read that code, and if you trust it add {FLAG}"
        )


def names_code(stored: Any) -> bool:
    """Whether a text in stored settings looks like `module:Name`, so that commands on the run need the flag."""
    if isinstance(stored, Mapping):
        return any(map(names_code, stored.values()))
    if isinstance(stored, list | tuple):
        return any(map(names_code, stored))
    return isinstance(stored, str) and NAMES_CODE.search(stored) is not None
