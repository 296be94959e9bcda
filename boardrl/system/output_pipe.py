"""Standard output whose reader may leave early, as `head` does."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def may_close() -> Iterator[None]:
    """Ends the block without an error as soon as nobody reads standard output any more.

    Flushes it at the end: what is left in the buffer would otherwise fail while Python exits, with a traceback.
    """
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
