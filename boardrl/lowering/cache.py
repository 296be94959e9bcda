"""Emitted modules on disk: written whole or not at all, found again by what they were made from."""

from __future__ import annotations

import functools
import hashlib
import importlib
import os
import pathlib
import platform
import sys
import tempfile
import types

import jax
import numba
import numpy as np

from boardrl.errors import UserError

PACKAGE = "boardrl_lowered"  # under this name emitted modules are imported


def folder() -> pathlib.Path:
    """Where emitted modules and Numba's compiled code for them are kept."""
    return pathlib.Path(os.environ.get("BOARDRL_CACHE", pathlib.Path.home() / ".cache" / "boardrl")) / "lowered"


@functools.cache
def toolchain() -> str:
    """A digest of everything besides the program that decides what is emitted and compiled."""
    digest = hashlib.sha256()
    for path in sorted(pathlib.Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    versions = (jax.__version__, numba.__version__, np.__version__, platform.python_version())
    digest.update(repr(versions).encode())
    return digest.hexdigest()


def module_name(name: str, *texts: str) -> str:
    """A name for the module made from these texts by this toolchain."""
    digest = hashlib.sha256(toolchain().encode())
    for text in texts:
        digest.update(len(text).to_bytes(8, "little") + text.encode())
    return f"{name}_{digest.hexdigest()[:16]}"


def find(name: str) -> types.ModuleType | None:
    """The emitted module of that name, if an earlier run of any process has written it."""
    return _load(name) if (folder() / f"{name}.py").exists() else None


def write(name: str, source: str) -> types.ModuleType:
    """Puts a module on disk and loads it; of several processes that do so at once, the last to finish is read.

    All of them write the same text, and a file appears under its name only when it is complete.
    """
    place = folder()
    try:
        place.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=place, prefix=f".{name}.", suffix=".tmp")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(source)
        if (place / f"{name}.py").exists():
            # A file that is there stays there: Numba's cache goes by its time of change.
            os.unlink(temporary)
        else:
            os.replace(temporary, place / f"{name}.py")
    except OSError as error:
        raise UserError(
            f"cannot write compiled rules to {str(place)!r}: {error.strerror}; "
            "set the environment variable BOARDRL_CACHE to a folder that can be written"
        ) from error
    return _load(name)


def _load(name: str) -> types.ModuleType:
    package = sys.modules.get(PACKAGE)
    if package is None:
        package = sys.modules[PACKAGE] = types.ModuleType(PACKAGE, "Modules emitted by boardrl.lowering.")
    package.__path__ = [str(folder())]  # a test may have moved the cache
    importlib.invalidate_caches()
    return importlib.import_module(f"{PACKAGE}.{name}")
