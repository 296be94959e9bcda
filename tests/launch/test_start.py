"""The start of a command whose compiled code is cached: what it does not import, and when garbage is collected."""

import subprocess
import sys

import pytest

COMMAND = [sys.executable, "-X", "importtime", "-m", "launch.analyse", "--game=tic_tac_toe", "--depth=2"]
UNNEEDED = ("numba.np.arraymath", "scipy.linalg", "flax", "optax", "orbax", "matplotlib", "chex", "ray")
COLLECTION = """
import sys
sys.argv = ["-m"]  # as Python sets it while it imports the package of a command
import launch
import dataclasses, gc
print(gc.isenabled())
from launch import cli

@dataclasses.dataclass(frozen=True)
class Config: ...

def main(config):
    print(gc.isenabled(), gc.get_freeze_count() > 10_000)

cli.run(main, Config)
"""


@pytest.fixture(scope="module")
def imported() -> set[str]:
    """The modules that a second start imports."""
    subprocess.run(COMMAND, capture_output=True, check=True)
    lines = subprocess.run(COMMAND, capture_output=True, check=True, text=True).stderr.splitlines()
    return {line.rpartition("|")[2].strip() for line in lines if line.startswith("import time:")}


@pytest.mark.parametrize("name", UNNEEDED)
def test_cached_start_does_not_import(name: str, imported: set[str]) -> None:
    assert "numba.core.caching" in imported
    assert name not in imported


def test_garbage_is_collected_only_after_the_imports() -> None:
    done = subprocess.run([sys.executable, "-c", COLLECTION], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("False\nTrue True\n", "")


@pytest.mark.parametrize("command", ["train", "evaluate", "tournament"])
def test_quantiles_do_not_import_all_of_statistics(command: str) -> None:
    """`scipy.stats` takes as long to import as all of launch.train without it."""
    program = f"import sys, launch.{command}; print('scipy.special' in sys.modules, 'scipy.stats' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("True False\n", "")
