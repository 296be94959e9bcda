"""Cache files that end with a checksum of their content: a damaged file is detected when it is read, and rebuilt.

Only for data that can be rebuilt at any time. The content is on the disk before the file gets its name, so a crash of
the machine leaves no truncated file; a file damaged in some other way counts as missing.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pathlib
import sys
import tempfile

SEAL = b"# sha256 "  # begins the last line, which is a comment to Python and ignored by pickle
_SEAL_BYTES = len(SEAL) + 64 + 1

_warned = False


def write(path: pathlib.Path, content: bytes) -> None:
    """Replaces a file atomically; if several processes do so at once, the last one wins."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content + _seal(content))
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def read(path: pathlib.Path) -> bytes | None:
    """The content of a file; None if it is missing or, after a warning, damaged."""
    try:
        if not path.is_file():  # opening a named pipe would wait for a writer
            if path.is_symlink() or path.exists():
                warn(path)
            return None
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError:
        warn(path)
        return None
    content, seal = data[:-_SEAL_BYTES], data[-_SEAL_BYTES:]
    if seal != _seal(content):
        warn(path)
        return None
    return content


def warn(path: pathlib.Path) -> None:
    """Reports a damaged file on standard error, only the first one in this process: there may be many."""
    global _warned
    if not _warned:
        _warned = True
        print(f"warning: the cache file {str(path)!r} is damaged; it and others will be rebuilt", file=sys.stderr)


def _seal(content: bytes) -> bytes:
    return SEAL + hashlib.sha256(content).hexdigest().encode() + b"\n"
