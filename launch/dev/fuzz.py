"""Fuzzing: reads deliberately corrupted input, and expects a result or a UserError: no other exception, no hang.

  python -m launch.dev.fuzz --minutes=30
  python -m launch.dev.fuzz --targets=run --seed=123 --blocks=1 --shrink

Targets are run directories, files of weights, records of matches, replays, positions, players and games. Cases come in
blocks, each with its own seed; a block that breaks the contract is reported with the command that repeats it. No case
may change files other than the corrupted ones, or exceed a memory limit. Blocks run in another process, so that a crash
is reported too. Exit code 1 if any block breaks the contract.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import itertools
import json
import multiprocessing
import sys
import time
from collections.abc import Iterator
from typing import Any

from boardrl import options
from boardrl.config import setting
from boardrl.errors import UserError
from boardrl.runs import progress
from launch import cli
from launch.dev.fuzzing import block
from launch.dev.fuzzing.targets import TARGETS

CASES = 25  # per block
PATIENCE = 1200.0  # seconds for a block; its cases have their own limits
SHOWN = 1500  # characters of a report


@dataclasses.dataclass(frozen=True)
class Config:
    minutes: float = setting(1.0, "time limit for starting blocks")
    blocks: int = setting(0, "number of blocks; 0: as many as there is time for")
    targets: str = setting("", f"which of {', '.join(TARGETS)}, separated by commas; empty: all in turn")
    seed: int = setting(0, "random seed of the first block, incremented for each further block")
    shrink: bool = setting(False, "shrink a case that breaks the contract, which may take long")


def main(config: Config) -> None:
    names = options.split(config.targets) or list(TARGETS)
    for name in names:
        if name not in TARGETS:
            raise UserError(f"unknown target {name!r}; known targets: {', '.join(TARGETS)}")
    if config.blocks < 0 or not 0 < config.minutes < 1e6:
        raise UserError(f"--minutes={config.minutes} --blocks={config.blocks} leaves no time for a block; give more")
    deadline = time.monotonic() + 60 * config.minutes
    cases: collections.Counter[str] = collections.Counter()
    broken: dict[str, list[str]] = {}  # commands that reproduce a failure, by kind of failure
    with progress.track("fuzzing", config.blocks, "blocks") as bar, contextlib.closing(Worker()) as worker:
        for number in itertools.count():
            if number == config.blocks if config.blocks else time.monotonic() >= deadline:
                break
            name, seed = names[number % len(names)], config.seed + number // len(names)
            found = worker.run(name, seed, shrink=config.shrink)
            cases[name] += found.cases
            if found.broken:
                kind = f"{name}: {found.broken.partition(' [')[0]}"
                command = f"python -m launch.dev.fuzz --targets={name} --seed={seed} --blocks=1"
                if kind not in broken:
                    bar.say(f"{name}: {found.broken[:SHOWN]}\n  {command}")
                broken.setdefault(kind, []).append(command)
            bar.update(number + 1, f"{cases.total():,} cases, {len(broken)} broken")
    print(", ".join(f"{count:,} cases of {name}" for name, count in cases.items()))
    for kind, commands in broken.items():
        print(f"{len(commands)} × {kind}\n  {commands[0]}")
    print(f"{cases.total():,} cases: {len(broken) or 'no'} way{'s' * (len(broken) != 1)} to break the contract")
    if broken:
        sys.exit(1)


class Worker:
    """A process that runs blocks; restarted if it dies or takes too long."""

    def __init__(self) -> None:
        self._process: Any = None

    def run(self, target: str, seed: int, *, shrink: bool) -> block.Found:
        if self._process is None:
            context = multiprocessing.get_context("spawn")  # a forked JAX may hang
            self._connection, there = context.Pipe()
            self._process = context.Process(target=_work, args=(there,), daemon=True)
            self._process.start()
            there.close()
        self._connection.send_bytes(json.dumps([target, seed, shrink]).encode())
        with self._ended_if_dead():
            if not self._connection.poll(None if shrink else PATIENCE):
                self.close()
                return block.Found(0, f"a block took more than {PATIENCE:.0f} s")
            return block.Found(*json.loads(self._connection.recv_bytes()))
        self._process.join()
        code = self._process.exitcode
        self.close()
        return block.Found(0, f"the process died with exit code {code}")

    @contextlib.contextmanager
    def _ended_if_dead(self) -> Iterator[None]:
        with contextlib.suppress(EOFError, OSError):
            yield

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process = None


def _work(connection: Any) -> None:
    """Runs blocks until the connection is closed."""
    while True:
        try:
            target, seed, shrink = json.loads(connection.recv_bytes())
        except (EOFError, OSError):
            return
        connection.send_bytes(json.dumps(block.run(target, seed, CASES, shrink=shrink)).encode())


if __name__ == "__main__":
    cli.run(main, Config)
