"""Checkpoints: arrays stored by orbax beside a manifest that can tell whether a single bit has changed."""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import re
import shutil
from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import numpy as np

from boardrl import atomic
from boardrl.errors import UserError

FORMAT = 1
MANIFEST = "manifest.json"
ARRAYS = "arrays"  # the orbax folder
ROOM, ROOM_AN_ARRAY = 96 << 10, 1 << 10  # bytes on the disk beside those of the arrays, at most


class Damaged(Exception):
    """A checkpoint that cannot be trusted; the text says why."""


class Manifest(NamedTuple):
    """What is known about a checkpoint before its arrays are read."""

    updates: int
    games: int
    leaves: dict[str, str]  # name: dtype and shape, as 'float32[27,64]'
    files: dict[str, str]  # path under the checkpoint: sha256
    notes: dict[str, Any]  # what the run wants to find again


def save(folder: pathlib.Path, state: Any, *, notes: Mapping[str, Any]) -> pathlib.Path:
    """Writes a TrainState to `folder/<updates>`, whole or not at all."""
    path = folder / str(int(state.updates))
    draft = atomic.temporary(path)
    if draft.exists():
        shutil.rmtree(draft)
    draft.mkdir(parents=True)
    try:
        _write(draft, state, notes)
        atomic.place(draft, path)
    except OSError:  # such as a full disk, on which what is half written would be in the way
        shutil.rmtree(draft, ignore_errors=True)
        raise
    return path


def _write(draft: pathlib.Path, state: Any, notes: Mapping[str, Any]) -> None:
    arrays = {name: np.asarray(leaf) for name, leaf in _named(state).items()}
    # A full disk is found here, and not by orbax, whose threads print page upon page about it.
    atomic.reserve(draft, ROOM + sum(ROOM_AN_ARRAY + array.nbytes for array in arrays.values()))
    _write_arrays(draft / ARRAYS, {name: array for name, array in arrays.items() if array.size})
    manifest = Manifest(
        updates=int(state.updates),
        games=int(state.games),
        leaves={name: _kind(array) for name, array in arrays.items()},
        files={str(file.relative_to(draft)): _hash(file) for file in sorted(draft.rglob("*")) if file.is_file()},
        notes=dict(notes),
    )
    body = {"format": FORMAT, **manifest._asdict()}
    (draft / MANIFEST).write_text(json.dumps({"sha256": _seal(body), "manifest": body}, indent=1) + "\n")


def steps(folder: pathlib.Path) -> list[int]:
    """The updates at which there are checkpoints, oldest first."""
    names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    return sorted(int(name) for name in names if name.isascii() and name.isdecimal())


def prune(folder: pathlib.Path, *, keep: int) -> None:
    """Removes all but the newest checkpoints; a half-removed one is hidden as unfinished work."""
    for updates in steps(folder)[:-keep]:
        path = folder / str(updates)
        shutil.rmtree(path.rename(atomic.temporary(path)))


def verify(path: pathlib.Path) -> Manifest:
    """The manifest of a checkpoint of which every byte is as it was written; Damaged if not."""
    try:
        stored = json.loads((path / MANIFEST).read_text())
        body = stored["manifest"]
        if stored["sha256"] != _seal(body):
            raise Damaged(f"{MANIFEST} has changed")
        if body["format"] != FORMAT:
            raise Damaged(f"it has format {body['format']!r}, this version of boardrl reads {FORMAT}")
        manifest = Manifest(**{field: body[field] for field in Manifest._fields})
        kinds = {field: type(value) for field, value in manifest._asdict().items()}
        if kinds != {"updates": int, "games": int, "leaves": dict, "files": dict, "notes": dict}:
            raise Damaged(f"{MANIFEST} is not one of boardrl's")
        if path.name != str(manifest.updates):
            raise Damaged(f"it is that of update {manifest.updates}")
    except FileNotFoundError:
        raise Damaged(f"{MANIFEST} is missing") from None
    except (OSError, ValueError, LookupError, TypeError):
        raise Damaged(f"{MANIFEST} cannot be read") from None
    for name, digest in manifest.files.items():
        try:
            if _hash(path / name) != digest:
                raise Damaged(f"{name} has changed")
        except OSError:
            raise Damaged(f"{name} is missing") from None
    return manifest


def restore(path: pathlib.Path, manifest: Manifest, template: Any) -> Any:
    """The stored TrainState, in numpy arrays, with the structure, dtypes and shapes of `template`."""
    wanted = _named(template)
    kinds = {name: _kind(leaf) for name, leaf in wanted.items()}
    for name in sorted(kinds.keys() | manifest.leaves.keys()):
        if kinds.get(name) != manifest.leaves.get(name):
            raise UserError(
                f"checkpoint {path} does not fit: it has {name} as {manifest.leaves.get(name, 'nothing')}, expected "
                f"{kinds.get(name, 'nothing')}; use the version of the algorithm and the game that made it"
            )
    arrays = {name: np.zeros(leaf.shape, leaf.dtype) for name, leaf in wanted.items()}
    filled = [name for name, array in arrays.items() if array.size]
    try:
        arrays |= _read_arrays(path / ARRAYS, filled)
    except Exception as error:  # whatever orbax trips over in a folder that it has not written itself
        raise Damaged(f"orbax cannot read it: {error}") from error
    if {name: _kind(array) for name, array in arrays.items()} != kinds:
        raise Damaged("its arrays are not those of its manifest")
    return jax.tree.unflatten(jax.tree.structure(template), arrays.values())


def _named(state: Any) -> dict[str, Any]:
    """Every leaf by its place in the tree, as 'params.layer.kernel', in the order of the tree."""
    pairs = jax.tree_util.tree_leaves_with_path(state)
    named = {jax.tree_util.keystr(path, simple=True, separator="."): leaf for path, leaf in pairs}
    if len(named) != len(pairs):
        raise ValueError(f"two leaves of a {type(state).__name__} have the same name; rename one of the fields")
    return named


def _kind(leaf: Any) -> str:
    return f"{np.dtype(leaf.dtype).name}[{','.join(map(str, leaf.shape))}]"


def _seal(body: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def _hash(path: pathlib.Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# Flat dictionaries of numpy arrays are what orbax stores and reads fastest (30 and 10 ms for a small net), and
# they leave no trace of the devices that were used. It cannot store arrays without elements.


def _write_arrays(path: pathlib.Path, arrays: dict[str, np.ndarray]) -> None:
    import orbax.checkpoint as ocp  # here, as commands that read no checkpoint need not wait for this import

    try:
        with ocp.Checkpointer(ocp.PyTreeCheckpointHandler()) as checkpointer:
            checkpointer.save(path.absolute(), ocp.args.PyTreeSave(arrays))
    except ValueError as error:  # what it says of a full disk is a text that ends in [os_error_code='28']
        if (code := re.search(r"os_error_code='(\d+)'", str(error))) is None:
            raise
        raise OSError(int(code[1]), os.strerror(int(code[1])), str(path)) from error


def _read_arrays(path: pathlib.Path, names: list[str]) -> dict[str, np.ndarray]:
    import orbax.checkpoint as ocp

    as_numpy = {name: ocp.RestoreArgs(restore_type=np.ndarray) for name in names}
    with ocp.Checkpointer(ocp.PyTreeCheckpointHandler()) as checkpointer:
        return checkpointer.restore(path.absolute(), ocp.args.PyTreeRestore(restore_args=as_numpy))
