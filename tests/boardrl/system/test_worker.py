"""Processes that end with this one, and how their end is told."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from boardrl.errors import UserError
from boardrl.system import worker
from boardrl.system.worker import Worker


def answer(connection):
    """Sends back what it gets; a number is the exit code."""
    while True:
        message = json.loads(connection.recv_bytes())
        if isinstance(message, int):
            os._exit(message)
        connection.send_bytes(json.dumps([message, os.getpid()]).encode())


@pytest.fixture
def process():
    made = Worker("test_worker:answer")
    yield made
    made.close()


def test_messages_go_there_and_back(process):
    process.send({"text": "ä"})
    assert process.receive() == [{"text": "ä"}, process.pid]
    for number in (signal.SIGINT, signal.SIGTERM):  # as Ctrl-C sends it to all processes of a terminal
        os.kill(process.pid, number)
    process.send("still there")
    assert process.receive() == ["still there", process.pid]


@pytest.mark.parametrize(
    ("end", "words"),
    [
        (lambda one: one.send(3), "ended with exit code 3"),
        (lambda one: os.kill(one.pid, signal.SIGKILL), "was killed by SIGKILL"),
    ],
)
def test_an_end_is_told(process, end, words):
    process.send("ready")
    process.receive()
    end(process)
    with pytest.raises(EOFError):
        process.receive()
    assert process.how_it_ended() == words
    process.send("nobody reads this")


def test_all_can_be_killed_at_once():
    pair = [Worker("test_worker:answer") for _ in range(2)]
    worker.kill_all()
    assert [one.how_it_ended() for one in pair] == ["was killed by SIGKILL"] * 2
    for one in pair:
        one.close()


def test_no_room_for_another_process_is_one_sentence(monkeypatch):
    def refuse(*_, **__):
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    with pytest.raises(UserError, match=r"^cannot start another process: Resource .*; use fewer processes$"):
        Worker("test_worker:answer")


PARENT = """
import time
from boardrl.system.worker import Worker
made = Worker("test_worker:answer")
print(made.pid, flush=True)
made.send("ready")
made.receive()
print("ready", flush=True)
time.sleep(999)
"""


@pytest.mark.parametrize("started", [False, True], ids=["while it starts", "while it waits"])
def test_a_worker_does_not_survive_its_parent(started):
    environment = os.environ | {"PYTHONPATH": os.path.dirname(__file__)}
    parent = subprocess.Popen([sys.executable, "-c", PARENT], env=environment, stdout=subprocess.PIPE, text=True)
    pid = int(parent.stdout.readline())
    if started:
        assert parent.stdout.readline() == "ready\n"
    parent.kill()
    parent.communicate()
    killed = time.monotonic()
    while is_running(pid):
        assert time.monotonic() < killed + 2
        time.sleep(0.01)


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False
