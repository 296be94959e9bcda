"""Output of commands: tables, and files that are written atomically and never silently overwrite another."""

from __future__ import annotations

import json
import os
import pathlib
from typing import Any

import rich.console

from boardrl.errors import UserError
from boardrl.system import atomic_files

WIDE = 200  # columns if the output is not a terminal


def console() -> rich.console.Console:
    """The console for tables: as wide as the terminal, or wide enough for all columns in a file or a pipe."""
    made = rich.console.Console()
    if not made.is_terminal:
        made.width = WIDE
    return made


def free_path(flag: str, text: str, *, overwrite: bool) -> pathlib.Path | None:
    """The path of a flag's output file, None for an empty text; checked before hours of work, not after."""
    if not text:
        return None
    path = pathlib.Path(text)
    if os.path.isdir(path) or not os.path.isdir(path.absolute().parent):
        raise UserError(f"--{flag}={text} cannot be written; expected a file in a directory that exists")
    if os.path.lexists(path) and not overwrite:
        raise UserError(f"--{flag}={text} exists; choose another name or add --overwrite")
    try:
        atomic_files.check_writable(path)
    except OSError as error:
        raise UserError(f"--{flag}={text} cannot be written: {error.strerror}; choose another place") from None
    return path


def write_json(path: pathlib.Path | None, content: Any) -> None:
    """Writes JSON to a path from `free_path`; does nothing if it is None."""
    if path is not None:
        atomic_files.write(path, (json.dumps(content, indent=2, allow_nan=False) + "\n").encode())
