"""Measures what handing out work costs on a Ray of this machine, and what follows for 16, 64 and 256 workers.

  python -m launch.dev.measure_scaling
  python -m launch.dev.measure_scaling --processes=8 --delay=0.02

The model of an update of T tasks by W workers, with c seconds of this process for each task, a for everything else that
only it does, w seconds of work for each task, and l seconds that a message needs there and back:

    t = a + T c + ⌈T / W⌉ w + l

c and l are measured with tasks that do nothing, a and w by updates of each learner with two workers. Then the model is
compared with what more worker processes need on this machine, whose tasks sleep in place of work (so that two cores can
be many), and whose messages are delayed as by a slower network.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Self

import jax
import numpy as np
import rich.table

from algorithms import td_lambda, tdleaf
from boardrl import optional, registry, workers
from boardrl.config import setting
from boardrl.errors import UserError
from boardrl.workers import Job, Workers
from boardrl.workers.job import Handler
from launch import cli
from launch.console import output

EMPTY, ROUNDS, UPDATES = 200, 5, 10  # tasks that do nothing, measurements of each, updates of a learner
SIZES = (1, 16, 64, 256)
LOCAL_STEPS = (1, 16)  # of td_lambda: the default, and what docs/scaling.md recommends for clusters
SLEEP = 0.2  # seconds of a task of the check
PARAMETERS = 50_000  # numbers that all tasks share, about those of Ludo's net


@dataclasses.dataclass(frozen=True)
class Config:
    processes: int = setting(6, "worker processes of the check")
    delay: float = setting(0.02, "seconds that a slower network would add to each task of the check")
    json: str = setting("", "file for the numbers; empty: none")
    overwrite: bool = setting(False, "replace the --json file if it exists")


class Constants(NamedTuple):
    """Of one learner, in seconds."""

    name: str
    alone: float  # a: what only this process does in an update
    work: float  # of all tasks of an update together
    sent: float  # bytes an update
    received: float


def main(config: Config) -> None:
    from boardrl.workers.ray_workers import Ray

    if config.processes < 1 or config.delay < 0:
        raise UserError(
            f"--processes={config.processes} --delay={config.delay}: expected at least 1, and no less than 0"
        )
    path = output.free_path("json", config.json, overwrite=config.overwrite)
    with Ray(count=2) as pool:
        task, latency = overhead(pool)
        made = (_tdleaf(), *(_td_lambda(steps) for steps in LOCAL_STEPS))
        learners = [learner(pool, task, *each) for each in made]
    with Ray(count=config.processes, delay=config.delay) as pool:
        checks = [check(pool, tasks, task, latency, config.delay) for tasks in (1, 2, 4)]
    console = output.console()
    console.print(f"a task costs this process {1e3 * task:.2f} ms; there and back takes {1e3 * latency:.1f} ms")
    console.print(_table(learners, task, latency), _checks(checks, config), sep="\n")
    numbers = {"task": task, "latency": latency, "learners": [each._asdict() for each in learners], "checks": checks}
    output.write_json(path, numbers)


class Sleeps(Handler):
    """Tasks that take a given time."""

    def __init__(self, name: str) -> None:
        self.text = name

    @classmethod
    def to_data(cls, name: str) -> str:
        return name

    @classmethod
    def from_data(cls, data: str) -> Self:
        return cls(data)

    @classmethod
    def name(cls, item: float) -> str:
        return f"a sleep of {item} s"

    def run(self, item: float) -> int:
        time.sleep(item)
        return 0


def overhead(pool: Workers) -> tuple[float, float]:
    """(processor seconds of this process a task, seconds there and back): medians."""
    shared = np.zeros(PARAMETERS, np.float32)
    pool.map(Job(Sleeps, ("",), [0.0] * 8, shared))  # starts the workers
    costs, waits = [], []
    for _ in range(ROUNDS):
        before, began = dataclasses.replace(pool.traffic), time.process_time()
        for _ in range(EMPTY // 2):
            pool.map(Job(Sleeps, ("",), [0.0, 0.0], shared))
        costs.append((time.process_time() - began) / max(pool.traffic.since(before).tasks, 1))
        waits.append(min(_seconds(lambda: pool.map(Job(Sleeps, ("",), [0.0], shared))) for _ in range(20)))
    return float(np.median(costs)), float(np.median(waits))


def _seconds(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _tdleaf() -> tuple[str, Any, Any]:
    return "jumper 6x6, tdleaf to depth 3, 40 games", tdleaf, (tdleaf.Config(depth=3), registry.make("jumper:size=6"))


def _td_lambda(local_steps: int) -> tuple[str, Any, Any]:
    game: Any = registry.make("ludo")
    known = {field.name for field in dataclasses.fields(td_lambda.Config)}
    suited = {name: value for name, value in optional.defaults(game).get("td_lambda", {}).items() if name in known}
    config = td_lambda.Config(**{**suited, "shards": 2, "local_steps": local_steps})
    name = f"ludo, td_lambda, {config.lanes} lanes, window {config.window}, local steps {local_steps}"
    return name, td_lambda, (config, game)


def learner(pool: Workers, task: float, name: str, algorithm: Any, made: Any) -> Constants:
    """The constants of one learner, from updates with two workers, by processor time."""
    config, game = made
    state = algorithm.init(config, game, jax.random.key(0))
    with workers.lent(pool):
        for _ in range(2):  # compiles
            state, _ = algorithm.update(config, game, (), state)
        before, began = dataclasses.replace(pool.traffic), time.process_time()
        for _ in range(UPDATES):
            state, metrics = algorithm.update(config, game, (), state)
            jax.block_until_ready(metrics)
        mine, traffic = time.process_time() - began, pool.traffic.since(before)
    alone, sent = max(mine - traffic.tasks * task, 0.0), traffic.shared + traffic.sent
    return Constants(name, *(each / UPDATES for each in (alone, traffic.busy, sent, traffic.received)))


def predicted(tasks: int, count: int, *, task: float, alone: float, work: float, latency: float) -> float:
    """Seconds of an update by the model; `work` is that of one task."""
    return alone + tasks * task + -(-tasks // count) * work + latency


def check(pool: Workers, per_worker: int, task: float, latency: float, delay: float) -> dict[str, float]:
    """Measured and predicted seconds of tasks that sleep, so many for each worker."""
    shared, count = np.zeros(PARAMETERS, np.float32), pool.count
    tasks = per_worker * count
    job = Job(Sleeps, ("",), [SLEEP] * tasks, shared)
    pool.map(job)  # starts the workers
    before = dataclasses.replace(pool.traffic)
    measured = float(np.median([_seconds(lambda: pool.map(job)) for _ in range(ROUNDS)]))
    handed = round(pool.traffic.since(before).tasks / ROUNDS)
    each = SLEEP * tasks / handed + delay  # items that travel together are one task
    return {
        "workers": count,
        "items": tasks,
        "tasks": handed,
        "measured": measured,
        "predicted": predicted(handed, count, task=task, alone=0.0, work=each, latency=latency),
    }


def _table(learners: Sequence[Constants], task: float, latency: float) -> rich.table.Table:
    table = rich.table.Table(title="an update, with one task for each worker", title_justify="left")
    for column in ("work", "alone ms", "tasks ms", "kB sent", "kB back", *(f"{size} workers" for size in SIZES)):
        table.add_column(column, justify="left" if column == "work" else "right")
    for each in learners:
        for scale in (1, 10, 100):
            work = scale * each.work
            seconds = {
                size: predicted(size, size, task=task, alone=each.alone, work=work / size, latency=latency)
                for size in SIZES
            }
            faster = [f"× {seconds[1] / seconds[size]:.1f}" for size in SIZES]
            name = each.name if scale == 1 else f"  {scale} times as many games an update"
            cells = (
                f"{1e3 * each.alone:.1f}",
                f"{1e3 * work:.0f}",
                f"{each.sent / 1e3:.0f}",
                f"{each.received / 1e3:.0f}",
            )
            table.add_row(name, *cells, *faster)
    return table


def _checks(checks: Sequence[dict[str, float]], config: Config) -> rich.table.Table:
    title = f"the model, checked with tasks that sleep {SLEEP} s and messages delayed by {1e3 * config.delay:.0f} ms"
    table = rich.table.Table(title=title, title_justify="left")
    for column in ("workers", "items", "tasks", "measured s", "predicted s", "ratio"):
        table.add_column(column, justify="right")
    for row in checks:
        counts = (f"{row[name]:.0f}" for name in ("workers", "items", "tasks"))
        ratio = row["measured"] / row["predicted"]
        table.add_row(*counts, f"{row['measured']:.3f}", f"{row['predicted']:.3f}", f"{ratio:.2f}")
    return table


if __name__ == "__main__":
    cli.run(main, Config)
