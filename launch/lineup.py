"""All kinds of players that the command line knows: those of `boardrl.players`, and those that it cannot import."""

from __future__ import annotations

from typing import Any

from boardrl import players
from boardrl.game import Game
from boardrl.players import Makers, Player

# By how each kind is written in lists of known players; see `boardrl.players.Makers`. Searches go here, and
# `boardrl.players.learned` bound to what loads a run. Processes that play games find the table by its address.
MAKERS = Makers("launch.lineup:MAKERS", {})


def make(text: str, game: Game[Any]) -> list[Player]:
    """The players of a text like `random,hold(total=15)`."""
    return players.make_lineup(text, game, MAKERS)
