"""Checkpoints of format 1, whose arrays orbax wrote: still read, but only from runs that are trusted.

orbax and tensorstore take the sizes of arrays from files of their own, and allocate them before anybody can look; and
they misread paths with [, ], * or ? (orbax looks for its files by patterns) and with a backslash (tensorstore takes it
for a slash), so that checkpoints under such paths were written but never found again.
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
    """What is wrong with the files of a checkpoint; None if every byte is as it was written.

    Args:
      files: path under the checkpoint: sha256, as the manifest has them.
    """
    for name, digest in files.items():
        parts = name.split("/")
        if parts[0] != ARRAYS or any(part in ("", ".", "..") for part in parts) or not name.isprintable():
            return f"{name[:60]!r} is no name of a file of orbax's"
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
            f"checkpoint {str(path)!r} was written by an older boardrl in a format of which sizes cannot be checked "
            f"before reading; if the run is your own, add {trust.FLAG}"
        )


def read(path: pathlib.Path, names: Sequence[str]) -> dict[str, np.ndarray]:
    """The arrays of a checkpoint."""
    import orbax.checkpoint as ocp  # flax brings it; here, as other commands need not wait for this import

    as_numpy = {name: ocp.RestoreArgs(restore_type=np.ndarray) for name in names}
    with ocp.Checkpointer(ocp.PyTreeCheckpointHandler()) as checkpointer:
        return checkpointer.restore((path / ARRAYS).absolute(), ocp.args.PyTreeRestore(restore_args=as_numpy))
