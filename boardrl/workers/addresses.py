"""Functions, classes and settings as data: by the place where any process imports them, never by their code."""

from __future__ import annotations

import dataclasses
import importlib
import sys
from typing import Any

from boardrl import config


def of(named: Any) -> str:
    """`package.module:name` of a function or a class at the top level of a module."""
    if "." in named.__qualname__ or "<" in named.__qualname__:
        raise ValueError(f"{named.__qualname__} cannot be imported; define it at the top level of a module")
    module = named.__module__
    if module == "__main__":  # of `python -m package.module`, which other processes import under its name
        spec = sys.modules["__main__"].__spec__
        if spec is None:
            raise ValueError(f"{named.__qualname__} is in a script; define it in a module that can be imported")
        module = spec.name
    return f"{module}:{named.__qualname__}"


def find(address: str) -> Any:
    """The function or class at an address."""
    module, _, name = address.partition(":")
    return getattr(importlib.import_module(module), name)


def settings_to_data(settings: Any) -> dict[str, Any]:
    """A frozen dataclass of settings (boardrl.config)."""
    return {"kind": of(type(settings)), "values": dataclasses.asdict(settings)}


def settings_from_data(data: dict[str, Any]) -> Any:
    """The same settings in another process."""
    return config.from_dict(find(data["kind"]), data["values"])
