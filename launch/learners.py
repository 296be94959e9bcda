"""Algorithms by name: the modules of the package `algorithms`; its subpackages hold what they share."""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from typing import Any

import algorithms
from boardrl.errors import UserError


def names() -> list[str]:
    """All algorithms there are."""
    return sorted(module.name for module in pkgutil.iter_modules(algorithms.__path__) if not module.ispkg)


def load(name: str) -> Any:
    """The module of an algorithm; `boardrl.runs.training` says what it holds."""
    if name not in names():
        near = difflib.get_close_matches(name, names(), 1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise UserError(f"unknown algorithm {name!r}{hint}; known algorithms: {', '.join(names())}")
    return importlib.import_module(f"algorithms.{name}")
