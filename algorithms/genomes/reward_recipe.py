"""Genome `reward_recipe`: how a tabular Q-learner is rewarded, how fast it learns and how far it looks ahead.

Derakhshan (2010), section 2.7: the "parenting recipe". A child is trained from scratch by its recipe, then plays what
it has learned.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Hashable
from typing import Any, Self, cast

import jax
import numpy as np

from algorithms import q_table
from algorithms.genomes.genome import Expressed, Genes
from algorithms.learning import rewards
from algorithms.tabular.hash_table import Table
from boardrl import optional, presets, registry, workers
from boardrl.config import setting
from boardrl.errors import Exhausted, UserError
from boardrl.game import Game
from boardrl.play.policy import Policy
from boardrl.workers import addresses
from boardrl.workers.job import Handler

PUNISHMENT, EITHER = "-", "~"  # before an event's name: worth -1 to 0, or -1 to 1, in place of 0 to 1
# In the paper's order, after the learning rate and the discount.
EVENTS = {"derakhshan2010": "not_hit+-lost+knock+-near_enemy+safe_zone+goal+star+globe"}


@dataclasses.dataclass(frozen=True)
class RewardRecipe:
    preset: str = setting("", "a paper's settings of q_table, from which a recipe starts; empty: its defaults")
    training_games: int = setting(0, "that a child learns from; 0: as the preset has it")
    final_games: int = setting(0, "that the finalists of a playoff are trained for anew; 0: they stay as they are")
    events: tuple[str, ...] = setting(
        (), "rewarded ones; '-' before a name: a punishment, '~': either; empty: the preset's, else all of the game"
    )
    encoding: str = setting("", "what a decision is known by; empty: as the preset has it")
    entries: int = setting(0, "size of a table, a power of 2; 0: as the preset has it")
    learners: int = setting(0, "seats that learn while a child is trained; 0: as the preset has it")
    anneal: float = setting(
        1.0, "factor of the learning rate at the end of a child's training, to which a straight line leads from 1"
    )

    def check(self, game: Game[Any]) -> None:
        if self.preset and self.preset not in (known := presets.of_game("q_table", game)):
            raise UserError(
                f"unknown preset {self.preset!r} of genome 'reward_recipe'; known: {', '.join(known) or 'none'}"
            )
        for name in ("training_games", "learners", "final_games"):
            if getattr(self, name) < 0:
                raise UserError(f"{name}={getattr(self, name)} of genome 'reward_recipe': expected at least 1")
        if not 0 <= self.anneal <= 1:
            raise UserError(f"anneal={self.anneal:g} of genome 'reward_recipe': expected a number from 0 to 1")
        rewarded = rewards.events(game)
        for event in self._events(game):
            if event.lstrip(PUNISHMENT + EITHER) not in rewarded:
                raise UserError(
                    f"unknown event {event!r} of genome 'reward_recipe'; {game.spec.name} can reward "
                    f"{', '.join(rewarded)}, with '-' before a name for a punishment"
                )
        genes = self.genes(game)
        q_table.check(self._config(game, (genes.low + genes.high) / 2), game)

    def genes(self, game: Game[Any]) -> Genes:
        ranges = {"learning_rate": (0, 1), "discount": (0, 1)}
        for event in self._events(game):
            low, high = {PUNISHMENT: (-1, 0), EITHER: (-1, 1)}.get(event[0], (0, 1))
            ranges[event.lstrip(PUNISHMENT + EITHER)] = (low, high)
        low, high = np.array(list(ranges.values()), np.float32).T
        return Genes(tuple(ranges), low, high)

    def blank(self, game: Game[Any]) -> Table:
        config = self._config(game, np.zeros(len(self.genes(game).names)))
        return q_table.init(config, game, jax.random.key(0)).table

    def express(self, game: Game[Any], genes: np.ndarray, seeds: np.ndarray) -> Expressed:
        items = [{"genes": one, "seed": int(seed)} for one, seed in zip(genes, seeds, strict=True)]
        trained = workers.active().map(workers.Job(Children, (self, cast(Hashable, game)), items))
        known = float(np.mean([child["known"] for child in trained]))
        leaves = (np.stack(column) for column in zip(*(child["table"] for child in trained), strict=True))
        return Expressed(Table(*leaves), {"known": known})

    def mature(self, game: Game[Any], genes: np.ndarray, seeds: np.ndarray) -> Expressed | None:
        """The same recipes, with which children are trained anew for longer."""
        if not self.final_games:
            return None
        grown = dataclasses.replace(self, training_games=self.final_games)
        return grown.express(game, genes, seeds)

    def policy(self, game: Game[Any], params: Table) -> Policy:
        config = self._config(game, np.zeros(len(self.genes(game).names)))
        return Policy(q_table.greedy(config, game), params)

    def player(self, game: Game[Any], params: Table) -> None:
        return None

    def train(self, game: Game[Any], genes: np.ndarray, seed: int) -> tuple[q_table.TrainState, int]:
        """A child's table, and how many entries of it are taken."""
        config = self._config(game, genes)
        state = q_table.init(config, game, jax.random.key(int(seed)))
        known = 0
        while int(state.games) < config.games:
            try:
                state, metrics = q_table.update(config, game, (), state)
            except Exhausted:  # the table is full, and the child plays by what it holds
                break
            known = metrics["known"]
        return state, known

    def _config(self, game: Game[Any], genes: np.ndarray) -> q_table.Config:
        """Settings by which q_table trains a child."""
        rate, discount, *worths = (float(gene) for gene in genes)
        names = self.genes(game).names[2:]
        worth = ",".join(f"{name}={value!r}" for name, value in zip(names, worths, strict=True))
        own = {
            "games": self.training_games,
            "encoding": self.encoding,
            "entries": self.entries,
            "learners": self.learners,
        }
        return q_table.Config(
            **presets.of_game("q_table", game).get(self.preset, {})
            | {name: value for name, value in own.items() if value}
            | {"rewards": worth, "discount": discount, "learning_rate": rate, "learning_rate_end": self.anneal * rate}
        )

    def _events(self, game: Game[Any]) -> tuple[str, ...]:
        return _events(cast(Hashable, game), self.events, self.preset)


class Children(Handler):
    """Trains children by their genes and seed."""

    LOCALLY = "caller"  # the games of one child are played on all cores

    def __init__(self, recipe: RewardRecipe, game: Game[Any]) -> None:
        self.recipe, self.game = recipe, game

    @classmethod
    def to_data(cls, recipe: RewardRecipe, game: Game[Any]) -> dict[str, Any] | None:
        if (text := registry.portable(game)) is None:
            return None
        return {"game": text, "recipe": addresses.settings_to_data(recipe)}

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Self:
        return cls(addresses.settings_from_data(data["recipe"]), registry.make(data["game"]))

    @classmethod
    def name(cls, item: dict[str, Any]) -> str:
        return f"the training of the child with seed {item['seed']}"

    def run(self, item: dict[str, Any]) -> dict[str, Any]:
        state, known = self.recipe.train(self.game, item["genes"], item["seed"])
        return {"table": list(state.table), "known": known}


@functools.cache
def _events(game: Any, events: tuple[str, ...], preset: str) -> tuple[str, ...]:
    if events:
        return events
    if preset in EVENTS:
        return tuple(EVENTS[preset].split("+"))
    return ("win", EITHER + "draw", PUNISHMENT + "lose", *(EITHER + name for name in optional.events(game)))
