"""The game of Ludo: its rules, with all that it offers besides."""

from __future__ import annotations

import dataclasses

from games.ludo.rules import LudoRules
from games.ludo.strategies import STRATEGIES


@dataclasses.dataclass(frozen=True)
class Ludo(LudoRules):
    strategies = STRATEGIES
