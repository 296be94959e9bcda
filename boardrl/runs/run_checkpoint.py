"""A checkpoint as part of a run: bound to its game, algorithm, seed and settings, of finite numbers only."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping
from typing import Any

from boardrl import config as settings_of
from boardrl.game import Game
from boardrl.runs import checkpoint, log_rows
from boardrl.runs.checkpoint import Damaged, Manifest

BOUND = ("game", "algo", "seed", "settings")  # what a checkpoint must have in common with its run
MAY_DIFFER = ("games",)  # settings that --resume may change


def facts(config: Mapping[str, Any]) -> dict[str, Any]:
    """What a checkpoint keeps of its run's config.json, to be known by."""
    return {name: config[name] for name in BOUND}


def notes(manifest: Manifest) -> tuple[dict[str, int], dict[str, Any]]:
    """How long the logs were when a checkpoint was written, and the place of the loop; Damaged if it says neither."""
    lengths, place = manifest.notes.get("lengths"), manifest.notes.get("place")
    if not isinstance(lengths, dict) or not isinstance(place, dict) or set(lengths) != set(log_rows.CHECKS):
        raise Damaged("it is not that of a run")
    if not all(map(log_rows.is_count, lengths.values())):
        raise Damaged("its lengths of the logs are no counts of bytes")
    return lengths, place


def check_state(algorithm: Any, settings: Any, game: Game[Any], state: Any) -> None:
    """Raises Damaged for a state that the algorithm itself refuses."""
    if hasattr(algorithm, "check_state"):
        try:
            algorithm.check_state(settings, game, state)
        except ValueError as error:
            raise Damaged(str(error)) from None


def restore(
    path: pathlib.Path, manifest: Manifest, template: Any, found: Mapping[str, Any], algorithm: Any = None
) -> Any:
    """The state of a verified checkpoint, if it belongs to the run of this config and is a state of finite numbers.

    Args:
      algorithm: the module whose former names of settings and leaves are read as today's.
    """
    if manifest.format == checkpoint.FORMAT and (reason := _foreign(manifest.notes.get("run"), found, algorithm)):
        raise Damaged(f"it is of another run: {reason}")
    state = checkpoint.restore(path, manifest, template, renamed=getattr(algorithm, "RENAMED_LEAVES", {}))
    if (name := checkpoint.first_non_finite(state)) is not None:
        raise Damaged(f"{name} has numbers that are not finite")
    if (int(state.updates), int(state.games)) != (manifest.updates, manifest.games) or manifest.games < 0:
        raise Damaged("its counts are not those of its manifest")
    return state


def _foreign(kept: Any, found: Mapping[str, Any], algorithm: Any) -> str | None:
    """How a checkpoint's run differs from the run of a config; None if it does not.

    A setting that the checkpoint does not know was added since.
    """
    if not isinstance(kept, dict) or not isinstance(kept.get("settings"), dict):
        return "it does not say of which"
    then, now = kept["settings"], found["settings"]
    if algorithm is not None:
        then, now = (settings_of.renamed(algorithm.Config, settings) for settings in (then, now))
    had, has = {**kept, **then}, {**facts(found), **now}
    for name in (*BOUND, *then):
        if name in ("settings", *MAY_DIFFER) or (name in had and name in has and had[name] == has[name]):
            continue
        ours, theirs = (checkpoint.shown(values.get(name)) for values in (has, had))
        return f"{checkpoint.shown(name)} is {theirs} there and {ours} in config.json"
    return None
