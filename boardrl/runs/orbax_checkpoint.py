"""Checkpoints of format 1, whose arrays were written by orbax: still readable, but only from trusted runs.

orbax and tensorstore read the sizes of arrays from their own files and allocate the memory before the sizes can be
checked. They also misread paths with [, ], * or ? (orbax searches for its files by glob patterns) and with a backslash
(tensorstore takes it for a slash), so checkpoints under such paths could be written but not read.
"""

from __future__ import annotations

import hashlib
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from boardrl import trust
from boardrl.errors import UserError
from boardrl.system import untrusted_files

FORMAT = 1
ARRAYS = "arrays"  # the orbax folder


def damage(path: pathlib.Path, files: Mapping[str, Any]) -> str | None:
    """What is wrong with the files of a checkpoint; None if all checksums match.

    Args:
      files: sha256 of each file by its path under the checkpoint, from the manifest.
    """
    for name, digest in files.items():
        parts = name.split("/")
        if parts[0] != ARRAYS or any(part in ("", ".", "..") for part in parts) or not name.isprintable():
            return f"{name[:60]!r} is not the name of an orbax file"
        folders = [path.joinpath(*parts[:count]) for count in range(1, len(parts))]
        try:
            if not all(map(untrusted_files.is_folder, folders)):
                return f"{name} is missing"
            with untrusted_files.open_binary(path / name) as file:
                if hashlib.file_digest(file, "sha256").hexdigest() != digest:
                    return f"{name} has changed"
        except (OSError, ValueError):
            return f"{name} is missing"
    return None


def check_trust(path: pathlib.Path) -> None:
    """Refuses to read a checkpoint unless runs are trusted."""
    if not trust.is_granted():
        raise UserError(
            f"checkpoint {str(path)!r} was written by an older boardrl in a format whose sizes cannot be checked "
            f"before reading; if the run is your own, add {trust.FLAG}"
        )


def read(path: pathlib.Path, names: Sequence[str]) -> dict[str, np.ndarray]:
    """The arrays of a checkpoint."""
    import orbax.checkpoint as ocp  # a dependency of flax; imported here because the import is slow

    as_numpy = {name: ocp.RestoreArgs(restore_type=np.ndarray) for name in names}
    with ocp.Checkpointer(ocp.PyTreeCheckpointHandler()) as checkpointer:
        return checkpointer.restore((path / ARRAYS).absolute(), ocp.args.PyTreeRestore(restore_args=as_numpy))
