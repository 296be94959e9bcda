"""Players named on a command line, with a note for those trained with other rules; the name `human`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from boardrl import entry_points, options, registry
from boardrl.errors import UserError
from boardrl.game import Game
from boardrl.play import players
from boardrl.play.players import Makers, Player

HUMAN = "human"


def make(text: str, game: Game[Any]) -> list[Player]:
    """The players of a text like `random,hold(total=15)`."""
    if not any(point.value == f"{__name__}:MAKERS" for point in entry_points.of(players.GROUP)):
        raise UserError("boardrl was installed before it had searchers as players; run pip install -e . again")
    made = players.make_lineup(text, game)
    for line in other_rules(made, game):
        print(line, file=sys.stderr)
    return made


def other_rules(seated: Sequence[Player], game: Game[Any]) -> list[str]:
    """A note for each player that was trained with other rules than those of this game."""
    here = registry.describe(game)
    lines = [
        f"player {player.name!r} was trained on {player.trained_on} and plays {here}"
        for player in seated
        if player.trained_on
    ]
    return list(dict.fromkeys(lines))


def is_human(text: str) -> bool:
    """Whether a text names a human player."""
    name, rest = players.call_parts(text)
    if name == HUMAN:
        options.parse(rest, [], f"player {HUMAN!r}")
    return name == HUMAN


def refuse_human(text: str, game: Game[Any]) -> None:
    """Raises UserError: only launch.play can seat humans."""
    if is_human(text):
        raise UserError(f"a human can play only in launch.play; try: python -m launch.play --players={HUMAN},…")


# Registered in the entry point group `boardrl.players`, under the name shown in lists of known players.
MAKERS: Makers = {f"{HUMAN} (in launch.play)": refuse_human}
