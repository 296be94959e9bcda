"""Cache of emitted modules on disk, in sealed files (boardrl.system.sealed_files), keyed by their origin."""

from __future__ import annotations

import functools
import hashlib
import os
import pathlib
import platform
import sys
import types

import jax
import numba
import numpy as np

from boardrl.errors import UserError
from boardrl.system import sealed_files

PACKAGE = "boardrl_lowered"  # under this name emitted modules are imported


def folder() -> pathlib.Path:
    """Where emitted modules and Numba's compiled code for them are kept."""
    return pathlib.Path(os.environ.get("BOARDRL_CACHE", pathlib.Path.home() / ".cache" / "boardrl")) / "lowered"


@functools.cache
def toolchain() -> str:
    """A digest of everything but the program that determines what is emitted and compiled."""
    digest = hashlib.sha256()
    for path in sorted(pathlib.Path(__file__).parent.rglob("*.py")):
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
    source = sealed_files.read(folder() / f"{name}.py")
    return None if source is None else _load(name, source)


def write(name: str, source: str) -> types.ModuleType:
    """Writes a module to disk and loads it; processes that do so at the same time all write the same text."""
    place = folder()
    try:
        place.mkdir(parents=True, exist_ok=True)
        sealed_files.write(place / f"{name}.py", source.encode())
    except OSError as error:
        raise UserError(
            f"cannot write compiled rules to {str(place)!r}: {error.strerror}; "
            "set the environment variable BOARDRL_CACHE to a folder that can be written"
        ) from error
    return _load(name, source.encode())


def _load(name: str, source: bytes) -> types.ModuleType:
    """Loads a module from the source that was just read or written, never from an unchecked compiled copy."""
    package = sys.modules.setdefault(PACKAGE, types.ModuleType(PACKAGE, "Modules emitted by boardrl.lowering."))
    full_name, path = f"{PACKAGE}.{name}", folder() / f"{name}.py"
    if full_name not in sys.modules:
        module = types.ModuleType(full_name)
        module.__file__, module.__package__ = str(path), PACKAGE
        sys.modules[full_name] = module
        try:
            exec(compile(source, str(path), "exec"), vars(module))
        except BaseException:
            del sys.modules[full_name]
            raise
        setattr(package, name, module)
    return sys.modules[full_name]
