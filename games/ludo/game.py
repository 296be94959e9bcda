"""The game of Ludo: its rules, with all that it offers besides."""

from __future__ import annotations

import dataclasses

from games.ludo import picture, text
from games.ludo.encode import ACTION_ENCODINGS, ENCODINGS
from games.ludo.events import EVENTS
from games.ludo.rules import LudoRules
from games.ludo.strategies import STRATEGIES


@dataclasses.dataclass(frozen=True)
class Ludo(LudoRules):
    lanes_last = True
    strategies = STRATEGIES
    encodings = ENCODINGS
    action_encodings = ACTION_ENCODINGS
    events = EVENTS
    to_text = text.to_text
    from_text = text.from_text
    move_text = text.move_text
    draw = picture.draw
    show = picture.show
