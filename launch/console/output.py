"""What commands write for their users: tables, and files whole or not at all, never silently over another."""

from __future__ import annotations

import json
import os
import pathlib
from typing import Any

import rich.console

from boardrl.errors import UserError
from boardrl.system import atomic_files

WIDE = 200  # columns where no terminal says how many


def console() -> rich.console.Console:
    """Where tables go: as wide as the terminal, or wide enough for all columns in a file or a pipe."""
    made = rich.console.Console()
    if not made.is_terminal:
        made.width = WIDE
    return made


def free_path(flag: str, text: str, *, overwrite: bool) -> pathlib.Path | None:
    """Where a flag's file goes, None for an empty text; checked before hours of work, not after."""
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
    """Writes numbers where `free_path` has allowed it, if a file was asked for."""
    if path is not None:
        atomic_files.write(path, (json.dumps(content, indent=2, allow_nan=False) + "\n").encode())
