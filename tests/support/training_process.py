"""`python -m launch.train` in processes of their own, to be stopped and killed."""

import signal
import subprocess
import sys
import time

import jax

from boardrl import config, registry
from boardrl.runs import checkpoint, run_directory

PATIENCE = 400  # seconds, for machines with much else to do


def flags(**given):
    return [f"--{name}={value}" for name, value in given.items()]


class Process:
    """A training process in the background.

    It has the cache of the tests. So that nothing is being written there when it is killed, the same training should
    have been run to its end before.
    """

    def __init__(self, *arguments):
        command = [sys.executable, "-m", "launch.train", *arguments]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    @property
    def pid(self):
        return self._process.pid

    def wait_for(self, condition):
        """Returns as soon as the condition holds; the process must be alive then."""
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert self._process.poll() is None, self._process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.001)

    def send(self, number):
        self._process.send_signal(number)

    def kill_while(self, condition):
        """Kills the process at a moment when the condition holds, which is looked at while the process is halted."""
        while True:
            self.wait_for(condition)
            self.send(signal.SIGSTOP)
            time.sleep(0.05)
            if condition():
                return self.send(signal.SIGKILL)
            self.send(signal.SIGCONT)

    def end(self):
        out, err = self._process.communicate(timeout=PATIENCE)
        return self._process.returncode, out, err


def newest_state(path):
    """The bits of every array of the newest checkpoint."""
    folder = path / "checkpoints" / str(checkpoint.steps(path / "checkpoints")[-1])
    stored = run_directory.read_config(path)
    algorithm, game = registry.algorithm(stored["algo"]), registry.make(stored["game"])
    settings = config.from_dict(algorithm.Config, stored["settings"])
    template = jax.eval_shape(lambda: algorithm.init(settings, game, jax.random.key(0)))
    state = checkpoint.restore(folder, checkpoint.verify(folder), template)
    return [leaf.tobytes() for leaf in jax.tree.leaves(state)]
