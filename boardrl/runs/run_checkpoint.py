"""A checkpoint as part of a run: tied to its game, algorithm, seed and settings, with finite numbers only."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping
from typing import Any

from boardrl import config as settings_of
from boardrl.game import Game
from boardrl.runs import checkpoint, log_rows
from boardrl.runs.checkpoint import Damaged, Manifest

BOUND = ("game", "algo", "seed", "settings")  # fields in which a checkpoint must match its run
MAY_DIFFER = ("games",)  # settings that --resume may change


def facts(config: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a run's config.json that its checkpoints store, to detect a checkpoint of another run."""
    return {name: config[name] for name in BOUND}


def notes(manifest: Manifest) -> tuple[dict[str, int], dict[str, Any]]:
    """The lengths of the logs when a checkpoint was written, and the loop's `place`; raises Damaged without them."""
    lengths, place = manifest.notes.get("lengths"), manifest.notes.get("place")
    if not isinstance(lengths, dict) or not isinstance(place, dict) or set(lengths) != set(log_rows.CHECKS):
        raise Damaged("it does not belong to a run")
    if not all(map(log_rows.is_count, lengths.values())):
        raise Damaged("its lengths of the logs are not numbers of bytes")
    return lengths, place


def check_state(algorithm: Any, settings: Any, game: Game[Any], state: Any) -> None:
    """Raises Damaged for a state that the algorithm's `check_state` refuses."""
    if hasattr(algorithm, "check_state"):
        try:
            algorithm.check_state(settings, game, state)
        except ValueError as error:
            raise Damaged(str(error)) from None


def restore(
    path: pathlib.Path, manifest: Manifest, template: Any, found: Mapping[str, Any], algorithm: Any = None
) -> Any:
    """The state of a verified checkpoint; raises Damaged if it belongs to another run or has non-finite numbers.

    Args:
      algorithm: the module, whose former names of settings and leaves are read as today's.
    """
    if manifest.format == checkpoint.FORMAT and (reason := _foreign(manifest.notes.get("run"), found, algorithm)):
        raise Damaged(f"it belongs to another run: {reason}")
    state = checkpoint.restore(path, manifest, template, renamed=getattr(algorithm, "RENAMED_LEAVES", {}))
    if (name := checkpoint.first_non_finite(state)) is not None:
        raise Damaged(f"{name} has numbers that are not finite")
    if (int(state.updates), int(state.games)) != (manifest.updates, manifest.games) or manifest.games < 0:
        raise Damaged("its counts do not match its manifest")
    return state


def _foreign(kept: Any, found: Mapping[str, Any], algorithm: Any) -> str | None:
    """How a checkpoint's run differs from the run of a config; None if it does not.

    Settings missing from the checkpoint are ignored: they were added later.
    """
    if not isinstance(kept, dict) or not isinstance(kept.get("settings"), dict):
        return "it does not say which"
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
