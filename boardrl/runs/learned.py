"""Runs as players: `runs/<run>`, or one of its checkpoints."""

from __future__ import annotations

import functools
import pathlib

from boardrl import registry
from boardrl.play import players
from boardrl.play.players import Makers
from boardrl.runs import run_directory


def load_run(path: pathlib.Path) -> run_directory.Learned:
    """The learned policy of a run directory, or of a checkpoint in it."""
    return run_directory.load_policy(path, registry.algorithm)


# Registered in the entry point group `boardrl.players`, under the name shown in lists of known players.
MAKERS: Makers = {"runs/NAME": functools.partial(players.learned, load=load_run)}
