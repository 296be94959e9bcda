"""docs/adding_a_game.md, followed to the letter: its files written, its package installed, its commands run."""

import os
import pathlib
import re
import shlex
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "adding_a_game.md").read_text()


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    """A folder with the page's files, and an environment in which its package is installed."""
    folder = tmp_path_factory.mktemp("reader")
    for name, text in re.findall(r"```\w+ file=(\S+)\n(.*?)```", PAGE, re.DOTALL):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    # Into a folder of its own, so that the test leaves no trace in the environment that runs it.
    install = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--target", "site"]
    subprocess.run([*install, "./my_nim"], cwd=folder, check=True)
    env = dict(os.environ, PYTHONPATH=f"{folder / 'site'}{os.pathsep}{ROOT}", BOARDRL_CACHE=str(folder / "cache"))
    return lambda *command: subprocess.run(
        [sys.executable, *command], cwd=folder, env=env, capture_output=True, text=True
    )


def commands():
    """The page's commands, without the installation."""
    (block,) = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    lines = [shlex.split(line.replace("(", r"\(").replace(")", r"\)")) for line in block.splitlines()]
    return [line[1:] for line in lines if line[0] == "python"]


@pytest.mark.parametrize("command", commands(), ids=lambda c: c[1])
def test_commands(reader, command):
    done = reader(*command)
    assert done.returncode == 0, done.stdout + done.stderr
    last = done.stdout.strip().splitlines()[-1]
    if command[1] == "launch.perft":
        assert last == PERFT
    if command[1] == "launch.train":
        assert (next((reader.folder / "runs").iterdir()) / "learning_curve.png").exists()


def test_a_bad_option_is_named(reader):
    done = reader("-m", "launch.check", "--game=nim:heaps=9")
    assert done.returncode == 2
    assert done.stderr == "error: heaps=9 does not fit nim: expected 1 to 8\n"
