"""The software that numbers depend on, compared between a worker and the process that it works for."""

from __future__ import annotations

import functools
import hashlib
import pathlib
import platform
from collections.abc import Mapping
from importlib import metadata

import boardrl

PACKAGES = ("boardrl", "jax", "jaxlib", "numba", "numpy", "flax", "optax")
OURS = ("boardrl", "games", "search", "algorithms")  # whose code decides what workers compute
SOURCE = "source"


@functools.cache
def versions() -> dict[str, str]:
    """Versions of Python and of packages, and a digest of our own code, of which there may be changed copies."""
    home, digest = pathlib.Path(boardrl.__file__).parents[1], hashlib.sha256()
    for name in OURS:
        for path in sorted((home / name).rglob("*.py")):
            digest.update(str(path.relative_to(home)).encode() + b"\0" + path.read_bytes())
    packages = {name: metadata.version(name) for name in PACKAGES}
    return {"python": platform.python_version(), **packages, SOURCE: digest.hexdigest()[:12]}


def difference(theirs: Mapping[str, str]) -> str:
    """How this process differs from the one that it works for, in words; empty if it does not."""
    ours = versions()
    differ = [name for name in theirs if ours.get(name) != theirs[name]]
    if differ == [SOURCE]:
        return f"another copy of boardrl's code ({ours[SOURCE]}) than this process ({theirs[SOURCE]})"
    named = [name for name in differ if name != SOURCE]
    has = ", ".join(f"{name} {ours.get(name, 'missing')}" for name in named)
    wants = ", ".join(f"{name} {theirs[name]}" for name in named)
    return f"{has}, but this process has {wants}" if named else ""
