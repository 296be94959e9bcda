"""Files that players are made from, runs and weights, sent to machines that do not have them."""

from __future__ import annotations

import hashlib
import os
import pathlib
import re
from collections.abc import Mapping, Sequence

from boardrl.runs import checkpoint
from boardrl.runs.run_directory import CHECKPOINTS
from boardrl.system import atomic_files, untrusted_files

SEPARATORS = re.compile(r'[(),="]')
MOST_BYTES = 256 << 20  # of a file
CONFIG = "config.json"

Files = Mapping[str, Mapping[str, bytes]]  # by path as it stands in texts: contents by name


def collect(texts: Sequence[str]) -> Files:
    """All runs, checkpoints and files that the texts of players name."""
    paths = {part.strip() for text in texts for part in ([text] if os.path.exists(text) else SEPARATORS.split(text))}
    found = {path: _contents(pathlib.Path(path)) for path in sorted(paths) if path and os.path.exists(path)}
    return {path: files for path, files in found.items() if files}


def _contents(path: pathlib.Path) -> dict[str, bytes]:
    if path.is_file():
        return {"": untrusted_files.read(path, most=MOST_BYTES, follow=True)}
    run = path if (path / CONFIG).exists() else path.parent.parent
    if run == path:
        numbers = checkpoint.steps(path / CHECKPOINTS)
        names = [f"{CHECKPOINTS}/{numbers[-1]}"] if numbers else []
    else:
        names = [f"{CHECKPOINTS}/{path.name}"]
    if not (run / CONFIG).exists() or not names:
        return {}
    files = [CONFIG, *(f"{names[0]}/{name}" for name in (checkpoint.MANIFEST, checkpoint.ARRAYS))]
    return {name: untrusted_files.read(run / name, most=MOST_BYTES) for name in files if (run / name).exists()}


def place(texts: Sequence[str], files: Files) -> list[str]:
    """The same texts for this machine: paths whose contents are not here lead to copies of them."""
    moved = {path: _placed(path, contents) for path, contents in files.items()}
    for path in sorted(moved, key=len, reverse=True):
        texts = [text.replace(path, moved[path]) for text in texts]
    return list(texts)


def _placed(path: str, contents: Mapping[str, bytes]) -> str:
    """The path itself if the same files are there, else that of a copy."""
    here = pathlib.Path(path)
    run = here if "" in contents or (here / CONFIG).exists() else here.parent.parent
    if all((run / name).is_file() and (run / name).read_bytes() == content for name, content in contents.items()):
        return path
    digest = hashlib.sha256()
    for name, content in sorted(contents.items()):
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    cache = pathlib.Path(os.environ.get("BOARDRL_CACHE", pathlib.Path.home() / ".cache" / "boardrl"))
    folder = cache / "shipped" / digest.hexdigest()[:32]
    if "" in contents:
        copy = folder / here.name
        folder.mkdir(parents=True, exist_ok=True)
        atomic_files.write(copy, contents[""])
        return str(copy)
    for name, content in contents.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        atomic_files.write(folder / name, content)
    inner = next(name for name in contents if name != CONFIG).rpartition("/")[0]
    return str(folder if pathlib.Path(path).name != pathlib.Path(inner).name else folder / inner)
