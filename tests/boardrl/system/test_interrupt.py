import os
import signal
import subprocess
import sys
import time

import pytest

from boardrl.system import interrupt
from boardrl.system.interrupt import EXIT_CODE, Interrupted, Interrupts


def test_the_first_signal_asks():
    said = []
    with Interrupts(said.append) as interrupts:
        assert not interrupts.asked
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.01)
        assert interrupts.asked
        with pytest.raises(Interrupted), interrupts.breakable():
            raise AssertionError("not to be begun")
    assert len(said) == 1
    assert "a second signal ends at once" in said[0]


def test_the_request_is_acknowledged_once_however_soon_the_block_ends():
    """The signal thread, which says it, may not have run by then: it waits for Python's lock."""
    said = []
    for turns in range(50):
        with Interrupts(said.append) as interrupts:
            os.kill(os.getpid(), signal.SIGINT)
            for _ in range(1000 * turns):
                pass
            assert interrupts.asked
        assert len(said) == turns + 1


def test_breakable_work_ends_where_it_stands():
    done = []

    def work():
        done.append(1)
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1)
        done.append(2)

    with Interrupts(print) as interrupts, pytest.raises(Interrupted), interrupts.breakable():
        work()
    assert done == [1]


def test_other_signals_do_not_count():
    old = signal.signal(signal.SIGUSR1, lambda *_: None)
    try:
        with Interrupts(print) as interrupts:
            for _ in range(3):
                os.kill(os.getpid(), signal.SIGUSR1)
            time.sleep(0.05)
            assert not interrupts.asked
    finally:
        signal.signal(signal.SIGUSR1, old)


def test_the_second_signal_ends_even_a_stuck_process():
    """In a call that does not come back to the interpreter, as a long compilation, no Python handler can run."""
    script = (
        "import hashlib\n"
        "from boardrl.system.interrupt import Interrupts\n"
        "with Interrupts(lambda line: print(line, flush=True)):\n"
        "    print('ready', flush=True)\n"
        "    hashlib.pbkdf2_hmac('sha256', b'', b'', 2_000_000_000)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        assert "second signal" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) == EXIT_CODE
    finally:
        process.kill()
        process.communicate()


STUCK = (
    "import contextlib, hashlib, time\n"
    "from boardrl.system import interrupt\n"
    "with interrupt.Command(), interrupt.keeping(lambda: 'kept is all'):\n"
    "    print('ready', flush=True)\n"
    "    {work}\n"
)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    "work",
    [
        "hashlib.pbkdf2_hmac('sha256', b'', b'', 2_000_000_000)",
        "exec('while True:\\n with contextlib.suppress(BaseException):\\n  time.sleep(99)')",
    ],
)
def test_a_command_that_does_not_listen_ends_all_the_same(work, number):
    process = subprocess.Popen(
        [sys.executable, "-c", STUCK.format(work=work)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.1)
        sent = time.monotonic()
        process.send_signal(number)
        assert process.wait(timeout=20) == 128 + number
        assert interrupt.GRACE_SECONDS < time.monotonic() - sent < 5
        assert process.stderr.read() == "interrupted; kept is all\n"
    finally:
        process.kill()
        process.communicate()


def test_a_command_that_listens_ends_by_itself():
    """And a training inside of it hears the signal too, and passes it on."""
    with interrupt.Command() as command:
        with Interrupts(lambda _: None) as interrupts:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(0.05)
            assert interrupts.asked
        assert command.number == signal.SIGTERM

    def work():
        with interrupt.Command():
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(1)

    with pytest.raises(KeyboardInterrupt):
        work()
    time.sleep(interrupt.GRACE_SECONDS + 0.5)  # nothing ends this process any more


class InterruptedAtItsEnd:
    """Destructors cannot pass exceptions on: Python prints and forgets them."""

    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(1)


def test_a_signal_in_a_destructor_is_not_lost(capsys):
    def work():
        with interrupt.Command():
            InterruptedAtItsEnd()
            for _ in range(100):
                time.sleep(0.01)
            raise AssertionError("the signal should have ended this")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert capsys.readouterr().err == ""
