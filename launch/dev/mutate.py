"""Mutation testing: plants one bug at a time in a copy of the code, and reports which bugs their tests catch.

  python -m launch.dev.mutate
  python -m launch.dev.mutate --areas=search,matches
  python -m launch.dev.mutate --only=expectimax

Run it from the top folder of the repository. The bugs are listed in tests/planted/*.toml, one file per area:

  [[bug]]
  what = "Star1 swaps the bounds"
  file = "search/expectimax.py"
  old = "a text that occurs there once"
  new = "its replacement"
  tests = ["tests/search/test_dice.py::test_star_windows_keep_real_values"]

All these tests must pass before the first bug is planted. A bug is caught if one of its tests then fails or takes too
long. Exit code 1 if too few are caught.
"""

from __future__ import annotations

import dataclasses
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Sequence
from typing import NamedTuple

import rich.table

from boardrl import options
from boardrl.config import setting
from boardrl.errors import UserError
from boardrl.runs import progress
from launch import cli
from launch.console import output

PLANTED = pathlib.Path("tests/planted")
COPIED = ("boardrl", "games", "algorithms", "search", "launch", "tests", "docs", "pyproject.toml", "README.md")
PYTEST = ("-m", "pytest", "-p", "no:xdist", "-p", "no:cacheprovider", "-o", "addopts=", "-q", "-x", "--tb=line")
LIVED = "lived"
FAILED, BROKEN_IMPORT = 1, 2  # exit codes of pytest that mean a caught bug


class Bug(NamedTuple):
    """A change that its tests must catch."""

    area: str
    what: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Config:
    areas: str = setting("", "files of tests/planted without their suffix, separated by commas; empty: all")
    only: str = setting("", "plant only bugs whose description or file contains this text")
    seconds: float = setting(240.0, "time limit of the tests of a bug")
    cache: str = setting("", "folder for compiled code that later calls reuse; empty: a temporary one")
    least: float = setting(0.95, "fraction of the bugs that must be caught")
    json: str = setting("", "file for the table; empty: none")
    overwrite: bool = setting(False, "replace the --json file if it exists")


def main(config: Config) -> None:
    path = output.free_path("json", config.json, overwrite=config.overwrite)
    bugs = [bug for bug in read(pathlib.Path(), options.split(config.areas)) if config.only in f"{bug.what} {bug.file}"]
    if not bugs:
        raise UserError(f"no bug has {config.only!r} in its description or file; give another --only")
    for bug in bugs:
        planted(pathlib.Path(), bug)
    with tempfile.TemporaryDirectory(prefix="mutate-") as folder:
        tree = Tree(pathlib.Path(folder), pathlib.Path(config.cache or f"{folder}/cache").absolute())
        tests = sorted({test for bug in bugs for test in bug.tests})
        with progress.track("planting", len(bugs), "bugs") as bar:
            bar.say(f"{len(tests)} tests without any bug")
            tree.expect_success(tests)
            rows = []
            for number, bug in enumerate(bugs):
                rows.append((bug, *tree.judge(bug, config.seconds)))
                caught = sum(verdict != LIVED for _, verdict, _ in rows)
                if rows[-1][1] == LIVED:
                    bar.say(f"lived: {bug.what}, {bug.file}")
                bar.update(number + 1, f"{caught} of {number + 1} caught")
    table = rich.table.Table("area", "bug", "file", "", "s")
    for bug, verdict, seconds in rows:
        table.add_row(bug.area, bug.what, bug.file, verdict, f"{seconds:.0f}")
    output.console().print(table)
    print(f"{caught} of {len(bugs)} bugs caught: {caught / len(bugs):.1%}")
    output.write_json(path, [{**bug._asdict(), "verdict": verdict, "seconds": s} for bug, verdict, s in rows])
    if caught < config.least * len(bugs):
        sys.exit(1)


def read(root: pathlib.Path, areas: Sequence[str] = ()) -> list[Bug]:
    """The bugs of some areas, or of all."""
    known = sorted(path.stem for path in (root / PLANTED).glob("*.toml"))
    if not known:
        raise UserError(f"{str(PLANTED)!r} contains no bugs; run this from the top folder of the repository")
    bugs = []
    for area in areas or known:
        if area not in known:
            raise UserError(f"unknown area {area!r}; known areas: {', '.join(known)}")
        content = tomllib.loads((root / PLANTED / f"{area}.toml").read_text())
        for entry in content["bug"]:
            if set(entry) != set(Bug._fields) - {"area"}:
                raise UserError(f"a bug of {area} has {', '.join(entry)}; expected {', '.join(Bug._fields[1:])}")
            bugs.append(Bug(area=area, **{**entry, "tests": tuple(entry["tests"])}))
    return bugs


def planted(root: pathlib.Path, bug: Bug) -> str:
    """The text of the bug's file with the bug in it."""
    text = (root / bug.file).read_text()
    count = text.count(bug.old)
    if count != 1 or bug.old == bug.new:
        raise UserError(
            f"{bug.what!r} of {bug.area}: its old text occurs {count} times in {bug.file}; expected once, and a new "
            "text that differs: update the entry"
        )
    return text.replace(bug.old, bug.new)


class Tree:
    """A copy of the code, with its own cache of compiled code."""

    def __init__(self, folder: pathlib.Path, cache: pathlib.Path) -> None:
        self.root, self._cache = folder / "tree", cache
        self.root.mkdir()
        for name in COPIED:
            source = pathlib.Path(name)
            if source.is_dir():
                shutil.copytree(source, self.root / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, self.root / name)

    def expect_success(self, tests: Sequence[str]) -> None:
        """Runs tests that must pass, which also fills the cache of compiled code."""
        code, printed = self._run(tests, None)
        if code:
            raise UserError(f"tests fail without any bug: {printed.strip().splitlines()[-1]}")

    def judge(self, bug: Bug, seconds: float) -> tuple[str, float]:
        """The result of testing a bug, and the seconds that it took."""
        file, began = self.root / bug.file, time.monotonic()
        good = file.read_text()
        file.write_text(planted(self.root, bug))
        try:
            code, printed = self._run(bug.tests, seconds)
        finally:
            file.write_text(good)
            # Numba's cache ignores changes in called functions: code compiled with the bug must not be reused.
            for compiled in self.root.rglob("*.nb[ic]"):
                compiled.unlink()
        spent = time.monotonic() - began
        if code is None:
            return "caught: too long", spent
        if code in (FAILED, BROKEN_IMPORT):
            return "caught", spent
        if code < 0:
            return "caught: crash", spent
        if code:
            raise UserError(f"the tests of {bug.what!r} cannot be run: {printed.strip().splitlines()[-1]}")
        return LIVED, spent

    def _run(self, tests: Sequence[str], seconds: float | None) -> tuple[int | None, str]:
        """The exit code of pytest, None if it took too long, and its output."""
        environment = {**os.environ, "PYTHONPATH": str(self.root), "BOARDRL_CACHE": str(self._cache)}
        with tempfile.TemporaryFile("w+") as printed:
            process = subprocess.Popen(
                [sys.executable, *PYTEST, *tests],
                cwd=self.root,
                env=environment,
                stdout=printed,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                code: int | None = process.wait(seconds)
            except subprocess.TimeoutExpired:
                code = None
            finally:
                if process.poll() is None:  # together with the processes that its tests have started
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
            printed.seek(0)
            return code, printed.read()


if __name__ == "__main__":
    cli.run(main, Config)
