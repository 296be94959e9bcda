"""config.json of a run directory: the settings of the run, and the software versions that made it."""

from __future__ import annotations

import pathlib
import platform
from collections.abc import Mapping
from importlib import metadata
from typing import Any

from boardrl import config
from boardrl.errors import UserError
from boardrl.runs import log_rows
from boardrl.system import untrusted_files

FORMAT = 1
MOST_CONFIG = 1 << 20  # bytes of a config.json
FIELDS: dict[str, type] = {
    "game": str,
    "algo": str,
    "seed": int,
    "settings": dict,  # the algorithm's Config
    "schedule": dict,  # the training loop's Schedule
    "versions": dict,
    "devices": int,
}


def versions() -> dict[str, str]:
    """The software versions and devices that, beside the seed, determine the numbers of a run."""
    packages = {name: metadata.version(name) for name in ("boardrl", "jax", "jaxlib", "flax", "optax", "numpy")}
    return {"python": platform.python_version(), **packages}


def read_config(path: pathlib.Path) -> dict[str, Any]:
    """The validated config.json of a run directory."""
    file = path / "config.json"
    try:
        found = untrusted_files.read_json(file, most=MOST_CONFIG)
    except (FileNotFoundError, NotADirectoryError):
        raise UserError(f"{str(path)!r} is not a run directory: it has no config.json; give one under runs/") from None
    except OSError as error:
        raise UserError(f"{str(file)!r} cannot be read: {error.strerror}; restore it, or start a new run") from None
    except ValueError:
        raise UserError(f"{str(file)!r} cannot be read as JSON; restore it, or start a new run") from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise UserError(f"{str(file)!r} is not from a boardrl run of format {FORMAT}; use the version that wrote it")
    texts = [found.get("game"), found.get("algo"), *_versions(found)]
    for name, kind in FIELDS.items():
        if type(found.get(name)) is not kind:
            raise UserError(f"{str(file)!r} has no valid {name!r}; restore it, or start a new run")
    if not all(map(log_rows.is_text, texts)):
        raise UserError(f"{str(file)!r} has a game, algo or versions that are not plain text; restore it")
    return found


def _versions(found: Mapping[str, Any]) -> list[Any]:
    versions = found.get("versions")
    return [*versions, *versions.values()] if isinstance(versions, dict) else []


def read_settings(kind: type[config.ConfigType], found: Mapping[str, Any], section: str) -> config.ConfigType:
    """The dataclass of a section of a config.json; settings missing from an older file have their default."""
    version = found["versions"].get("boardrl", "unknown")
    return config.from_dict(kind, found[section], written_by=f"boardrl {version}")
