"""Kinds of players that `boardrl.play.players` cannot import: runs, searchers, and the human of launch.play.

The entry point `boardrl.players` in pyproject.toml names MAKERS, by which the library finds it.
"""

from __future__ import annotations

import functools
import pathlib
import sys
from collections.abc import Sequence
from typing import Any

from boardrl import entry_points, options, registry
from boardrl.errors import UserError
from boardrl.game import Game
from boardrl.play import players
from boardrl.play.players import Makers, Player
from boardrl.runs import run_directory
from launch import learners
from search import player, searchers

HUMAN = "human"


def load_run(path: pathlib.Path) -> run_directory.Learned:
    """What was learned in a run directory, or up to a checkpoint in it."""
    return run_directory.load_policy(path, learners.load)


def refuse_human(text: str, game: Game[Any]) -> None:
    """A maker of no player: launch.play seats its humans itself."""
    if is_human(text):
        raise UserError(f"a human plays in launch.play alone; try: python -m launch.play --players={HUMAN},…")


def is_human(text: str) -> bool:
    """Whether a text names somebody at the terminal."""
    name, rest = players.call_parts(text)
    if name == HUMAN:
        options.parse(rest, [], f"player {HUMAN!r}")
    return name == HUMAN


# By how each kind is written in lists of known players; see `boardrl.play.players.Makers`.
MAKERS: Makers = {
    "runs/NAME": functools.partial(players.learned, load=load_run),
    **dict.fromkeys(searchers.KINDS, functools.partial(player.make, load=load_run)),
    f"{HUMAN} (in launch.play)": refuse_human,
}


def make(text: str, game: Game[Any]) -> list[Player]:
    """The players of a text like `random,hold(total=15)`."""
    if not any(point.value == f"{__name__}:MAKERS" for point in entry_points.of(players.GROUP)):
        raise UserError("boardrl was installed before it had searchers as players; run pip install -e . once more")
    made = players.make_lineup(text, game)
    for line in other_rules(made, game):
        print(line, file=sys.stderr)
    return made


def other_rules(lineup: Sequence[Player], game: Game[Any]) -> list[str]:
    """A line for each player that was trained by other rules than it plays by."""
    here = registry.describe(game)
    lines = [
        f"player {player.name!r} was trained on {player.trained_on} and plays {here}"
        for player in lineup
        if player.trained_on
    ]
    return list(dict.fromkeys(lines))
