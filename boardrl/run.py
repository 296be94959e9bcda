"""Run directories: what was asked for, what was measured, and checkpoints to go on from.

runs/<game>-<algo>-<time>-s<seed>/
  config.json           game, algorithm, seed, settings, versions
  metrics.jsonl         numbers that the seed alone decides: losses, strength
  speed.jsonl           numbers that depend on the machine: seconds, games/s
  checkpoints/<updates>/
  learning_curve.png    report.md
"""

from __future__ import annotations

import contextlib
import datetime
import fcntl
import functools
import itertools
import json
import os
import pathlib
import platform
import re
import sys
from collections.abc import Callable, Mapping
from importlib import metadata
from typing import IO, Any, NamedTuple

import jax

from boardrl import atomic, checkpoint, config, registry
from boardrl.errors import UserError
from boardrl.game import Game
from boardrl.players import HostPlayer
from boardrl.policy import Policy
from boardrl.transfer import transfer

FORMAT = 1
CHECKPOINTS = "checkpoints"
LOGS = ("metrics.jsonl", "speed.jsonl")
FIELDS: dict[str, type] = {
    "game": str,
    "algo": str,
    "seed": int,
    "settings": dict,  # the algorithm's Config
    "schedule": dict,  # of the loop
    "versions": dict,
    "devices": int,
}


def versions() -> dict[str, str]:
    """What decides, beside the seed, which numbers come out."""
    packages = {name: metadata.version(name) for name in ("boardrl", "jax", "jaxlib", "flax", "optax", "numpy")}
    return {"python": platform.python_version(), **packages}


def default_path(folder: pathlib.Path, game: Game[Any], algo: str, seed: int) -> pathlib.Path:
    """A path that is still free: `<game>-<algo>-<UTC time>-s<seed>`."""
    name = re.sub(r"[^A-Za-z0-9_.]+", "_", registry.describe(game))[:80]
    time = datetime.datetime.now(datetime.UTC).strftime("%Y%m%dT%H%M%SZ")
    return _free(folder / f"{name}-{algo}-{time}-s{seed}")


def read_config(path: pathlib.Path) -> dict[str, Any]:
    """The checked config.json of a run directory."""
    file = path / "config.json"
    try:
        stored = json.loads(file.read_text())
    except (FileNotFoundError, NotADirectoryError):
        raise UserError(f"{str(path)!r} is no run directory: it has no config.json; give one under runs/") from None
    except (OSError, ValueError):
        raise UserError(f"{str(file)!r} cannot be read as JSON; restore it, or start a new run") from None
    if not isinstance(stored, dict) or stored.get("format") != FORMAT:
        raise UserError(f"{str(file)!r} is not of a boardrl run of format {FORMAT}; use the version that wrote it")
    for name, kind in FIELDS.items():
        if type(stored.get(name)) is not kind:
            raise UserError(f"{str(file)!r} has no proper {name!r}; restore it, or start a new run")
    return stored


class Run:
    """A run directory that this process, and no other, writes to."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self.checkpoints = path / CHECKPOINTS
        self._lock = _lock(path)
        self.config: dict[str, Any] = {}
        self.logs: dict[str, list[dict[str, Any]]] = {name: [] for name in LOGS}
        self._files = {name: _open(path / name, "ab") for name in LOGS}

    @classmethod
    def create(cls, path: pathlib.Path, stored: Mapping[str, Any]) -> Run:
        """A new directory, never one that exists already."""
        if path.exists():
            raise UserError(f"{str(path)!r} exists already; give another name, or go on with --resume={path}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.mkdir()
        except OSError as error:
            raise UserError(f"{str(path)!r} cannot be made: {error.strerror}; give another place") from None
        run = cls(path)
        run.checkpoints.mkdir()
        run.write_config({**stored, "versions": versions(), "devices": jax.local_device_count()})
        return run

    @classmethod
    def resume(cls, path: pathlib.Path) -> Run:
        """A directory that an earlier process has left."""
        read_config(path)  # so that nothing is written to a folder that is no run
        run = cls(path)
        run.config = read_config(path)
        for folder in (run.path, run.checkpoints):
            atomic.clean(folder)
        run.checkpoints.mkdir(exist_ok=True)
        return run

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._files.values():
            with contextlib.suppress(OSError):  # what could not be written was said when it was tried
                file.close()
        self._lock.close()

    def write_config(self, stored: Mapping[str, Any]) -> None:
        self.config = {"format": FORMAT, **stored}
        self.write("config.json", (json.dumps(self.config, indent=2) + "\n").encode())

    def write(self, name: str, data: bytes) -> None:
        """Replaces a file of the run, whole or not at all."""
        atomic.write(self.path / name, data, then=self._go_on)

    def log(self, name: str, row: Mapping[str, Any]) -> None:
        """Adds a line to one of LOGS."""
        self.logs[name].append(dict(row))
        with self._writing():
            self._files[name].write(json.dumps(row, allow_nan=False).encode() + b"\n")
            self._files[name].flush()

    def save(self, state: Any, *, place: Mapping[str, Any], keep: int) -> None:
        """Keeps a TrainState, the loop's `place` and how long the logs are now.

        A checkpoint of the same update is as good as a new one: what follows from it is the same.
        """
        with self._writing():
            for name in LOGS:
                atomic.sync(self.path / name)
            if int(state.updates) not in checkpoint.steps(self.checkpoints):
                lengths = {name: file.tell() for name, file in self._files.items()}
                checkpoint.save(self.checkpoints, state, notes={"lengths": lengths, "place": dict(place)})
                checkpoint.prune(self.checkpoints, keep=keep)

    def newest(self) -> int:
        """The update of the newest checkpoint."""
        return checkpoint.steps(self.checkpoints)[-1]

    def restore(self, template: Any, say: Callable[[str], None]) -> tuple[Any, dict[str, Any]] | None:
        """The newest good TrainState and its place, with the logs cut back to that moment.

        Damaged checkpoints are said and moved aside. None if the run was killed before it had begun.
        """
        damaged = False
        for updates in reversed(checkpoint.steps(self.checkpoints)):
            path = self.checkpoints / str(updates)
            try:
                manifest = checkpoint.verify(path)
                lengths = _lengths(manifest)
                for name, length in lengths.items():
                    if self._files[name].tell() < length:
                        raise checkpoint.Damaged(f"{name} is shorter than when it was written")
                state = checkpoint.restore(path, manifest, template)
            except checkpoint.Damaged as damage:
                aside = _free(path.with_name(f"{updates}.damaged"))
                path.rename(aside)
                say(f"checkpoint {path} is damaged ({damage}): moved to {aside.name}, going on from the one before")
                damaged = True
                continue
            for name, length in lengths.items():
                self._cut(name, length)
            return state, manifest.notes["place"]
        if damaged or self._files["metrics.jsonl"].tell():
            raise UserError(f"{str(self.path)!r} has no good checkpoint left to go on from; start a new run")
        return None

    def _writing(self) -> contextlib.AbstractContextManager[None]:
        """Says a full disk in one sentence; the newest checkpoint stays as it is."""
        return atomic.writing(self.path, then=self._go_on)

    @property
    def _go_on(self) -> str:
        """What to do once a file can be written again."""
        return f"go on with --resume={self.path}"

    def _cut(self, name: str, length: int) -> None:
        self._files[name].truncate(length)
        self._files[name].seek(length)
        try:
            self.logs[name] = [json.loads(line) for line in (self.path / name).read_bytes().splitlines()]
        except ValueError:
            raise UserError(f"{str(self.path / name)!r} has lines that are not JSON; restore it from a copy") from None


class Learned(NamedTuple):
    """What a run has learned so far."""

    game: Game[Any]
    policy: Policy
    path: pathlib.Path  # of the checkpoint
    host: HostPlayer | None = None  # who plays in place of the policy, where the algorithm has somebody
    transfer: Callable[[Game[Any]], tuple[Policy, HostPlayer | None]] | None = None  # both for a game of other rules


def load_policy(path: pathlib.Path, find_algorithm: Callable[[str], Any]) -> Learned:
    """The greedy player of a run directory's newest good checkpoint, or of one checkpoint in it.

    Needs no lock: a run under way can be looked at.

    Args:
      find_algorithm: the module of an algorithm's name.
    """
    path = path.resolve()
    folder = path.parent.parent if path.parent.name == CHECKPOINTS else path
    stored = read_config(folder)
    game = registry.make(stored["game"])
    algorithm = find_algorithm(stored["algo"])
    settings = config.from_dict(algorithm.Config, stored["settings"])
    template = jax.eval_shape(lambda: algorithm.init(settings, game, jax.random.key(0)))
    newest = [folder / CHECKPOINTS / str(step) for step in reversed(checkpoint.steps(folder / CHECKPOINTS))]
    for candidate in newest if folder == path else [path]:
        try:
            state = checkpoint.restore(candidate, checkpoint.verify(candidate), template)
        except checkpoint.Damaged as damage:
            print(f"checkpoint {candidate} is damaged ({damage})", file=sys.stderr)
            continue
        host = algorithm.player(settings, game, state) if hasattr(algorithm, "player") else None
        moved = functools.partial(transfer, algorithm, settings, game, state)
        return Learned(game, algorithm.policy(settings, game, state), candidate, host, moved)
    raise UserError(f"{str(path)!r} has no good checkpoint; train it again, or give another run")


def _lock(path: pathlib.Path) -> IO[str]:
    """An open file that keeps other processes out; the kernel lets go of it however this process ends."""
    file = _open(path / "lock", "a+")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.seek(0)
        holder = file.read().strip() or "unknown"
        file.close()
        raise UserError(f"{str(path)!r} is in use by process {holder}; wait for its end, or stop it") from None
    file.truncate(0)
    file.write(str(os.getpid()))
    file.flush()
    return file


def _open(path: pathlib.Path, mode: str) -> IO[Any]:
    try:
        return path.open(mode)
    except OSError as error:
        raise UserError(f"{str(path)!r} cannot be written to: {error.strerror}; fix its permissions") from None


def _lengths(manifest: checkpoint.Manifest) -> dict[str, int]:
    """How long the logs were when a checkpoint was written."""
    lengths, place = manifest.notes.get("lengths"), manifest.notes.get("place")
    if not isinstance(lengths, dict) or not isinstance(place, dict) or set(lengths) != set(LOGS):
        raise checkpoint.Damaged("it is not that of a run")
    return lengths


def _free(path: pathlib.Path) -> pathlib.Path:
    """The path, or the first of path-2, path-3 ... that does not exist."""
    others = (path.with_name(f"{path.name}-{count}") for count in itertools.count(2))
    return next(candidate for candidate in itertools.chain([path], others) if not candidate.exists())
