"""Run directories: settings, logs of what was measured, and checkpoints to resume from.

runs/<game>-<algo>-<time>-s<seed>/
  config.json           game, algorithm, seed, settings, versions
  metrics.jsonl         numbers determined by the seed: losses, strength
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
import math
import os
import pathlib
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Mapping
from typing import IO, Any, NamedTuple

import jax
import numpy as np

from boardrl import registry, trust
from boardrl.errors import UserError
from boardrl.game import Game
from boardrl.play.players import HostPlayer
from boardrl.play.policy import Policy, Value, state_value
from boardrl.play.transfer import transfer
from boardrl.runs import checkpoint, log_rows, run_checkpoint
from boardrl.runs.checkpoint import Damaged
from boardrl.runs.run_config import FORMAT, read_config, read_settings, versions
from boardrl.system import atomic_files, machine, untrusted_files

CHECKPOINTS = "checkpoints"
LOGS = tuple(log_rows.CHECKS)
LOG_ROOM = 20  # most bytes of memory for each byte of a log


def default_path(folder: pathlib.Path, game: Game[Any], algo: str, seed: int) -> pathlib.Path:
    """An unused path: `<game>-<algo>-<UTC time>-s<seed>`."""
    name = re.sub(r"[^A-Za-z0-9_.]+", "_", registry.describe(game))[:80]
    time = datetime.datetime.now(datetime.UTC).strftime("%Y%m%dT%H%M%SZ")
    return _free(folder / f"{name}-{algo}-{time}-s{seed}")


class Run:
    """A run directory, locked by this process."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self.checkpoints = path / CHECKPOINTS
        self._lock = _lock(path)
        self.config: dict[str, Any] = {}
        self.logs: dict[str, list[dict[str, Any]]] = {name: [] for name in LOGS}
        self._files: dict[str, IO[bytes]] = {}
        try:
            for name in LOGS:
                self._files[name] = _open(path / name)
        except OSError:
            self.close()
            raise

    @classmethod
    def create(cls, path: pathlib.Path, facts: Mapping[str, Any]) -> Run:
        """Creates a new directory, together with its config.json; refuses an existing path."""
        _refuse_existing(path)
        draft = path.with_name(f".{path.name}.{os.getpid()}{atomic_files.SUFFIX}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            draft.mkdir()
        except OSError as error:
            raise UserError(f"{str(path)!r} cannot be created: {error.strerror}; give another place") from None
        run = None
        try:
            with atomic_files.writing(path, then="give the same command again"):
                run = cls(draft)
                run.checkpoints.mkdir()
                run._config({**facts, "versions": versions(), "devices": jax.local_device_count()})
                atomic_files.create(draft / "config.json", run._config_json())
                _refuse_existing(path)  # another process may have made it since
                draft.rename(path)
                atomic_files.sync(path.parent)
        except BaseException:
            if run is not None:
                run.close()
            shutil.rmtree(draft, ignore_errors=True)
            raise
        run.path, run.checkpoints = path, path / CHECKPOINTS
        return run

    @classmethod
    def resume(cls, path: pathlib.Path) -> Run:
        """Opens and locks an existing run directory."""
        read_config(path)  # so that nothing is written to a folder that is not a run
        _check_folder(path)
        try:
            run = cls(path)
        except untrusted_files.Refused as error:
            raise UserError(f"{str(error.filename)!r} cannot be written to: {error.strerror}; remove it") from None
        except OSError as error:
            raise UserError(
                f"{str(error.filename)!r} cannot be written to: {error.strerror}; fix that, or copy the run"
            ) from None
        try:
            run.config = read_config(path)
            with run._writing():
                atomic_files.clean(run.path)
                run.checkpoints.mkdir(exist_ok=True)
                atomic_files.clean(run.checkpoints)
        except UserError:
            run.close()
            raise
        return run

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Releases the lock."""
        for file in self._files.values():
            with contextlib.suppress(OSError):  # a failed write has already been reported
                file.close()
        self._lock.close()

    def write_config(self, facts: Mapping[str, Any]) -> None:
        """Replaces config.json."""
        self._config(facts)
        self.write("config.json", self._config_json())

    def _config(self, facts: Mapping[str, Any]) -> None:
        for name, value in {**facts["settings"], **facts["schedule"]}.items():
            if isinstance(value, float) and not math.isfinite(value):
                raise UserError(f"--{name}={value} is not a finite number and cannot be stored; give a number")
        self.config = json.loads(json.dumps({"format": FORMAT, **facts}))  # as it will be read

    def _config_json(self) -> bytes:
        return (json.dumps(self.config, indent=2) + "\n").encode()

    def write(self, name: str, data: bytes) -> None:
        """Replaces a file of the run atomically."""
        atomic_files.write(self.path / name, data, then=self._go_on)

    def log(self, name: str, row: Mapping[str, Any]) -> None:
        """Appends a line to one of LOGS."""
        self.logs[name].append(dict(row))
        with self._writing():
            self._files[name].write(json.dumps(row, allow_nan=False).encode() + b"\n")
            self._files[name].flush()

    def save(self, state: Any, *, place: Mapping[str, Any], keep: int) -> None:
        """Writes a checkpoint: a TrainState, the loop's `place` and the current lengths of the logs.

        Does nothing if there is a checkpoint of this update already: training is deterministic.
        """
        with self._writing():
            for name in LOGS:
                atomic_files.sync(self.path / name)
            if int(state.updates) not in checkpoint.steps(self.checkpoints):
                lengths = {name: file.tell() for name, file in self._files.items()}
                notes = {"lengths": lengths, "place": dict(place), "run": run_checkpoint.facts(self.config)}
                checkpoint.save(self.checkpoints, state, notes=notes)
                checkpoint.prune(self.checkpoints, keep=keep)

    def newest(self) -> int:
        """The update of the newest checkpoint."""
        return checkpoint.steps(self.checkpoints)[-1]

    def restore(
        self,
        template: Any,
        say: Callable[[str], None],
        *,
        check: Callable[[Any, dict[str, Any]], None] | None = None,
        algorithm: Any = None,
    ) -> tuple[Any, dict[str, Any]] | None:
        """The newest good TrainState and its `place`; truncates the logs to their lengths at that checkpoint.

        Newer, damaged checkpoints are reported and renamed with the suffix ASIDE. None if the run was killed before its
        first checkpoint.

        Args:
          check: raises Damaged for a state or a `place` that training cannot continue from.
          algorithm: the module, for names of earlier versions; see `run_checkpoint.restore`.
        """
        bad: dict[int, Damaged] = {}
        for updates in reversed(checkpoint.steps(self.checkpoints)):
            path = self.checkpoints / str(updates)
            try:
                manifest = checkpoint.verify(path)
                lengths, place = run_checkpoint.notes(manifest)
                state = run_checkpoint.restore(path, manifest, template, self.config, algorithm)
                if check is not None:
                    check(state, place)
            except Damaged as damage:
                bad[updates] = damage
                continue
            for worse, reason in bad.items():  # only now: if no checkpoint is good, the cause may lie elsewhere
                self._set_aside(worse, reason, say)
            for name, length in lengths.items():
                self._cut(name, length, say)
            return state, place
        aside = checkpoint.set_aside(self.checkpoints)
        if bad or aside or self._files["metrics.jsonl"].tell():
            had = [f"{updates} ({reason})" for updates, reason in bad.items()]
            had += [f"{name} (set aside earlier; to try it again, rename it to its number)" for name in aside]
            there = f": {', '.join(had)}" if had else ""
            raise UserError(f"{str(self.path)!r} has no good checkpoint to resume from{there}; start a new run")
        return None

    def _set_aside(self, updates: int, damage: Damaged, say: Callable[[str], None]) -> None:
        """Renames a damaged checkpoint, so that training can write a new one of the same update."""
        path = self.checkpoints / str(updates)
        aside = _free(path.with_name(f"{updates}{checkpoint.ASIDE}"))
        with self._writing():
            path.rename(aside)
        say(f"checkpoint {path} is damaged ({damage}): moved to {aside.name}, resuming from the previous one")

    def _writing(self) -> contextlib.AbstractContextManager[None]:
        """Reports a full disk in one sentence; the newest checkpoint remains intact."""
        return atomic_files.writing(self.path, then=self._go_on)

    @property
    def _go_on(self) -> str:
        """What to do once a file can be written again."""
        return f"continue with {self.resume_flags}"

    @property
    def resume_flags(self) -> str:
        """The flags of launch.train that resume the run."""
        return f"--resume={shlex.quote(str(self.path))}{self.trust_flag}"

    @property
    def trust_flag(self) -> str:
        """The flag that commands on this run need if its settings name code to import, else an empty text."""
        names = trust.names_code([self.config.get("settings"), self.config.get("schedule")])
        return f" {trust.FLAG}" if names else ""

    def _cut(self, name: str, length: int, say: Callable[[str], None]) -> None:
        """Truncates a log to a length and reads it; missing lines are reported and do not invalidate the checkpoint."""
        path, file = self.path / name, self._files[name]
        size = os.fstat(file.fileno()).st_size
        remedy = "move it away: a run can be resumed without its logs"
        machine.require(LOG_ROOM * min(length, size), f"the log {str(path)!r}", remedy)
        with self._writing():
            file.truncate(min(length, size))
            with untrusted_files.open_binary(path) as reader:
                data = reader.read()
            if data and not data.endswith(b"\n"):
                data = data[: data.rfind(b"\n") + 1]
                file.truncate(len(data))
            file.seek(0, os.SEEK_END)
        self.logs[name], num_bad = log_rows.read(name, data)
        if size < length:
            say(f"{path} has lost {length - size:,} bytes since the checkpoint was written: plots and report lack them")
        if num_bad:
            say(f"{path} has {num_bad:,} invalid lines: plots and report leave them out")


class Learned(NamedTuple):
    """The learned player of a run."""

    game: Game[Any]
    policy: Policy
    path: pathlib.Path  # of the checkpoint
    host: HostPlayer | None = None  # plays in place of the policy, if the algorithm provides one
    transfer: Callable[[Game[Any]], tuple[Policy, HostPlayer | None]] | None = None  # both, for other rules

    def values(self, state: Any) -> np.ndarray:
        """[P] what a position is worth to each player, by the value function that was learned."""
        value: Value | None = getattr(self.policy.apply, "value", None)
        if value is None:
            raise UserError(f"{str(self.path)!r} has learned no value of positions; give a run of td_lambda or tdleaf")
        return np.asarray(state_value(self.game, value, self.policy.params, state))


def load_policy(path: pathlib.Path, find_algorithm: Callable[[str], Any]) -> Learned:
    """The greedy player of a run directory's newest good checkpoint, or of one checkpoint in it.

    Needs no lock, so it also works while the run is training. Code that the run names is imported only if runs are
    trusted (`boardrl.trust`).

    Args:
      find_algorithm: returns the module of an algorithm by its name.
    """
    path = pathlib.Path(os.path.abspath(path))
    if not _is_inside(path):  # links inside a run are not followed, but the path may be a link to a run
        path = path.resolve()
    folder = path.parent.parent if _is_inside(path) else path
    found = read_config(folder)
    _check_folder(folder)
    with trust.stored_in(folder):
        game, algorithm = registry.make(found["game"]), find_algorithm(found["algo"])
        settings = read_settings(algorithm.Config, found, "settings")
        template = _template(folder, algorithm, settings, game)
        newest = [folder / CHECKPOINTS / str(step) for step in reversed(checkpoint.steps(folder / CHECKPOINTS))]
        for candidate in newest if folder == path else [path]:
            try:
                manifest = checkpoint.verify(candidate)
                run_checkpoint.notes(manifest)
                state = run_checkpoint.restore(candidate, manifest, template, found, algorithm)
                run_checkpoint.check_state(algorithm, settings, game, state)
            except Damaged as damage:
                print(f"checkpoint {candidate} is damaged ({damage})", file=sys.stderr)
                continue
            host = algorithm.player(settings, game, state) if hasattr(algorithm, "player") else None
            moved = functools.partial(transfer, algorithm, settings, game, state)
            return Learned(game, algorithm.policy(settings, game, state), candidate, host, moved)
    there = [*map(str, checkpoint.steps(folder / CHECKPOINTS)), *checkpoint.set_aside(folder / CHECKPOINTS)]
    others = f"; {CHECKPOINTS} there are {', '.join(there)}" if there else ""
    raise UserError(f"{str(path)!r} has no good checkpoint{others}; train it again, or give another run")


def _is_inside(path: pathlib.Path) -> bool:
    """Whether a path is a checkpoint of a run, rather than a run in a folder named checkpoints."""
    return path.parent.name == CHECKPOINTS and not os.path.lexists(path / "config.json")


def _template(folder: pathlib.Path, algorithm: Any, settings: Any, game: Game[Any]) -> Any:
    """The shapes and dtypes of a TrainState, without allocating it."""
    try:
        return jax.eval_shape(lambda: algorithm.init(settings, game, jax.random.key(0)))
    except UserError:
        raise
    except Exception as error:  # unchecked sizes may raise anything
        reason = str(error).partition("\n")[0][:200].rstrip(".")
        raise UserError(
            f"{str(folder / 'config.json')!r} has settings that cannot be trained: {reason}; give another run"
        ) from error


def _refuse_existing(path: pathlib.Path) -> None:
    if os.path.lexists(path):
        resumable = os.path.exists(path / "config.json")
        other = f", or resume it with --resume={shlex.quote(str(path))}" if resumable else ""
        raise UserError(f"{str(path)!r} exists already; give another name{other}")


def _check_folder(path: pathlib.Path) -> None:
    """Refuses a run whose folder of checkpoints is a symbolic link."""
    if untrusted_files.is_link(path / CHECKPOINTS):
        raise UserError(
            f"{str(path / CHECKPOINTS)!r} is a symbolic link, and links inside a run are not followed; "
            "put the folder itself there"
        )


def _lock(path: pathlib.Path) -> IO[bytes]:
    """A locked open file; the kernel releases the lock however this process ends."""
    file = _open(path / "lock")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.seek(0)
        holder = file.read(20).decode(errors="replace").strip()
        file.close()
        whose = holder if holder.isdecimal() else "unknown"
        raise UserError(f"{str(path)!r} is in use by process {whose}; wait for it to end or stop it") from None
    with contextlib.suppress(OSError):  # such as a full disk; the process id is only for the message above
        file.truncate(0)
        os.write(file.fileno(), str(os.getpid()).encode())
    return file


def _open(path: pathlib.Path) -> IO[bytes]:
    """Opens a file of a run for reading and appending."""
    descriptor = untrusted_files.open_file(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
    file = os.fdopen(descriptor, "ab+")
    file.seek(0, os.SEEK_END)
    return file


def _free(path: pathlib.Path) -> pathlib.Path:
    """The path, or the first of path-2, path-3 ... that does not exist."""
    others = (path.with_name(f"{path.name}-{count}") for count in itertools.count(2))
    return next(candidate for candidate in itertools.chain([path], others) if not os.path.lexists(candidate))
