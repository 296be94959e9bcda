"""All kinds of players that the command line knows: those of `boardrl.players`, and those that it cannot import."""

from __future__ import annotations

import functools
import pathlib
from typing import Any

from boardrl import players, run
from boardrl.game import Game
from boardrl.players import Makers, Player
from launch import learners
from search import kinds, player


def load_run(path: pathlib.Path) -> run.Learned:
    """What was learned in a run directory, or up to a checkpoint in it."""
    return run.load_policy(path, learners.load)


# By how each kind is written in lists of known players; see `boardrl.players.Makers`. Processes that play games find
# the table by its address.
MAKERS = Makers(
    "launch.lineup:MAKERS",
    {
        "runs/NAME": functools.partial(players.learned, load=load_run),
        **dict.fromkeys(kinds.KINDS, functools.partial(player.make, load=load_run)),
    },
)


def make(text: str, game: Game[Any]) -> list[Player]:
    """The players of a text like `random,hold(total=15)`."""
    return players.make_lineup(text, game, MAKERS)
