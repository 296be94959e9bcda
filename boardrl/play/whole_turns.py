"""A player who chooses whole turns by the value of the position at their end."""

from __future__ import annotations

from typing import Any

import numpy as np

from boardrl import host
from boardrl.game import Game, State
from boardrl.play import lineup, lineup_slots, whole_turn_kernel
from boardrl.play.lineup import ByValue
from boardrl.play.policy import Utility, Value


class WholeTurns:
    """A host player: of all positions at the end of its turn it takes the one of the highest utility.

    For values that say nothing about positions within a turn, as those that `td_lambda` learns with `whole_turns`. A
    turn ends where another seat acts, at dice, or with the game.
    """

    def __init__(self, game: Game[Any], value: Value, params: Any, utility: Utility = "own") -> None:
        self._game, self._value, self._params, self._utility = game, value, params, utility
        self._compiled: Any = None

    def reset(self) -> None:
        """Nothing is remembered."""

    def choose(self, game: Game[State], state: State, rng: np.random.Generator) -> int:
        if self._compiled is None:
            self._compiled = self._compile()
        facet, module, params, memories = self._compiled
        row = facet.row(state)
        module.best_turn(0, params, row, facet.actor(row, facet.work()), *memories)
        return int(memories[1][3][0])

    def _compile(self) -> tuple[Any, ...]:
        players = lineup.lower(self._game, (ByValue(self._value, self._utility),), (self._params,))
        facet = host.of(self._game)
        module = host.specialise(whole_turn_kernel, facet, slots={lineup_slots.__name__: players.module})
        return facet, module, players.params((self._params,)), module.new_memories()
