"""Matches among members who search, each with weights of its own: one table of searchers a worker."""

from __future__ import annotations

import functools
from typing import Any, Self

import jax
import numpy as np

from algorithms.by_search import learner
from boardrl import registry, workers
from boardrl.game import CHANCE, TERMINAL
from boardrl.workers import addresses
from boardrl.workers.job import Handler
from search import evaluators, random_step
from search.searcher import Searcher


class Tables:
    """Where games between members who search are played, by the workers in use."""

    def __init__(self, config: learner.Config, game: Any) -> None:
        self.config, self.game = config, game

    def play(self, params: Any, seating: np.ndarray, *, opening: int, seed: int) -> np.ndarray:
        """[G, P] returns of games between members, whose params have a leading axis.

        What is random in a game follows from the seed and its number, so that workers change nothing.
        """
        shared = {"params": jax.tree.leaves(params), "seating": seating, "opening": opening, "seed": seed}
        job = workers.Job(TableGames, (self.config, self.game), range(len(seating)), shared)
        return np.stack(workers.active().map(job))


class TableGames(Handler):
    """Plays games by their number at a table of its own, a searcher in each seat."""

    LOCALLY = "threads"

    def __init__(self, config: learner.Config, game: Any) -> None:
        value = learner.value_of(config, game)
        blank = jax.device_get(value.init(jax.random.key(0)))
        evaluated = [evaluators.learned(game, value, blank) for _ in range(game.spec.num_players)]
        self.table = [learner.searcher(config, game, each) for each in evaluated]
        self.structure, self.shared = jax.tree.structure(blank), dict[str, Any]()

    @classmethod
    def to_data(cls, config: learner.Config, game: Any) -> dict[str, Any] | None:
        if (text := registry.portable(game)) is None:
            return None
        return {"game": text, "config": addresses.settings_to_data(config)}

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Self:
        return cls(addresses.settings_from_data(data["config"]), registry.make(data["game"]))

    @classmethod
    def name(cls, item: int) -> str:
        return f"game {item} of a generation"

    def load(self, shared: dict[str, Any]) -> None:
        self.shared = shared

    def run(self, item: int) -> np.ndarray:
        for searcher, member in zip(self.table, self.shared["seating"][item].tolist(), strict=True):
            searcher.reset()
            own = [leaf[member] for leaf in self.shared["params"]]
            searcher.evaluator.load(jax.tree.unflatten(self.structure, own))
        return play_one(self.table, np.random.default_rng([self.shared["seed"], item]), opening=self.shared["opening"])


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
