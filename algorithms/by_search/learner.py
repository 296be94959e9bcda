"""What learners by search share: settings, state, the gradient step towards regression targets, and players."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Hashable
from typing import Any, Literal, NamedTuple, Self, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from algorithms.by_search import targets
from algorithms.by_search.targets import RegressionTarget, TargetArrays
from algorithms.learning import optimizers, schedules
from algorithms.settings import checks
from boardrl import host, optional, registry, workers
from boardrl.config import setting
from boardrl.errors import UserError
from boardrl.game import Game
from boardrl.play.policy import Greedy, Policy
from boardrl.values import linear, nets
from boardrl.values.linear import Linear
from boardrl.workers import addresses
from boardrl.workers.job import Handler
from search import evaluators, searchers
from search.budget import Budget
from search.player import SearchPlayer
from search.searcher import Searcher
from search.tree_searcher import TreeSearcher

FEATURES_RATE, NET_RATE = 1.0, 0.003  # learning rates: few weights of shares of a board, or many of a net


RENAMED_LEAVES = {"optimizer_state": "momentum"}


@dataclasses.dataclass(frozen=True)
class Config:
    """Settings of every learner by search."""

    games: int = setting(6000, "train until this many games have ended")
    opponents: str = setting("", "must be empty: the search plays against itself")
    searcher: str = setting("", "empty: negascout; expectimax in games with dice; maxn for more than two players")
    depth: int = setting(3, "search depth in turns")
    kilobytes: int = setting(1024, "memory of each searcher")
    evaluator: Literal["features", "net"] | None = setting(
        None, "what is learned: features (linear weights) or net; none: features where the game has some"
    )
    features: str = setting("", "which of the game's feature sets; empty: the first")
    hidden: tuple[int, ...] = setting((32,), "units of the hidden layers of a net")
    activation: nets.Activation = setting("tanh", "activation function of the hidden layers")
    learning_rate: float | None = setting(
        None, f"learning rate; none: {FEATURES_RATE} for features, {NET_RATE} for a net"
    )
    anneal_learning_rate: bool = setting(True, "lower the learning rate linearly to 0 over --games", formerly="falling")
    optimizer: optimizers.Optimizer = setting("adam", "adam, or plain sgd")
    batch: int = setting(40, "games between two gradient steps")
    averaged: float = setting(0.5, "final fraction of training over which the weights that play are averaged")


class TrainState(NamedTuple):
    params: Any  # that search in training
    average: Any  # of those, that plays in matches
    optimizer_state: Any
    key: Array  # raw key data: with a game's number it decides all that is random in it
    games: Array  # [] int32: so far
    updates: Array  # [] int32


def check(config: Config, game: Game[Any]) -> None:
    """Refuses settings that make no sense, in one sentence."""
    checks.check_counts(config, ("games", "batch", "depth", "kilobytes"))
    if config.learning_rate is not None and not config.learning_rate > 0:
        raise UserError(f"--learning_rate={config.learning_rate} learns nothing: expected more than 0")
    checks.check_fractions(config, ("averaged",))
    if config.opponents:
        raise UserError(f"--opponents={config.opponents} cannot be seated: the search plays alone; leave it out")
    if config.evaluator == "features" and optional.features(game) is None:
        raise UserError(f"{game.spec.name} offers no features to weigh; give --evaluator=net")
    if config.features:
        linear.find(game, config.features)
    checks.check_hidden(config.hidden)
    name = searcher_of(config, game)
    searchers.refuse(name, game)
    if not _is_by_depth(name):
        others = [other for other in searchers.fitting(game) if _is_by_depth(other)]
        raise UserError(
            f"--searcher={name} has no leaf at the end of its best line to learn from, as it does not search to a "
            f"depth; expected one of {', '.join(others)}"
        )


def _is_by_depth(name: str) -> bool:
    """Whether a searcher deepens to a given depth, so that its principal variation ends in a leaf."""
    return not issubclass(searchers.find(name).searcher, TreeSearcher)


def searcher_of(config: Config, game: Game[Any]) -> str:
    """The searcher that was asked for, or the one that suits the game's kind."""
    for name in (config.searcher,) if config.searcher else ("negascout", "expectimax"):
        try:
            searchers.refuse(name, game)
        except UserError:
            if config.searcher:
                raise
            continue
        return name
    return "maxn"


def value_of(config: Config, game: Game[Any]) -> Linear | nets.ValueNet:
    """The function that is learned."""
    if config.evaluator == "features" or (config.evaluator is None and optional.features(game) is not None):
        return Linear(game, config.features)
    return nets.ValueNet(game, nets.MLP(config.hidden, game.spec.num_players, config.activation))


def init(config: Config, game: Game[Any], key: Array) -> TrainState:
    key_value, key_play = jax.random.split(key)
    params = value_of(config, game).init(key_value)
    optimizer_state = optimizers.init(config.optimizer, params)
    return TrainState(params, params, optimizer_state, jax.random.key_data(key_play), jnp.int32(0), jnp.int32(0))


def update(
    config: Config, game: Game[Any], state: TrainState, find_targets: FindTargets
) -> tuple[TrainState, dict[str, Array]]:
    """Finds the regression targets of a batch of games with fixed parameters, then takes one gradient step on them."""
    params, key, first = jax.device_get((state.params, state.key, state.games))
    numbers = schedules.game_numbers(int(first), config.batch, config.games)
    shared = {"params": jax.tree.leaves(params), "key": key.tolist()}
    job = workers.Job(TargetGames, (find_targets, config, cast(Hashable, game)), numbers, shared)
    wanted = [TargetArrays(*found) for found in workers.active().map(job)]
    value = value_of(config, game)
    rate = config.learning_rate or (FEATURES_RATE if isinstance(value, Linear) else NET_RATE)
    if config.anneal_learning_rate:
        rate *= max(1 - int(first) / config.games, 0.0)
    batch = targets.batch_of(host.of(game), wanted)
    new_params, optimizer_state, metrics = targets.step(
        value, config.optimizer, state.params, state.optimizer_state, batch, jnp.float32(rate)
    )
    average = targets.mean_with(state.average, new_params, jnp.float32(num_averaged(config, int(first))))
    after = TrainState(new_params, average, optimizer_state, state.key, state.games + len(numbers), state.updates + 1)
    return after, {**metrics, "targets": jnp.float32(sum(len(found.seat) for found in wanted))}


def games_per_update(config: Config) -> int:
    """All updates play a batch, but the last, which plays what is left of the games."""
    return config.batch


def num_averaged(config: Config, games: int) -> int:
    """How many steps the average is to be of, after the one that begins with so many games behind it."""
    begins = math.ceil((1 - config.averaged) * config.games)
    return 1 + max(games - begins, 0) // config.batch


def policy(config: Config, game: Game[Any], state: TrainState) -> Policy:
    """The player that takes the action whose afterstate has the highest value."""
    return Policy(Greedy(game, value_of(config, game)), state.average)


def player(config: Config, game: Game[Any], state: TrainState) -> SearchPlayer:
    """The player that searches as deep as in training: what plays in matches."""
    return search_player(config, game, jax.device_get(state.average))


def search_player(config: Config, game: Game[Any], params: Any) -> SearchPlayer:
    """The player that searches with these parameters of the evaluator."""
    return SearchPlayer(searcher(config, game, evaluators.learned(game, value_of(config, game), params)))


def searcher(config: Config, game: Game[Any], evaluator: evaluators.Evaluator) -> Searcher:
    """A searcher of these settings."""
    budget = Budget(depth=config.depth, kilobytes=config.kilobytes)
    return searchers.make(game, searcher_of(config, game), budget=budget, evaluator=evaluator)


FindTargets = Callable[[Any, Searcher, np.random.Generator], list[RegressionTarget]]  # of a config


class TargetGames(Handler):
    """Finds the regression targets of games by their number, with a searcher of its own.

    What is random in a game follows from the run's key and the game's number.
    """

    LOCALLY = "threads"  # searches are compiled

    def __init__(self, find_targets: FindTargets, config: Config, game: Game[Any]) -> None:
        self.find_targets, self.config = find_targets, config
        value = value_of(config, game)
        blank = jax.device_get(value.init(jax.random.key(0)))
        self.structure, self.key = jax.tree.structure(blank), [0]
        self.searcher = searcher(config, game, evaluators.learned(game, value, blank))

    @classmethod
    def to_data(cls, find_targets: FindTargets, config: Config, game: Game[Any]) -> dict[str, Any] | None:
        if (text := registry.portable(game)) is None:
            return None
        return {"game": text, "find": addresses.of(find_targets), "config": addresses.settings_to_data(config)}

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Self:
        config = addresses.settings_from_data(data["config"])
        return cls(addresses.find(data["find"]), config, registry.make(data["game"]))

    @classmethod
    def name(cls, item: int) -> str:
        return f"training game {item}"

    def load(self, shared: dict[str, Any]) -> None:
        self.key = shared["key"]
        self.searcher.evaluator.load(jax.tree.unflatten(self.structure, shared["params"]))

    def run(self, item: int) -> TargetArrays:
        self.searcher.reset()
        found = self.find_targets(self.config, self.searcher, np.random.default_rng([*self.key, item]))
        return targets.arrays_of(self.searcher.facet, found)
