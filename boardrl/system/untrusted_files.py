"""Reading untrusted files: links are not followed, and sizes are checked before anything is read."""

from __future__ import annotations

import errno
import io
import json
import math
import os
import pathlib
import stat
from typing import Any, NoReturn


class Refused(OSError):
    """Raised for a file that is unsafe to open; `strerror` says why."""

    def __init__(self, reason: str, path: pathlib.Path) -> None:
        super().__init__(errno.EINVAL, reason, str(path))


def open_file(path: pathlib.Path, flags: int = os.O_RDONLY, *, follow: bool = False) -> int:
    """Opens a regular file and returns its descriptor; raises OSError for anything else.

    A file opened for writing must not have a second hard link, which could be one of the user's own files.

    Args:
      flags: as in `os.open`.
      follow: whether the file may be a symbolic link, as for a path that the user typed.
    """
    try:
        # Without O_NONBLOCK, opening a pipe would wait for a writer.
        descriptor = os.open(path, flags | os.O_CLOEXEC | os.O_NONBLOCK | (0 if follow else os.O_NOFOLLOW), 0o666)
    except OSError as error:
        if error.errno == errno.ELOOP and not follow:
            raise Refused("it is a symbolic link, and links inside a run are not followed", path) from None
        if error.errno in (errno.ENXIO, errno.EISDIR):
            raise Refused("it is not a regular file", path) from None
        raise
    found = os.fstat(descriptor)
    try:
        if not stat.S_ISREG(found.st_mode):
            raise Refused("it is not a regular file", path)
        if flags & (os.O_WRONLY | os.O_RDWR) and found.st_nlink > 1:
            raise Refused("it is a file with several hard links; copy the run first", path)
    except Refused:
        os.close(descriptor)
        raise
    return descriptor


def open_binary(path: pathlib.Path, *, follow: bool = False) -> io.BufferedReader:
    """Opens a regular file for reading."""
    return open(open_file(path, follow=follow), "rb")


def read(path: pathlib.Path, *, most: int, follow: bool = False) -> bytes:
    """The content of a regular file of at most `most` bytes; raises OSError for anything else."""
    with open_binary(path, follow=follow) as file:
        if (size := os.fstat(file.fileno()).st_size) > most:
            raise Refused(f"it has {size:,} bytes, expected at most {most:,}", path)
        data = file.read(most + 1)
    if len(data) > most:  # such as a file under /proc, which has no size
        raise Refused(f"it has more than {most:,} bytes", path)
    return data


def read_json(path: pathlib.Path, *, most: int, follow: bool = False) -> Any:
    """Parses a JSON file of at most `most` bytes."""
    return parse(read(path, most=most, follow=follow))


def parse(data: bytes) -> Any:
    """Parses standard JSON, with finite numbers only; raises ValueError for anything else, and for too deep nesting."""
    try:
        return json.loads(data, parse_constant=_refuse_constant, parse_float=_finite)
    except RecursionError:
        raise ValueError("its nesting is too deep") from None


def is_folder(path: pathlib.Path) -> bool:
    """Whether a path is a directory and not a link to one."""
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def is_link(path: pathlib.Path) -> bool:
    """Whether a path is a symbolic link, wherever it leads."""
    return os.path.islink(path)


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a JSON number")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is too large")
    return value
