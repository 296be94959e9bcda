"""Resources of this machine: cores and memory that the process may use, and errors for what does not fit."""

from __future__ import annotations

import contextlib
import math
import os
import pathlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import jax
import numpy as np

from boardrl.errors import UserError

UNITS = ("bytes", "KB", "MB", "GB", "TB", "PB")
OPERATION_SECONDS = 0.008  # XLA's compile time per operation of a function (measured: 4 to 12 ms on one core)
SLOW_SECONDS = 60.0  # compile time of one function above which the user is warned


def num_cores() -> int:
    """Number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


# --- memory -----------------------------------------------------------------------------------------------------------


def free_memory() -> int:
    """Bytes that can still be allocated: the kernel's estimate, or less in a container with its own limit."""
    known = [bound for bound in (_kernel_estimate(), control_group_free()) if bound is not None]
    return min(known, default=2**63)


def free_device_memory() -> int:
    """Bytes that JAX can still allocate: the machine's memory on a CPU, else the memory of all local devices."""
    stats = [device.memory_stats() for device in jax.local_devices() if device.platform != "cpu"]
    known = [stat["bytes_limit"] - stat["bytes_in_use"] for stat in stats if stat and "bytes_limit" in stat]
    return sum(known) if known else free_memory()


def require(num_bytes: int, what: str, remedy: str, *, free: int | None = None) -> None:
    """Raises UserError for an allocation that exceeds the free memory, before it is made.

    Args:
      what: the subject of the sentence, such as "kilobytes=99999999".
      remedy: what to do, such as "lower it".
      free: available bytes, if not this machine's memory.
    """
    free = free_memory() if free is None else free
    if num_bytes > free:
        raise UserError(f"{what} needs {text(num_bytes)} of memory, and {text(free)} are free; {remedy}")


def require_for(function: Any, *arguments: Any, what: str, remedy: str, **options: Any) -> None:
    """Raises UserError if a jitted function needs more working memory than is free; `what` and `remedy` as above.

    Compiles the function, so a following call with the same arguments does not.
    """
    analysis = function.lower(*arguments, **options).compile().memory_analysis()
    if analysis is not None:  # not all devices provide it
        require(analysis.temp_size_in_bytes, what, remedy, free=free_device_memory())


def text(num_bytes: float) -> str:
    """A size as text, like '1.5 GB'."""
    power = min(int(math.log(max(num_bytes, 1), 1024) + 1e-9), len(UNITS) - 1)
    return f"{num_bytes / 1024**power:,.{1 if power else 0}f} {UNITS[power]}"


def tree_bytes(tree: Any) -> int:
    """Bytes of all arrays of a tree; shapes and dtypes suffice."""
    return sum(math.prod(leaf.shape) * np.dtype(leaf.dtype).itemsize for leaf in jax.tree.leaves(tree))


def _kernel_estimate() -> int | None:
    with contextlib.suppress(OSError, ValueError):
        for line in pathlib.Path("/proc/meminfo").read_text().splitlines():
            name, _, rest = line.partition(":")
            if name == "MemAvailable":
                return 1024 * int(rest.split()[0])
    with contextlib.suppress(OSError, ValueError, AttributeError):  # not Linux: all memory, as the free part is unknown
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None


class _Files(NamedTuple):
    """File names of a version of Linux control groups."""

    limit: str
    usage: str
    cache: str  # in memory.stat: reclaimable memory


_FILES = {
    1: _Files("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    2: _Files("memory.max", "memory.current", "inactive_file"),
}


def control_group_free(
    mount: pathlib.Path = pathlib.Path("/sys/fs/cgroup"), own: pathlib.Path = pathlib.Path("/proc/self/cgroup")
) -> int | None:
    """Bytes that this process's control groups (a container's limits) still allow; None without a limit."""
    bounds = []
    for version, folder in _group_folders(mount, own):
        files = _FILES[version]
        with contextlib.suppress(OSError, ValueError):  # "max", or no such file: no limit
            limit, usage = (int((folder / name).read_text()) for name in (files.limit, files.usage))
            stats = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
            bounds.append(max(limit - usage + int(stats.get(files.cache, 0)), 0))
    return min(bounds, default=None)


def _group_folders(mount: pathlib.Path, own: pathlib.Path) -> Iterator[tuple[int, pathlib.Path]]:
    """(version, folder) of the process's group and all its ancestors, whose limits all apply."""
    try:
        lines = [line.split(":", 2) for line in own.read_text().splitlines()]
    except OSError:
        return
    for number, controllers, path in lines:
        if number == "0":
            version, root = 2, mount
        elif "memory" in controllers.split(","):
            version, root = 1, mount / "memory"
        else:
            continue
        # In a container the path may exist only on the host; then the root of the mount is the container's group.
        folder = root / path.lstrip("/")
        while folder != root:
            yield version, folder
            folder = folder.parent
        yield version, root


# --- games ------------------------------------------------------------------------------------------------------------


def check_game(game: Any, name: str) -> None:
    """Raises UserError for a game in which the successors of one position do not fit into memory.

    Learners, greedy players and solvers hold all of them at the same time.
    """
    try:
        spec, state = game.spec, jax.eval_shape(game.init)
        state_bytes, moves = tree_bytes(state), int(spec.num_moves)
    except Exception:  # a broken game: its users, above all the conformance kit, report how it is broken
        return
    require(
        state_bytes * moves,
        f"game {name!r} has {moves:,} moves and states of {text(state_bytes)}: the set of all successors",
        "choose a smaller game",
    )


def num_operations(function: Any, *arguments: Any) -> int:
    """Number of JAX operations of a function, including inner functions and branches."""
    return _count(jax.make_jaxpr(function)(*arguments).jaxpr)


def _count(jaxpr: Any) -> int:
    parts = [part for equation in jaxpr.eqns for part in jax.tree.leaves(tuple(equation.params.values()))]
    inner = [getattr(part, "jaxpr", part) for part in parts]  # unwraps closed jaxprs
    return len(jaxpr.eqns) + sum(_count(part) for part in inner if hasattr(part, "eqns"))


def compile_warning(game: Any) -> str | None:
    """A warning about rules that take long to compile, such as Python loops over a board; None for others."""
    state, move = jax.eval_shape(game.init), jax.ShapeDtypeStruct((), np.int32)
    count = num_operations(game.step, state, move) + num_operations(game.legal, state)
    seconds = count * OPERATION_SECONDS
    if seconds < SLOW_SECONDS:
        return None
    return (
        f"the rules of {game.spec.name} are {count:,} operations in JAX, and each function that uses them will take "
        f"about {seconds / 60:,.0f} minutes to compile; write loops over cells as operations on arrays"
    )
