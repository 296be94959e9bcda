"""Checkpoints: the arrays of a TrainState, and a manifest whose checksums detect any change.

checkpoints/<updates>/
  manifest.json         updates, games, dtype and shape of every array, size and sha256 of the other file, notes
  arrays.safetensors    the arrays in the safetensors format: a header of JSON, then their bytes, little-endian

Both files have fixed names, and their sizes are known before they are read. So an untrusted checkpoint can neither
point outside its folder nor make the reader allocate more than the requested state.
"""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import pathlib
import re
import shutil
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import jax
import numpy as np

from boardrl.errors import UserError
from boardrl.runs import orbax_checkpoint
from boardrl.system import atomic_files, machine, untrusted_files

FORMAT = 2
MANIFEST = "manifest.json"
ARRAYS = "arrays.safetensors"
MOST_MANIFEST = 64 << 20  # bytes; mostly the metrics of the updates since the last log line
MOST_SHOWN = 60  # characters of a stored value in a message
NAME = re.compile(r"0|[1-9][0-9]{0,9}")  # folder name of a checkpoint: its number of updates, which fits 32 bits
ASIDE = ".damaged"  # suffix of the name of a damaged checkpoint
DTYPES = {  # numpy dtypes by their safetensors names
    "bool": "BOOL",
    "bfloat16": "BF16",
    **{f"{kind}{bits}": f"{kind[0].upper()}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)},
    **{f"float{bits}": f"F{bits}" for bits in (16, 32, 64)},
}


class Damaged(Exception):
    """Raised for a damaged checkpoint; the text says why."""


class Manifest(NamedTuple):
    """What is known about a checkpoint before its arrays are read."""

    updates: int
    games: int
    leaves: dict[str, str]  # name: dtype and shape, as 'float32[27,64]'
    files: dict[str, Any]  # size and sha256 of each of the other files
    notes: dict[str, Any]  # data of the run, such as the lengths of its logs
    format: int = FORMAT


def save(folder: pathlib.Path, state: Any, *, notes: Mapping[str, Any]) -> pathlib.Path:
    """Writes a TrainState to `folder/<updates>` atomically, after verifying the written files."""
    path = folder / str(int(state.updates))
    draft = atomic_files.temporary(path)
    atomic_files.remove(draft)
    draft.mkdir(parents=True)
    try:
        _write(draft, state, notes)
        _read_back(draft, state)
        atomic_files.place(draft, path)
    except OSError:  # such as a full disk: a partial checkpoint must not remain
        shutil.rmtree(draft, ignore_errors=True)
        raise
    return path


def _write(draft: pathlib.Path, state: Any, notes: Mapping[str, Any]) -> None:
    arrays = {name: np.asarray(leaf) for name, leaf in _named(state).items()}
    digest = hashlib.sha256()
    with open(draft / ARRAYS, "xb") as file:
        for part in (np.frombuffer(_header(arrays), np.uint8), *map(_bytes, arrays.values())):
            digest.update(part.data)
            file.write(part.data)
        size = file.tell()
    manifest = Manifest(
        updates=int(state.updates),
        games=int(state.games),
        leaves={name: _kind(array) for name, array in arrays.items()},
        files={ARRAYS: {"bytes": size, "sha256": digest.hexdigest()}},
        notes=dict(notes),
    )
    body = manifest._asdict()
    content = json.dumps({"sha256": _seal(body), "manifest": body}, indent=1, allow_nan=False)
    (draft / MANIFEST).write_text(content + "\n")


def _read_back(draft: pathlib.Path, state: Any) -> None:
    """Raises OSError unless the files on the disk have the checksums of the data in memory."""
    try:
        _verify(draft, str(int(state.updates)))
    except Damaged as damage:
        raise OSError(errno.EIO, f"verification of the written files failed: {damage}", str(draft)) from None


def steps(folder: pathlib.Path) -> list[int]:
    """The update numbers of all checkpoints, oldest first."""
    return sorted(int(name) for name in _names(folder) if NAME.fullmatch(name))


def set_aside(folder: pathlib.Path) -> list[str]:
    """The names of damaged checkpoints that training set aside; they can still be loaded by name."""
    return sorted(name for name in _names(folder) if NAME.fullmatch(name.partition(ASIDE)[0]) and ASIDE in name)


def _names(folder: pathlib.Path) -> list[str]:
    """The names of the subfolders of a folder, without symbolic links."""
    names = os.listdir(folder) if untrusted_files.is_folder(folder) else []
    return [name for name in names if untrusted_files.is_folder(folder / name)]


def prune(folder: pathlib.Path, *, keep: int) -> None:
    """Removes all but the newest `keep` checkpoints; each is renamed to a temporary name first."""
    for updates in steps(folder)[:-keep]:
        path = folder / str(updates)
        shutil.rmtree(path.rename(atomic_files.temporary(path)))


def verify(path: pathlib.Path) -> Manifest:
    """The manifest of a checkpoint whose files match their checksums; raises Damaged otherwise."""
    return _verify(path, path.name.partition(ASIDE)[0], limited=True)


def _verify(path: pathlib.Path, name: str, *, limited: bool = False) -> Manifest:
    """`verify` for a folder that may still have a temporary name.

    Args:
      limited: refuses a checkpoint too large for this machine's memory before reading its arrays.
    """
    manifest = _manifest(path)
    if name != str(manifest.updates):
        raise Damaged(f"it is the checkpoint of update {shown(manifest.updates)}")
    if manifest.format == orbax_checkpoint.FORMAT:
        if reason := orbax_checkpoint.damage(path, manifest.files):
            raise Damaged(reason)
        return manifest
    expected = manifest.files.get(ARRAYS)
    if set(manifest.files) != {ARRAYS} or not isinstance(expected, dict) or type(expected.get("bytes")) is not int:
        raise Damaged(f"{MANIFEST} is not one of boardrl's")
    if limited:
        machine.require(expected["bytes"], f"checkpoint {str(path)!r}", "give another checkpoint")
    with _open_arrays(path, expected["bytes"]) as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != expected.get("sha256"):
            raise Damaged(f"{ARRAYS} has changed")
    return manifest


def _manifest(path: pathlib.Path) -> Manifest:
    if not untrusted_files.is_folder(path):
        raise Damaged("it is a symbolic link" if untrusted_files.is_link(path) else "it is not a folder")
    try:
        content = untrusted_files.read_json(path / MANIFEST, most=MOST_MANIFEST)
        body = content["manifest"]
        if content["sha256"] != _seal(body):
            raise Damaged(f"{MANIFEST} has changed")
        if type(body["format"]) is not int or body["format"] not in (FORMAT, orbax_checkpoint.FORMAT):
            raise Damaged(f"it has format {shown(body['format'])}, this version of boardrl reads {FORMAT}")
        manifest = Manifest(**{field: body[field] for field in Manifest._fields})
    except FileNotFoundError:
        raise Damaged(f"{MANIFEST} is missing") from None
    except OSError as error:
        _refuse_access(path, error)
        raise Damaged(f"{MANIFEST} cannot be read: {error.strerror}") from None
    except (ValueError, LookupError, TypeError, RecursionError):
        raise Damaged(f"{MANIFEST} cannot be read") from None
    kinds = {field: type(value) for field, value in manifest._asdict().items()}
    if kinds != {"updates": int, "games": int, "leaves": dict, "files": dict, "notes": dict, "format": int}:
        raise Damaged(f"{MANIFEST} is not one of boardrl's")
    return manifest


def restore(path: pathlib.Path, manifest: Manifest, template: Any, *, renamed: Mapping[str, str] | None = None) -> Any:
    """The stored TrainState as numpy arrays, with the structure, dtypes and shapes of `template`.

    Args:
      renamed: former names of leaves, or former prefixes of their names, by today's.
    """
    wanted = _named(template)
    for now, then in (renamed or {}).items():
        if not any(_begins(name, now) for name in manifest.leaves):
            wanted = {then + name[len(now) :] if _begins(name, now) else name: leaf for name, leaf in wanted.items()}
    kinds = {name: _kind(leaf) for name, leaf in wanted.items()}
    for name in sorted(kinds.keys() | manifest.leaves.keys()):
        if kinds.get(name) != manifest.leaves.get(name):
            had = shown(manifest.leaves[name]) if name in manifest.leaves else "nothing"
            raise UserError(
                f"checkpoint {path} does not fit: it has {name} as {had}, expected "
                f"{kinds.get(name, 'nothing')}; use the version of the algorithm and the game that made it"
            )
    # After the comparison, whose message is more specific, and before the memory is allocated.
    size = machine.tree_bytes(template)
    machine.require(size, f"the state in checkpoint {str(path)!r}", "give another checkpoint")
    if manifest.format == orbax_checkpoint.FORMAT:
        arrays = _read_old(path, wanted, kinds)
    else:
        arrays = _read_arrays(path, wanted, len(_header(wanted)) + size)
    return jax.tree.unflatten(jax.tree.structure(template), arrays.values())


def _read_arrays(path: pathlib.Path, wanted: Mapping[str, Any], size: int) -> dict[str, np.ndarray]:
    header, arrays = _header(wanted), {}
    with _open_arrays(path, size) as file:
        if file.read(len(header)) != header:
            raise Damaged("its arrays do not match its manifest")
        for name, leaf in wanted.items():
            array = np.empty(leaf.shape, leaf.dtype)
            if file.readinto(_bytes(array).data) != array.nbytes:
                raise Damaged(f"{ARRAYS} ends early")
            if array.dtype == bool and (_bytes(array) > 1).any():
                raise Damaged(f"{name} has values that are neither true nor false")
            arrays[name] = array
    return arrays


def _read_old(path: pathlib.Path, wanted: Mapping[str, Any], kinds: Mapping[str, str]) -> dict[str, np.ndarray]:
    orbax_checkpoint.check_trust(path)
    arrays = {name: np.zeros(leaf.shape, leaf.dtype) for name, leaf in wanted.items()}
    try:
        arrays |= orbax_checkpoint.read(path, [name for name, array in arrays.items() if array.size])
    except Exception as error:  # orbax may raise anything on a damaged folder
        raise Damaged(f"orbax cannot read it: {error}") from error
    if {name: _kind(array) for name, array in arrays.items()} != kinds:
        raise Damaged("its arrays do not match its manifest")
    return arrays


def _open_arrays(path: pathlib.Path, size: int) -> io.BufferedReader:
    """Opens the file of arrays; raises Damaged unless it has the expected size."""
    try:
        file = untrusted_files.open_binary(path / ARRAYS)
    except FileNotFoundError:
        raise Damaged(f"{ARRAYS} is missing") from None
    except OSError as error:
        _refuse_access(path, error)
        raise Damaged(f"{ARRAYS} cannot be read: {error.strerror}") from None
    if (found := os.fstat(file.fileno()).st_size) != size:
        file.close()
        raise Damaged(f"{ARRAYS} has {found:,} bytes, expected {size:,}")
    return file


def _refuse_access(path: pathlib.Path, error: OSError) -> None:
    """Raises UserError for errors such as missing permissions, which do not mean that the checkpoint is damaged."""
    if error.errno in (errno.EACCES, errno.EPERM, errno.EMFILE, errno.ENFILE, errno.ENOMEM):
        raise UserError(f"checkpoint {str(path)!r} cannot be read: {error.strerror}; fix that and try again") from None


def first_non_finite(state: Any) -> str | None:
    """The name of the first leaf of a state with a NaN or an infinity; None if all are finite."""
    for name, leaf in _named(state).items():
        if jax.numpy.issubdtype(leaf.dtype, jax.numpy.inexact) and not np.isfinite(leaf).all():
            return name
    return None


def _named(state: Any) -> dict[str, Any]:
    """The leaves by their path in the tree, like 'params.layer.kernel', in tree order."""
    pairs = jax.tree_util.tree_leaves_with_path(state)
    named = {jax.tree_util.keystr(path, simple=True, separator="."): leaf for path, leaf in pairs}
    if len(named) != len(pairs):
        raise ValueError(f"two leaves of a {type(state).__name__} have the same name; rename one of the fields")
    return named


def _begins(name: str, start: str) -> bool:
    """Whether a leaf is the one of that name, or inside of it."""
    return name == start or name.startswith(start + ".")


def _kind(leaf: Any) -> str:
    return f"{np.dtype(leaf.dtype).name}[{','.join(map(str, leaf.shape))}]"


def shown(value: Any) -> str:
    """A stored value as shown in messages, shortened."""
    text = value if isinstance(value, str) and value.isprintable() else repr(value)
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"


def _seal(body: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def _header(arrays: Mapping[str, Any]) -> bytes:
    """The header of a safetensors file of these arrays, which depends only on their names, dtypes and shapes."""
    entries, end = {}, 0
    for name, start, leaf in _offsets(arrays):
        end = start + machine.tree_bytes(leaf)
        kind = DTYPES[np.dtype(leaf.dtype).name]
        entries[name] = {"dtype": kind, "shape": list(leaf.shape), "data_offsets": [start, end]}
    text = json.dumps(entries, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text


def _offsets(arrays: Mapping[str, Any]) -> Iterator[tuple[str, int, Any]]:
    start = 0
    for name, leaf in arrays.items():
        yield name, start, leaf
        start += machine.tree_bytes(leaf)


def _bytes(array: np.ndarray) -> np.ndarray:
    """[N] uint8: a view of an array's memory in row-major order."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)
