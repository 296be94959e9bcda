"""Kills Ray workers with SIGKILL at random moments, and compares the results bit for bit with those of one thread.

  python -m launch.dev.check_workers --kills=20
  python -m launch.dev.check_workers --kills=5 --work=tdleaf --seed=3

For each kind of work, a small reference is made with --workers=local:1. The same command with --workers=ray loses
workers while it runs; some kills take the command itself, which is then resumed. At the end the weights of the last
checkpoint, metrics.jsonl and the numbers of matches must be equal. If anything differs, the exit code is 1.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import pathlib
import random
import signal
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from boardrl import options
from boardrl.config import setting
from boardrl.errors import UserError
from boardrl.runs import checkpoint, progress
from boardrl.runs import run_directory as runs
from launch import cli
from launch.dev import killed_commands
from launch.dev.killed_commands import Command

PAUSE = (0.1, 2.0)  # seconds between two kills
DRIVER_SHARE = 0.15  # of kills that take the command and not a worker
WORKER = b"ray::"  # how Ray names the processes of its workers, and of agents, whose end is that of the machine

# Commands that last some seconds with two workers, and are resumed with the same flags or with --resume.
TRAIN: dict[str, dict[str, Any]] = {
    "td_lambda": {
        "game": "ludo", "games": 4000, "lanes": 64, "shards": 4, "window": 32, "hidden": 16, "evaluate_every": 2000,
        "evaluate_games": 20, "final_games": 40, "checkpoint_every": 1,
    },
    "local_steps": {
        "algo": "td_lambda", "game": "ludo", "games": 8000, "lanes": 64, "shards": 4, "window": 16, "hidden": 16,
        "local_steps": 8, "evaluate_every": 4000, "evaluate_games": 20, "final_games": 40, "checkpoint_every": 1,
    },
    "dqn": {
        "game": "ludo", "games": 1500, "lanes": 64, "shards": 4, "window": 32, "hidden": 16, "evaluate_every": 1000,
        "evaluate_games": 20, "final_games": 40, "checkpoint_every": 1,
    },
    "tdleaf": {
        "game": "jumper:size=6", "games": 2400, "batch": 120, "depth": 3, "kilobytes": 256, "log_every": 2,
        "evaluate_every": 1200, "evaluate_games": 4, "final_games": 10, "checkpoint_every": 1,
    },
}  # fmt: skip
MATCH = {"game": "jumper:size=6", "players": "negascout(depth=4),alphabeta(depth=3)", "opening": 4, "games": 200}
WORK = (*TRAIN, "match")


@dataclasses.dataclass(frozen=True)
class Config:
    kills: int = setting(20, "number of kills, divided among the kinds of work")
    work: str = setting("", f"which of {', '.join(WORK)}, separated by commas; empty: all")
    seed: int = setting(0, "random seed of the moments, as far as timing is reproducible")
    folder: str = setting("", "folder for the runs; empty: a temporary folder, removed if all are equal")


class Found(NamedTuple):
    """Results of the kills of one kind of work."""

    workers: int  # killed
    commands: int  # killed and resumed
    finished: int  # commands that ended, and were compared
    differences: list[str]


def main(asked: Config) -> None:
    if asked.kills < 1:
        raise UserError(f"--kills={asked.kills} is too few; expected at least 1")
    names = options.split(asked.work) or list(WORK)
    for name in names:
        if name not in WORK:
            raise UserError(f"unknown work {name!r}; expected one of {', '.join(WORK)}")
    columns = ("work", "workers killed", "commands killed", "finished")
    killed_commands.check_all(asked, names, check, columns=columns, equal_to="the work of one thread")


def check(name: str, kills: int, folder: pathlib.Path, seed: int, bar: progress.Bar) -> Found:
    """Kills workers of one kind of work `kills` times, in as many commands as that takes."""
    folder.mkdir(parents=True)
    rng = random.Random(f"{name} {seed}")
    with Working(name, folder / "whole", "local:1") as process:
        process.expect_success()
    wanted = result(folder / "whole")
    found = Found(0, 0, 0, [])
    while found.workers + found.commands < kills:
        path = folder / f"killed-{found.finished}"
        ended = False
        while not ended:
            with Working(name, path, "ray") as process:
                while not (ended := process.ended()):
                    time.sleep(rng.uniform(*PAUSE))
                    if found.workers + found.commands == kills:
                        process.expect_success()
                    elif rng.random() < DRIVER_SHARE and process.workers():
                        process.kill()
                        found = found._replace(commands=found.commands + 1)
                        break
                    elif victims := process.workers():
                        _kill(rng.choice(victims))
                        found = found._replace(workers=found.workers + 1)
                    bar.update(found.workers + found.commands, name)
        different = [what for what, there in result(path).items() if there != wanted.get(what)]
        found = found._replace(
            finished=found.finished + 1, differences=[*found.differences, *(f"{path}: {what}" for what in different)]
        )
    return found


def result(path: pathlib.Path) -> dict[str, bytes]:
    """What must be equal: the numbers of a match, or the arrays and the metrics of a training."""
    if path.with_suffix(".json").exists():
        return {"numbers": path.with_suffix(".json").read_bytes()}
    last = checkpoint.steps(path / runs.CHECKPOINTS)[-1]
    arrays = path / runs.CHECKPOINTS / str(last) / checkpoint.ARRAYS
    return {f"update {last}": arrays.read_bytes(), "metrics.jsonl": (path / "metrics.jsonl").read_bytes()}


def _kill(number: int) -> None:
    with contextlib.suppress(ProcessLookupError):  # it has ended by itself
        os.kill(number, signal.SIGKILL)


class Working(Command):
    """The command of a kind of work, which goes on where it was stopped."""

    def __init__(self, name: str, path: pathlib.Path, workers: str) -> None:
        if name == "match":
            out = path.with_suffix(".json")
            flags: dict[str, Any] = {**MATCH, "resume": path.with_suffix(".jsonl"), "json": out, "overwrite": "true"}
        elif (path / "config.json").exists():
            flags = {"resume": path}
        else:
            flags = {"algo": name, "seed": 7, "run": path, **TRAIN[name]}
        super().__init__("launch.evaluate" if name == "match" else "launch.train", {**flags, "workers": workers})

    def workers(self) -> list[int]:
        """The processes of Ray's workers that belong to this command."""
        parents = dict(_processes())
        return [number for number in parents if self.pid in _above(number, parents) and _is_worker(number)]


def _processes() -> list[tuple[int, int]]:
    """(process, its parent) of all that run."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            stat = (folder / "stat").read_text()
        except OSError:  # it has ended meanwhile
            continue
        found.append((int(folder.name), int(stat.rpartition(")")[2].split()[1])))
    return found


def _above(number: int, parents: dict[int, int]) -> Sequence[int]:
    chain = []
    while number := parents.get(number, 0):
        chain.append(number)
    return chain


def _is_worker(number: int) -> bool:
    try:
        title = pathlib.Path(f"/proc/{number}/cmdline").read_bytes().rstrip(b"\0")
        return title.startswith(WORKER) and not title.endswith(b"Agent")
    except OSError:
        return False


if __name__ == "__main__":
    cli.run(main, Config)
