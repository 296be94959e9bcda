"""Commands of ours in processes that are killed, and a comparison of what they leave."""

from __future__ import annotations

import pathlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import rich.table

from boardrl.errors import UserError
from boardrl.runs import progress
from launch.console import output

PATIENCE = 900.0  # seconds for a command on a busy machine


class Asked(Protocol):
    """The settings of a check."""

    @property
    def kills(self) -> int: ...

    @property
    def seed(self) -> int: ...

    @property
    def folder(self) -> str: ...


class Command(subprocess.Popen[str]):
    """`python -m module --flag=value …`, which is killed at the end of its block; its output goes to a file."""

    def __init__(self, module: str, flags: Mapping[str, Any]) -> None:
        self.output = tempfile.TemporaryFile("w+")  # noqa: SIM115 (a pipe that nobody reads would block the process)
        listed = [f"--{flag}={value}" for flag, value in flags.items()]
        command = [sys.executable, "-m", module, *listed]
        super().__init__(command, stdout=subprocess.DEVNULL, stderr=self.output, text=True)

    def ended(self) -> bool:
        """Whether the command has ended, which must be without an error."""
        if self.poll() is None:
            return False
        self.expect_success()
        return True

    def expect_success(self) -> None:
        """Waits for the end; raises UserError if it is an error."""
        self.wait(PATIENCE)
        if self.returncode:
            self.output.seek(0)
            raise UserError(f"a command ended with code {self.returncode}: {self.output.read().strip()[-600:]}")

    def __exit__(self, *raised: Any) -> None:
        self.kill()
        self.output.close()
        super().__exit__(*raised)


def check_all(
    asked: Asked,
    names: Sequence[str],
    check: Callable[[str, int, pathlib.Path, int, progress.Bar], Any],
    *,
    columns: Sequence[str],
    equal_to: str,
) -> None:
    """Divides the kills among the names, prints a table, and exits with code 1 if anything differs.

    Args:
      check: (name, kills, folder, seed, bar) to a NamedTuple of counts, `differences` last.
      columns: of the table: the name, then the counts.
      equal_to: what results are compared with, for the last line.
    """
    folder = pathlib.Path(asked.folder or tempfile.mkdtemp(prefix="killed_commands-"))
    folder.mkdir(parents=True, exist_ok=True)
    table = rich.table.Table(*columns, "different")
    differences: list[str] = []
    with progress.track("checking", asked.kills, "kills") as bar:
        done = 0
        for number, name in enumerate(names):
            kills = (asked.kills - done) // (len(names) - number)
            found = check(name, kills, folder / name, asked.seed, bar.rest(done))
            done += kills
            table.add_row(name, *map(str, (*found[:-1], len(found.differences))))
            differences += found.differences
    output.console().print(table)
    if differences:
        print("\n".join([*differences, f"the runs are in {folder}"]))
        sys.exit(1)
    if not asked.folder:
        shutil.rmtree(folder)
    print(f"{asked.kills} of {asked.kills} kills: equal to {equal_to}, bit for bit")
