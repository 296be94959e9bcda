"""The game of backgammon: its rules and its optional members."""

from __future__ import annotations

import dataclasses

from games.backgammon.rules import Rules


@dataclasses.dataclass(frozen=True)
class Backgammon(Rules):
    pass
