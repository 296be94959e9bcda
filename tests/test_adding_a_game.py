"""docs/adding_a_game.md, followed to the letter: its files written, its package installed, its commands run."""

import json
import math
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
        for name, more, text in re.findall(r"```\w+ file=(\S+)( more)?\n(.*?)```", PAGE, re.DOTALL):
            path = folder / name
            path.parent.mkdir(exist_ok=True)
            assert bool(more) == path.exists()
            path.write_text(path.read_text() + text if more else text)
        # Into a folder of its own, so that the test leaves no trace in the environment that runs it.
        install = "-m pip install -q --no-deps --no-build-isolation --disable-pip-version-check --target site ./my_nim"
        subprocess.run([sys.executable, *install.split()], cwd=folder, check=True)

    def run(self, *command, typed=""):
        env = dict(os.environ, PYTHONPATH=os.pathsep.join([str(self.folder / "site"), str(ROOT)]))
        command = [sys.executable, *command]
        return subprocess.run(command, cwd=self.folder, env=env, capture_output=True, text=True, input=typed)


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    return Reader(tmp_path_factory.mktemp("reader"))


def command(name, section=3):
    """The command line of that name in one section of the page."""
    (part,) = re.findall(rf"^## {section}\. .*?(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE)
    (block,) = re.findall(r"```sh\n(.*?)```", part, re.DOTALL)
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


def test_a_search_needs_no_evaluation(reader):
    """Heaps of 1, 2, 3 and 4: taking the last heap whole leaves a nim-sum of 0, which wins."""
    done = reader.run(*command("analyse"), "--evaluation=playouts")  # section 4 has given it weights since
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^line    takes 4 from heap 3", done.stdout, re.MULTILINE), done.stdout
    assert re.search(r"\(exact\)|\(by playouts\(games=1\)\)", done.stdout), done.stdout


def test_a_bad_option_is_named(reader):
    done = reader.run("-m", "launch.check", "--game=nim:heaps=9")
    assert done.returncode == 2
    assert done.stderr == "error: heaps=9 does not fit nim: expected 1 to 8\n"


# --- text, pictures and an evaluation ---------------------------------------------------------------------------------

WIN = "takes 4 from heap 3"  # of 1, 2, 3 and 4 pieces: the only move that leaves a nim-sum of 0


def rate(done):
    """The first win rate of a table."""
    assert done.returncode == 0, done.stdout + done.stderr
    return float(re.search(r"([\d.]+)%", done.stdout).group(1))


def test_the_sections_have_the_same_check():
    assert command("check", section=4) == command("check")


def test_the_best_moves_are_told_in_words(reader):
    done = reader.run(*command("analyse", section=4))
    assert done.returncode == 0, done.stdout + done.stderr
    moves = [line.split("  ")[-1] for line in done.stdout.splitlines() if re.match(r"\d\. ", line)]
    values = [float(number) for number in re.findall(r"^\d\. +(\S+) ", done.stdout, re.MULTILINE)]
    assert (len(moves), moves[0]) == (3, WIN)
    assert values == pytest.approx([math.tanh(2), -math.tanh(2), -math.tanh(2)], abs=1e-5)


def test_a_position_is_read_from_a_file(reader):
    (reader.folder / "position.txt").write_text("0.2.3.0 1\n")
    done = reader.run(*command("analyse", section=4), "--position=position.txt", "--depth=2")
    assert re.search(r"^1\. .*  takes 1 from heap 2, ", done.stdout, re.MULTILINE), done.stdout + done.stderr
    (reader.folder / "bad.txt").write_text("2.2.3.0 1\n")
    done = reader.run(*command("analyse", section=4), "--position=bad.txt")
    assert done.returncode == 2
    assert "like '1.2.3.4 0'" in done.stderr


def test_a_search_with_the_weights_beats_random(reader):
    # Whoever may leave a nim-sum of 0 once has won, and one who plays at random nearly always lets it.
    assert rate(reader.run(*command("evaluate", section=4), "--games=60", "--processes=1")) > 95


def test_a_human_plays(reader):
    done = reader.run(*command("play", section=4), typed=f"hint\n0\nundo\n{WIN}\nmoves\nquit\n")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"would play 15  {WIN}" in done.stdout
    assert "taken back to the start" in done.stdout
    assert f"1. seat 0, human: {WIN}" in done.stdout
    assert re.search(r"^2\. seat 1, negascout\(depth=2\): takes", done.stdout, re.MULTILINE)
    page = (reader.folder / "game.html").read_text()
    frames = json.loads(re.search(r'json">(.*?)</script>', page, re.DOTALL)[1])
    assert [pieces.count("<circle") for pieces, _ in frames][:2] == [10, 6]
    assert len(frames) == 3


def test_a_function_plays(reader):
    assert 40 < rate(reader.run(*command("evaluate", section=5), "--games=60", "--processes=1")) < 100
