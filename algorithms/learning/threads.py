"""Work in parts that run at the same time, a thread each: compiled code lets the others run."""

from __future__ import annotations

import concurrent.futures
import functools
from collections.abc import Callable
from typing import Any, TypeVar

import jax

Result = TypeVar("Result")


def together(work: Callable[[int], Result], count: int) -> list[Result]:
    """[work(0), work(1), ...], all finished; the same whatever the number of cores."""

    def finished(part: int) -> Result:
        return jax.block_until_ready(work(part))

    return list(_threads(count).map(finished, range(count)))


def slice_of(batch: Any, part: Any, count: int) -> Any:
    """The rows of one of `count` equal parts of every leaf's first axis."""
    size = jax.tree.leaves(batch)[0].shape[0] // count
    return jax.tree.map(lambda leaf: jax.lax.dynamic_slice_in_dim(leaf, part * size, size), batch)


@functools.cache
def _threads(count: int) -> concurrent.futures.ThreadPoolExecutor:
    return concurrent.futures.ThreadPoolExecutor(count, "part")
