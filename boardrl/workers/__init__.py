"""Work handed out to threads, processes or a Ray cluster: jobs of items, and results that do not depend on which.

with workers.opened("ray"):
    results = workers.active().map(Job(Games, (task,), items, shared=params))
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator

from boardrl.workers import text_form
from boardrl.workers.job import Job
from boardrl.workers.local import Local
from boardrl.workers.workers import Workers, active, in_use, lent, set_default, using

__all__ = ["Job", "Local", "Workers", "active", "in_use", "lent", "make", "opened", "using"]

set_default(functools.cache(lambda: Local(keep=False)))


def make(text: str) -> Workers:
    """The workers of a text like `local:4` or `ray`."""
    form = text_form.parse(text)
    if form.kind == "local":
        return Local(form.number)
    from boardrl.workers.ray_workers import Ray  # Ray is an extra

    return Ray(form.address)


@contextlib.contextmanager
def opened(text: str, *, game: str = "") -> Iterator[Workers]:
    """Within the block the workers of a text are in use.

    Args:
      game: that all of them must have; empty: any.
    """
    with using(make(text)) as workers:
        workers.check(game)
        yield workers
