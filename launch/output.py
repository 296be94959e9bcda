"""Files that commands write for their users: whole or not at all, and never over another."""

from __future__ import annotations

import json
import os
import pathlib
from typing import Any

from boardrl.errors import UserError


def check_free(path: str, overwrite: bool) -> None:
    """Refuses, before any work is done, a file that exists or has no folder."""
    if not path:
        return
    if pathlib.Path(path).exists() and not overwrite:
        raise UserError(f"{path!r} exists already; name another file or add --overwrite")
    if not pathlib.Path(path).absolute().parent.is_dir():
        raise UserError(f"the folder of {path!r} does not exist; make it first or name another file")


def write_text(path: str, text: str) -> None:
    """Writes a file in one step, so that a reader never sees half of it."""
    temporary = pathlib.Path(f"{path}.{os.getpid()}.tmp")
    temporary.write_text(text)
    os.replace(temporary, path)


def write_json(path: str, content: Any) -> None:
    write_text(path, json.dumps(content, indent=2) + "\n")
