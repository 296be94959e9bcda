"""Files that are either whole or not there, whenever the process or the machine dies."""

from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
from collections.abc import Iterator

from boardrl.errors import UserError

SUFFIX = ".tmp"  # of what is not yet in place; left over only by a process that was killed


def write(path: pathlib.Path, data: bytes, *, then: str = "try again") -> None:
    """Replaces a file in one step; `then` as in `writing`."""
    draft = temporary(path)
    with writing(path, draft, then=then):
        create(draft, data)
        draft.replace(path)
        sync(path.parent)


def create(path: pathlib.Path, data: bytes) -> None:
    """Writes a new file to the disk in place of any other of its name; a link of that name is not followed."""
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
    """Reports a full disk or a place that is closed in one sentence, and removes what was half written.

    Args:
      then: what to do once there is room.
    """
    try:
        yield
    except OSError as error:
        if draft is not None:
            with contextlib.suppress(OSError):  # such as a file system that is read-only
                remove(draft)
        raise UserError(
            f"{str(path)!r} cannot be written: {error.strerror or error}; make room there or fix its permissions, "
            f"then {then}"
        ) from None


def place(draft: pathlib.Path, folder: pathlib.Path) -> None:
    """Moves a finished folder to where it belongs, all of it on the disk before its name appears there."""
    for root, _, names in os.walk(draft):
        for name in names:
            sync(pathlib.Path(root, name))
        sync(pathlib.Path(root))
    draft.rename(folder)
    sync(folder.parent)


def temporary(path: pathlib.Path) -> pathlib.Path:
    """Where a file or folder is made ready: beside its place, so that a rename is enough."""
    return path.with_name(f".{path.name}{SUFFIX}")


def clean(folder: pathlib.Path) -> None:
    """Removes what a killed process left unfinished in a folder; only for who holds the run's lock."""
    for name in os.listdir(folder):
        if name.startswith(".") and name.endswith(SUFFIX):
            remove(folder / name)


def remove(path: pathlib.Path) -> None:
    """Removes a file, a folder with all in it, or a link but not what it leads to; nothing if there is none."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def sync(path: pathlib.Path) -> None:
    """Waits until a file, or the list of names in a folder, is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
