"""Matches among members who search, each with weights of its own: one table of searchers a thread."""

from __future__ import annotations

import concurrent.futures
import functools
import queue
from typing import Any

import jax
import numpy as np

from algorithms.by_search import learner
from boardrl.game import CHANCE, TERMINAL
from boardrl.system import machine
from search import evaluators, random_step
from search.searcher import Searcher


class Tables:
    """Tables at which games are played, a searcher in each seat; compiled searches let other threads run."""

    def __init__(self, config: learner.Config, game: Any) -> None:
        self.config, self.game = config, game

    @functools.cached_property
    def _idle(self) -> queue.SimpleQueue[list[Searcher]]:
        """Tables at which nobody plays; made when they are first needed, as that takes a while."""
        value = learner.value_of(self.config, self.game)
        blank = jax.device_get(value.init(jax.random.key(0)))
        found: queue.SimpleQueue[list[Searcher]] = queue.SimpleQueue()
        for _ in range(machine.num_cores()):
            evaluated = [evaluators.learned(self.game, value, blank) for _ in range(self.game.spec.num_players)]
            found.put([learner.searcher(self.config, self.game, each) for each in evaluated])
        return found

    def play(self, params: Any, seating: np.ndarray, *, opening: int, seed: int) -> np.ndarray:
        """[G, P] returns of games between members, whose params have a leading axis.

        What is random in a game follows from the seed and its number, so that threads change nothing.
        """
        returns, idle = np.zeros(seating.shape, np.float32), self._idle

        def one(number: int) -> None:
            table = idle.get()
            try:
                for searcher, member in zip(table, seating[number].tolist(), strict=True):
                    searcher.reset()
                    searcher.evaluator.load(jax.tree.map(lambda leaf, member=member: leaf[member], params))
                returns[number] = play_one(table, np.random.default_rng([seed, number]), opening=opening)
            finally:
                idle.put(table)

        with concurrent.futures.ThreadPoolExecutor(machine.num_cores()) as threads:
            list(threads.map(one, range(len(seating))))
        return returns


def play_one(table: list[Searcher], rng: np.random.Generator, *, opening: int) -> np.ndarray:
    """[P] returns of one game, which begins with steps at random."""
    facet, spec, work = table[0].facet, table[0].game.spec, table[0].memory.work
    row, steps = facet.rows(), 0
    facet.init(row)
    while (who := int(facet.actor(row, work))) != TERMINAL and steps < spec.max_steps:
        at_random = who == CHANCE or steps < opening
        row = random_step.step(facet, row, rng) if at_random else table[who].search_row(row).line[1]
        steps += 1
    returns = np.zeros(spec.num_players, np.float32)
    facet.returns(row, returns, work)
    return returns


@functools.lru_cache(maxsize=4)
def tables(config: learner.Config, game: Any) -> Tables:
    """Made once, as searchers take a while to make."""
    return Tables(config, game)
