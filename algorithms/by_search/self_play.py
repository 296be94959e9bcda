"""Self-play of a search: games, and the searched value and leaves of every decision."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from boardrl.game import CHANCE, TERMINAL
from search import random_step
from search.analysis import principal_variation
from search.analysis.principal_variation import Leaf
from search.searcher import Searcher


class Decision(NamedTuple):
    """A decision of a seat, as searched."""

    seat: int
    row: np.ndarray
    value: np.ndarray  # [P] float64: searched
    leaves: list[Leaf]  # that the value is backed up from
    explored: bool  # whether a random move was made in place of the best


class SelfPlayGame(NamedTuple):
    decisions: list[Decision]
    returns: np.ndarray  # [P] float32


def play(searcher: Searcher, rng: np.random.Generator, *, opening: int, epsilon: float) -> SelfPlayGame:
    """One game.

    Args:
      opening: the most random steps before the search begins; their number is drawn uniformly.
      epsilon: probability of a random move after that.
    """
    facet, spec, work = searcher.facet, searcher.game.spec, searcher.memory.work
    row, steps = facet.rows(), 0
    decisions: list[Decision] = []
    facet.init(row)
    num_random = rng.integers(opening + 1)
    while (who := int(facet.actor(row, work))) != TERMINAL and steps < spec.max_steps:
        if who == CHANCE or steps < num_random:
            row = random_step.step(facet, row, rng)
        else:
            result = searcher.search_row(row)
            leaves = principal_variation.leaves(searcher, result)
            explored = rng.random() < epsilon
            decisions.append(Decision(who, row, result.value, leaves, explored))
            row = any_successor(searcher, row, rng) if explored else result.line[1]
        steps += 1
    returns = np.zeros(spec.num_players, np.float32)
    facet.returns(row, returns, work)
    return SelfPlayGame(decisions, returns)


def any_successor(searcher: Searcher, row: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The position after a random move."""
    rows = searcher.memory.rows
    return rows[1 + rng.integers(searcher.facet.successors(row, rows[1:], searcher.memory.work))].copy()


def random_position(searcher: Searcher, rng: np.random.Generator) -> np.ndarray:
    """A decision drawn from a game of random moves."""
    facet, work = searcher.facet, searcher.memory.work
    while True:
        row = facet.rows()
        decisions: list[np.ndarray] = []
        facet.init(row)
        while (who := int(facet.actor(row, work))) != TERMINAL and len(decisions) < facet.game.spec.max_steps:
            if who >= 0:
                decisions.append(row)
                row = any_successor(searcher, row, rng)
            else:
                row = random_step.step(facet, row, rng)
        if decisions:
            return decisions[rng.integers(len(decisions))]
