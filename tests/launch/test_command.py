"""The console command `boardrl`, and packages that are not boardrl's own."""

import contextlib
import dataclasses
import os
import pathlib
import subprocess
import sys

import pytest

from launch import __main__ as command
from launch import cli


@dataclasses.dataclass(frozen=True)
class Nothing:
    """No flags."""


ROOT = pathlib.Path(__file__).parents[2]


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as stop:
        command.main(["boardrl", *arguments])
    out, err = capsys.readouterr()
    return stop.value.code, out, err


@pytest.mark.parametrize(("arguments", "code"), [((), 2), (("--help",), 0), (("help",), 0)])
def test_all_commands_are_listed(capsys, arguments, code):
    found, out, err = run(capsys, *arguments)
    assert (found, err) == (code, "")
    listed = [line.split()[0] for line in out.splitlines() if line.startswith("  ")]
    files = {path.stem for path in (ROOT / "launch").glob("*.py")} - {"__init__", "__main__", "cli"}
    assert set(listed) == files | {"bench", "serve"}
    assert "  solve       Solves a game: its exact value when all play their best, and a best line." in out


def test_an_unknown_command_is_one_sentence(capsys):
    code, out, err = run(capsys, "trian", "--game=ludo")
    assert (code, out) == (2, "")
    assert err.startswith("error: unknown command 'trian' (did you mean 'train'?); expected one of train, sweep,")
    assert err.count("\n") == 1


@contextlib.contextmanager
def closed_pipe():
    """Standard output that nobody reads any more; in the end it is flushed, as by Python when it exits."""
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as pipe, contextlib.redirect_stdout(pipe):
        yield
        pipe.flush()


def test_a_closed_pipe_ends_the_list_of_commands_without_a_word():
    with closed_pipe(), pytest.raises(SystemExit) as stop:
        command.main(["boardrl", "--help"])
    assert stop.value.code == 0


@pytest.mark.parametrize("lines", [1, 10_000])
def test_a_closed_pipe_ends_a_command_without_a_word(lines):
    """Whether what it prints stays in the buffer or not; if not, nothing is done after that."""
    done = []

    def main(settings):
        for number in range(lines):
            print("line", number)
        done.append(settings)

    with closed_pipe(), pytest.raises(SystemExit) as stop:
        cli.run(main, Nothing, argv=["command"])
    assert (stop.value.code, len(done)) == (0, lines == 1)


def python(*arguments, cwd):
    env = dict(os.environ, PYTHONPATH=str(ROOT))
    return subprocess.run([sys.executable, *arguments], cwd=cwd, env=env, capture_output=True, text=True)


def test_a_subcommand_is_the_module(tmp_path):
    ours = python("-m", "launch", "perft", "--game=tic_tac_toe", "--depth=2", cwd=tmp_path)
    assert (ours.returncode, ours.stdout.splitlines()[-1]) == (0, "72")
    wrong = python("-m", "launch", "perft", "--game=tic_tac_toe", "--detph=2", cwd=tmp_path)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr == "error: unknown flag --detph (did you mean --depth?); see --help for all flags\n"
    shown = [
        python("-m", *module, "--help", cwd=tmp_path).stdout for module in (("launch", "perft"), ("launch.perft",))
    ]
    assert shown[0] == shown[1] != ""


@pytest.mark.parametrize("content", [None, ""], ids=["folder", "package"])
def test_packages_of_somebody_else_are_refused(tmp_path, content):
    (tmp_path / "search").mkdir()
    if content is not None:
        (tmp_path / "search" / "__init__.py").write_text(content)
    # A folder that is no package is found only where ours is not on the path, as after `pip install -e`.
    drop = f"sys.path.remove({str(ROOT)!r})" if content is None else ""
    script = f"""
import sys
sys.path[:] = ["", *sys.path[1:], {str(ROOT)!r}]
import boardrl, games
from launch import cli
{drop}
cli.check_packages()
"""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 1
    theirs, ours = str(tmp_path / "search"), str(ROOT / "search")
    assert f"UserError: Python finds 'search' in {theirs!r}, but boardrl's own is in {ours!r}; run the" in done.stderr
