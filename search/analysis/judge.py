"""A searcher as a judge of recorded games (boardrl.matches.review): every action and every outcome is searched."""

from __future__ import annotations

from typing import Any

import numpy as np

from boardrl.game import TERMINAL
from search.analysis import multi_pv
from search.searcher import Searcher


class SearchJudge:
    """Judges by the values that a search finds behind every move."""

    def __init__(self, name: str, searcher: Searcher) -> None:
        self.name, self._searcher = name, searcher

    def actions(self, state: Any) -> np.ndarray:
        """[A, P] values after each action of a decision; zeros for illegal ones."""
        searcher, facet = self._searcher, self._searcher.facet
        spec, row, work = searcher.game.spec, facet.row(state), facet.work()
        ranked = multi_pv.best_moves(searcher, state, spec.num_actions)
        found = {move.line[1].tobytes(): move.value for move in ranked.moves}
        values = np.zeros((spec.num_actions, spec.num_players))
        for action in facet.actions(row):
            after = facet.rows()
            facet.step(row, int(action), after, work)
            values[int(action)] = found[after.tobytes()]
        return values

    def outcomes(self, state: Any, viewer: int) -> np.ndarray:
        """[C, P] values after each outcome of a chance node."""
        searcher, facet = self._searcher, self._searcher.facet
        spec, row, work = searcher.game.spec, facet.row(state), facet.work()
        values = np.zeros((spec.num_outcomes, spec.num_players))
        chance = np.asarray(searcher.game.chance(state))
        known: dict[bytes, np.ndarray] = {}
        for outcome in np.flatnonzero(chance > 0):
            after = facet.rows()
            facet.step(row, int(outcome), after, work)
            if after.tobytes() not in known:
                known[after.tobytes()] = self._value(after)
            values[outcome] = known[after.tobytes()]
        return values

    def _value(self, row: np.ndarray) -> np.ndarray:
        """[P] the value of a position."""
        searcher, facet = self._searcher, self._searcher.facet
        actor = int(facet.actor(row, facet.work()))
        if actor == TERMINAL:
            returns = np.zeros(searcher.game.spec.num_players, np.float32)
            facet.returns(row, returns, facet.work())
            return returns.astype(np.float64)
        return searcher.search_row(row).value
