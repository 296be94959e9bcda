"""docs/adding_a_game.md, followed to the letter: its files written, its package installed, its commands run."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "adding_a_game.md").read_text()


class Reader:
    """Somebody with the page's files in a folder, and its package installed."""

    def __init__(self, folder):
        self.folder = folder
        for name, text in re.findall(r"```\w+ file=(\S+)\n(.*?)```", PAGE, re.DOTALL):
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text)
        # Into a folder of its own, so that the test leaves no trace in the environment that runs it.
        install = "-m pip install -q --no-deps --no-build-isolation --disable-pip-version-check --target site ./my_nim"
        subprocess.run([sys.executable, *install.split()], cwd=folder, check=True)

    def run(self, *command):
        env = dict(os.environ, PYTHONPATH=os.pathsep.join([str(self.folder / "site"), str(ROOT)]))
        command = [sys.executable, *command]
        return subprocess.run(command, cwd=self.folder, env=env, capture_output=True, text=True)


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    return Reader(tmp_path_factory.mktemp("reader"))


def command(name):
    """The page's command line of that name."""
    (block,) = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    (line,) = [line.split() for line in block.splitlines() if f"launch.{name} " in line]
    return [part.strip("'") for part in line[1:]]


def test_check_passes(reader):
    done = reader.run(*command("check"))
    assert done.returncode == 0, done.stdout + done.stderr


def test_check_catches_a_planted_bug(reader):
    path = reader.folder / "site" / "my_nim.py"
    right = path.read_text()
    try:
        path.write_text(right.replace("jnp.where(loser, -1.0, 1.0)", "jnp.where(loser, 1.0, 1.0)"))
        done = reader.run(*command("check"), "--games=8", "--examples=5")
    finally:
        path.write_text(right)
    assert done.returncode == 1
    assert "return" in done.stdout + done.stderr


def test_perft_counts(reader):
    def count(heaps, depth):
        if depth == 0 or not any(heaps):
            return 1
        moves = [(h, n) for h, size in enumerate(heaps) for n in range(1, size + 1)]
        return sum(count([size - n * (h == i) for i, size in enumerate(heaps)], depth - 1) for h, n in moves)

    done = reader.run(*command("perft"))
    assert done.stdout.splitlines()[-1] == str(count([1, 2, 3], 3))


def test_training_by_name_learns_and_plots(reader):
    done = reader.run(*command("train"))
    assert done.returncode == 0, done.stdout + done.stderr
    (run,) = (reader.folder / "runs").iterdir()
    assert (run / "learning_curve.png").stat().st_size > 10_000
    # Nim is solved by exact play: what was learned must beat random play nearly always.
    done = reader.run("-m", "launch.evaluate", "--game=nim", f"--players={run},random", "--games=400")
    rate = float(re.search(r"([\d.]+)%", done.stdout).group(1))
    assert rate > 80, done.stdout


def test_evaluate(reader):
    done = reader.run(*command("evaluate"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "perfect" in done.stdout


def test_a_bad_option_is_named(reader):
    done = reader.run("-m", "launch.check", "--game=nim:heaps=9")
    assert done.returncode == 2
    assert done.stderr == "error: heaps=9 does not fit nim: expected 1 to 8\n"
