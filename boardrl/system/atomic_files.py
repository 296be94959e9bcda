"""Atomic file writes: a file is either complete or absent, whenever the process or the machine dies."""

from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
from collections.abc import Iterator

from boardrl.errors import UserError

SUFFIX = ".tmp"  # of unfinished files and folders; only a killed process leaves them behind


def write(path: pathlib.Path, data: bytes, *, then: str = "try again") -> None:
    """Replaces a file atomically; `then` as in `writing`."""
    draft = temporary(path)
    with writing(path, draft, then=then):
        create(draft, data)
        draft.replace(path)
        sync(path.parent)


def create(path: pathlib.Path, data: bytes) -> None:
    """Creates a file on the disk, replacing any file or link of that name; a link is not followed."""
    path.unlink(missing_ok=True)
    with open(path, "xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def check_writable(path: pathlib.Path) -> None:
    """Raises OSError if `write` could not replace a file there."""
    draft = temporary(path)
    create(draft, b"")
    draft.unlink()


@contextlib.contextmanager
def writing(path: pathlib.Path, draft: pathlib.Path | None = None, *, then: str = "try again") -> Iterator[None]:
    """Reports a full disk or missing permissions in one sentence, and removes the partial file.

    Args:
      then: what the user should do after fixing the cause.
    """
    try:
        yield
    except OSError as error:
        if draft is not None:
            with contextlib.suppress(OSError):  # such as a read-only file system
                remove(draft)
        raise UserError(
            f"{str(path)!r} cannot be written: {error.strerror or error}; make room there or fix its permissions, "
            f"then {then}"
        ) from None


def place(draft: pathlib.Path, folder: pathlib.Path) -> None:
    """Moves a finished folder to its final path, after syncing all its files to the disk."""
    for root, _, names in os.walk(draft):
        for name in names:
            sync(pathlib.Path(root, name))
        sync(pathlib.Path(root))
    draft.rename(folder)
    sync(folder.parent)


def temporary(path: pathlib.Path) -> pathlib.Path:
    """The temporary path of a file or folder: beside its final path, so that a rename completes it."""
    return path.with_name(f".{path.name}{SUFFIX}")


def clean(folder: pathlib.Path) -> None:
    """Removes unfinished files that a killed process left in a folder; the caller must hold the run's lock."""
    for name in os.listdir(folder):
        if name.startswith(".") and name.endswith(SUFFIX):
            remove(folder / name)


def remove(path: pathlib.Path) -> None:
    """Removes a file, a folder with its contents, or a link (not its target); does nothing if the path is missing."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def sync(path: pathlib.Path) -> None:
    """Syncs a file, or the directory entries of a folder, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
