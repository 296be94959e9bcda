"""Kills training with SIGKILL at random moments, resumes it, and compares it bit for bit with an uninterrupted run.

  python -m launch.dev.check_resume --kills=100
  python -m launch.dev.check_resume --kills=10 --learners=dqn,tdleaf --seed=3

For each learner, one small reference run trains without interruption and keeps a checkpoint of every update. Others
with the same settings are killed while they start, while they write a checkpoint, or at any moment, and resumed. After
every kill, the newest checkpoint and metrics.jsonl up to it must equal those of the reference run at the same update;
at the end the run must have the same weights and metrics. If anything differs, the exit code is 1 and the runs are
kept.
"""

from __future__ import annotations

import contextlib
import dataclasses
import pathlib
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import jax

from boardrl import config, options, registry
from boardrl.config import setting
from boardrl.errors import UserError
from boardrl.runs import checkpoint, progress
from boardrl.runs import run_directory as runs
from boardrl.system import atomic_files
from launch import cli
from launch.dev import killed_commands
from launch.dev.killed_commands import Command

TRAIN = "launch.train"
Moment = Literal["start", "writing", "any"]
MOMENTS: Sequence[Moment] = ("start", "writing", "writing", "any", "any")  # drawn uniformly from this list
PATIENCE = 300.0  # seconds to wait for a process on a busy machine
SPREAD = 1.0  # most seconds between the awaited event and the kill
INSTANT = 0.02  # the same while a checkpoint is written

# Settings with updates of a few milliseconds and runs of about 100 updates.
MEASURED = {"seed": 7, "log_every": 7, "evaluate_games": 1, "final_games": 4, "evaluate_against": "random"}
BY_SEARCH = {"game": "jumper:size=3", "depth": 1, "kilobytes": 256, "batch": 2, "evaluate_every": 100, "final_games": 1}
RUNS: dict[str, dict[str, Any]] = {
    "td_lambda": {
        "game": "pig:players=3,target=10", "games": 700, "lanes": 8, "window": 4, "hidden": 8, "evaluate_every": 200,
        "opponents": "random",
    },
    "control_variate": {
        "game": "pig:target=10", "games": 700, "batch": 7, "minibatch": 16, "hidden": 8, "evaluate_every": 200,
        "opponents": "random",
    },
    "dqn": {
        "game": "tic_tac_toe", "games": 350, "lanes": 4, "window": 6, "hidden": 8, "capacity": 200, "warm_up": 40,
        "batch": 16, "learning_steps": 2, "copy_every": 5, "steps": 2, "evaluate_every": 100,
    },
    "q_table": {
        "game": "pig:target=9", "games": 1000, "entries": 2048, "games_per_update": 10, "epsilon_end": 0.2,
        "evaluate_every": 300,
    },
    "q_strategies": {
        "game": "pig:players=3,target=10", "games": 350, "lanes": 4, "window": 8, "hidden": 8, "evaluate_every": 100,
        "strategies": "hold(total=1),hold(total=9)",
    },
    "tdleaf": {**BY_SEARCH, "games": 200},
    "gradient_fit": {**BY_SEARCH, "games": 300},
    "genetic": {
        "game": "pig:target=10", "genome": "weights(hidden=3)", "games": 640, "population": 4, "parents": 2,
        "children": 2, "games_per_generation": 8, "islands": 2, "migrate_every": 3, "evaluate_every": 200,
    },
}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Config:
    kills: int = setting(100, "number of kills, divided among the learners")
    learners: str = setting("", f"which of {', '.join(RUNS)}, separated by commas; empty: all")
    seed: int = setting(0, "random seed of the moments, as far as timing is reproducible")
    folder: str = setting("", "folder for the runs; empty: a temporary folder, removed if all are equal")


class Found(NamedTuple):
    """Results of the kills of one learner."""

    kills: int
    restarts: int  # runs that had to be started again because they were killed before writing anything
    finished: int  # runs that finished
    differences: list[str]


def main(asked: Config) -> None:
    if asked.kills < 1:
        raise UserError(f"--kills={asked.kills} is too few; expected at least 1")
    names = options.split(asked.learners) or registry.names(registry.ALGORITHMS)
    for name in names:
        registry.algorithm(name)
        if name not in RUNS:
            raise UserError(f"learner {name!r} has no settings of a small run; add them to RUNS of {__name__}")
    columns = ("learner", "kills", "restarted", "runs finished")
    killed_commands.check_all(asked, names, check, columns=columns, equal_to="a run that was never stopped")


def check(name: str, kills: int, folder: pathlib.Path, seed: int, bar: progress.Bar) -> Found:
    """Kills one learner `kills` times, in as many runs as necessary."""
    rng = random.Random(f"{name} {seed}")
    whole = folder / "whole"
    flags = {"algo": name, **MEASURED, **RUNS[name]}
    with Command(TRAIN, {**flags, "run": whole, "checkpoint_every": 0, "keep_checkpoints": 1_000_000}) as process:
        process.expect_success()
    reference = Reference(whole)
    done, restarts, finished, differences = 0, 0, 0, []
    startup = 4.0  # seconds until a process writes its first checkpoint; measured below
    path = folder / "killed-0"
    while True:
        resumes = (path / "config.json").exists()
        if not resumes and path.exists():
            shutil.rmtree(path)
            restarts += 1
        start = {"resume": path} if resumes else {**flags, "run": path}
        with Command(TRAIN, {**start, "checkpoint_every": 0}) as process:
            began = time.monotonic()
            if done < kills:
                moment = rng.choice(MOMENTS)
                killed = _kill(process, path, moment, rng, startup)
                if killed and moment != "start":
                    startup = (startup + time.monotonic() - began) / 2
            else:
                moment, killed = "any", False
                process.expect_success()
        done += killed
        where = f"{name}, kill {done} ({moment}), {path}" if killed else f"{name}, the end of {path}"
        differences += [f"{where}: {what}" for what in reference.differences(path, finished=not killed)]
        bar.update(done, f"{name}  {len(differences)} different")
        if killed:
            continue
        finished += 1
        if done == kills:
            return Found(done, restarts, finished, differences)
        path = folder / f"killed-{finished}"


class Reference:
    """An uninterrupted run, with a checkpoint of every update."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self.metrics = (path / "metrics.jsonl").read_bytes()
        stored = runs.read_config(path)
        algorithm, game = registry.algorithm(stored["algo"]), registry.make(stored["game"])
        settings = config.from_dict(algorithm.Config, stored["settings"])
        self._template = jax.eval_shape(lambda: algorithm.init(settings, game, jax.random.key(0)))

    def differences(self, path: pathlib.Path, *, finished: bool) -> list[str]:
        """The differences of a run's newest checkpoint, and of its metrics up to it, from this run."""
        steps = checkpoint.steps(path / runs.CHECKPOINTS)
        if not steps:
            return ["a finished run has no checkpoint"] if finished else []
        last = checkpoint.steps(self.path / runs.CHECKPOINTS)[-1]
        if finished and steps[-1] != last:
            return [f"it ended at update {steps[-1]}, not {last}"]
        try:
            manifest, state = self._read(path, steps[-1])
        except checkpoint.Damaged as damage:
            return [f"checkpoint {steps[-1]} is damaged: {damage}"]
        _, wanted = self._read(self.path, steps[-1])
        found = []
        for (place, leaf), other in zip(
            jax.tree_util.tree_leaves_with_path(state), jax.tree.leaves(wanted), strict=True
        ):
            if leaf.tobytes() != other.tobytes():
                found.append(f"{jax.tree_util.keystr(place, simple=True, separator='.')} of update {steps[-1]}")
        metrics = (path / "metrics.jsonl").read_bytes()
        length = len(self.metrics) if finished else manifest.notes["lengths"]["metrics.jsonl"]
        if metrics[:length] != self.metrics[:length] or (finished and len(metrics) != length):
            found.append(f"metrics.jsonl up to update {steps[-1]}")
        return found

    def _read(self, path: pathlib.Path, step: int) -> tuple[checkpoint.Manifest, Any]:
        folder = path / runs.CHECKPOINTS / str(step)
        manifest = checkpoint.verify(folder)
        return manifest, checkpoint.restore(folder, manifest, self._template)


def _kill(process: Command, path: pathlib.Path, moment: Moment, rng: random.Random, startup: float) -> bool:
    """Kills a process at a moment of this kind; False if it ended before."""
    folder = path / runs.CHECKPOINTS
    before = checkpoint.steps(folder)[-1:] or [-1]
    if moment == "start":
        delay = rng.uniform(0, startup)
    else:
        goal = before[0] + rng.randint(1, 12)
        if not _wait(process, lambda: (checkpoint.steps(folder) or [-1])[-1] >= goal):
            return _ended(process)
        if moment == "writing" and not _wait(process, lambda: any(folder.glob(f".*{atomic_files.SUFFIX}"))):
            return _ended(process)
        delay = rng.uniform(0, INSTANT if moment == "writing" else SPREAD)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(delay)
        return _ended(process)
    process.send_signal(signal.SIGKILL)
    process.wait()
    return process.returncode == -signal.SIGKILL or _ended(process)


def _wait(process: Command, condition: Callable[[], bool]) -> bool:
    """Waits for a condition; False if the process ends before it holds."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if process.poll() is not None:
            return False
        if time.monotonic() > deadline:
            raise UserError(f"a training process did nothing for {PATIENCE:.0f} s; give the machine less other work")
        time.sleep(0.001)
    return True


def _ended(process: Command) -> bool:
    """Checks that the process ended without an error; returns False."""
    process.expect_success()
    return False


if __name__ == "__main__":
    cli.run(main, Config)
