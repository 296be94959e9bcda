"""Runs as players: `runs/<run>`, or one of its checkpoints."""

from __future__ import annotations

import functools
import os
import pathlib

from boardrl import registry
from boardrl.play import players
from boardrl.play.players import Makers
from boardrl.runs import run_directory


def load_run(path: str | os.PathLike[str]) -> run_directory.Learned:
    """What was learned in a run directory, or up to a checkpoint in it."""
    return run_directory.load_policy(pathlib.Path(path), registry.algorithm)


# Registered in the entry point group `boardrl.players`, by how the kind is written in lists of known players.
MAKERS: Makers = {"runs/NAME": functools.partial(players.learned, load=load_run)}
