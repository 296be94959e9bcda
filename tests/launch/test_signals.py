"""SIGINT and SIGTERM end every command soon, whatever it is at, and leave no process behind."""

import contextlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import pytest

from boardrl.runs import checkpoint
from boardrl.system import interrupt

SOON = 5.0  # seconds: two are promised, and other work may keep this machine busy
PATIENCE = 300.0
BOTS = pathlib.Path(__file__).parents[1] / "support"


@pytest.fixture(autouse=True)
def _sigint_is_not_ignored():
    """A shell's background jobs ignore SIGINT, and so would all commands started here; a handler is not inherited."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class Command:
    """A command in a session of its own, so that nothing but the signal reaches it."""

    def __init__(self, *arguments, cache=None):
        environment = os.environ | {"PYTHONPATH": str(BOTS)} | ({"BOARDRL_CACHE": str(cache)} if cache else {})
        self.process = subprocess.Popen(
            [sys.executable, "-m", *arguments],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.began = time.monotonic()

    def children(self):
        lists = pathlib.Path(f"/proc/{self.process.pid}/task").glob("*/children")
        return [int(child) for line in lists for child in line.read_text().split()]

    def wait_for(self, condition):
        while not condition():
            assert self.process.poll() is None, self.process.communicate()
            assert time.monotonic() < self.began + PATIENCE
            time.sleep(0.01)

    def end(self, number):
        """(exit code, standard output, standard error) after a signal."""
        children = self.children()
        sent = time.monotonic()
        self.process.send_signal(number)
        try:
            out, err = self.process.communicate(timeout=SOON)
            while any(map(is_running, children)):
                assert time.monotonic() - sent < SOON
                time.sleep(0.01)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
        return self.process.returncode, out, err


def is_running(pid):
    """Not so if it only waits for somebody to ask how it ended."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def processor_seconds(pid):
    spent = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return sum(map(int, spent)) / os.sysconf("SC_CLK_TCK")


def line_with(command, text):
    """Waits until the command has written a line with this text, a regular expression, to standard error."""
    for line in command.process.stderr:
        if re.search(text, line):
            return
    raise AssertionError(command.process.communicate())


def test_a_training_in_its_first_compilation(tmp_path):
    path = tmp_path / "run"
    command = Command("launch.train", "--game=pig:target=10", f"--run={path}", cache=tmp_path)
    line_with(command, "td_lambda on pig")
    code, out, err = command.end(signal.SIGTERM)
    assert code == 143, err
    assert "interrupted" in err or "to go on" in out  # by whether it could end in time with a checkpoint
    assert not list((path / "checkpoints").glob("*.damaged"))


def test_an_update_that_takes_long_is_given_up(tmp_path):
    """Its run goes on from the last checkpoint, as the message says."""
    path = tmp_path / "run"
    sizes = ["--lanes=4096", "--window=4096", "--evaluate_games=2", "--hidden=64"]
    command = Command("launch.train", "--game=pig:target=100", f"--run={path}", *sizes)
    command.wait_for(lambda: checkpoint.steps(path / "checkpoints") and (path / "report.md").exists())
    time.sleep(1.0)
    code, out, err = command.end(signal.SIGINT)
    assert code == 130, err
    assert f"to go on: python -m launch.train --resume={path}" in out + err
    assert checkpoint.verify(path / "checkpoints" / str(checkpoint.steps(path / "checkpoints")[-1])).updates >= 0


@pytest.mark.parametrize(
    ("arguments", "number"),
    [
        (["launch.analyse", "--game=connect_four"], signal.SIGTERM),
        (["launch.solve", "--game=jumper:size=6", "--kilobytes=4096"], signal.SIGINT),
    ],
)
def test_a_search_to_the_end(arguments, number):
    command = Command(*arguments)
    line_with(command, "searching")
    code, out, err = command.end(number)
    assert code == interrupt.exit_code(number)
    assert out == ""
    assert err.splitlines()[-1] == "interrupted"


@pytest.mark.parametrize(
    ("number", "code", "player", "spent"),
    [
        (signal.SIGTERM, 143, "negascout(ms=60000,kilobytes=256)", 0.0),
        (signal.SIGKILL, -signal.SIGKILL, "negascout(ms=60000,kilobytes=256)", 0.0),
        (signal.SIGKILL, -signal.SIGKILL, "negascout(ms=60000,kilobytes=256)", 5.0),
        (signal.SIGKILL, -signal.SIGKILL, "arena_bots:Stubborn", 5.0),
    ],
    ids=["soon, SIGTERM", "soon, SIGKILL", "later, SIGKILL", "code that holds Python's lock, SIGKILL"],
)
def test_the_processes_of_a_match_end_with_it(number, code, player, spent):
    """However it ends, and whether they are about to start or, after some seconds of processor time, at a search."""
    players = f"--players={player},random"
    command = Command("launch.evaluate", "--game=connect_four", players, "--games=2", "--processes=2")

    def busy():
        children = command.children()  # the first is the watchdog of `boardrl.system.interrupt`
        return len(children) == 3 and all(processor_seconds(child) >= spent for child in children[1:])

    command.wait_for(busy)
    assert command.end(number)[0] == code


def test_a_thought_that_holds_python_s_lock_is_ended():
    """No thread of Python can run meanwhile; sum() over a range is such code, and so are most C extensions."""
    command = Command("launch.play", "--game=tic_tac_toe", "--players=arena_bots:Stubborn,random")
    command.wait_for(lambda: processor_seconds(command.process.pid) > 4.0)
    time.sleep(1.0)
    code, out, err = command.end(signal.SIGINT)
    assert (code, out) == (-signal.SIGKILL, "")
    assert err.splitlines()[-1] == "interrupted"


def test_ctrl_c_while_a_command_is_being_imported():
    command = Command("launch.play", "--game=tic_tac_toe")
    maps = pathlib.Path(f"/proc/{command.process.pid}/maps")
    command.wait_for(lambda: "numpy" in maps.read_text())
    code, out, err = command.end(signal.SIGINT)
    assert (code, out, err) == (130, "", "interrupted\n")
