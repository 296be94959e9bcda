"""What learners by search share: settings, state, the gradient step towards regression targets, and players."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Callable, Hashable
from typing import Any, Literal, NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from algorithms.by_search import targets
from algorithms.by_search.targets import RegressionTarget
from algorithms.learning import optimizers, schedules, settings
from boardrl import optional
from boardrl.config import setting
from boardrl.errors import UserError
from boardrl.game import Game
from boardrl.play.policy import Greedy, Policy
from boardrl.values import linear, nets
from boardrl.values.linear import Linear
from search import evaluators, searchers
from search.budget import Budget
from search.player import SearchPlayer
from search.pool import Pool
from search.searcher import Searcher

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
    settings.check_counts(config, ("games", "batch", "depth", "kilobytes"))
    if config.learning_rate is not None and not config.learning_rate > 0:
        raise UserError(f"--learning_rate={config.learning_rate} learns nothing: expected more than 0")
    settings.check_fractions(config, ("averaged",))
    if config.opponents:
        raise UserError(f"--opponents={config.opponents} cannot be seated: the search plays alone; leave it out")
    if config.evaluator == "features" and optional.features(game) is None:
        raise UserError(f"{game.spec.name} offers no features to weigh; give --evaluator=net")
    if config.features:
        linear.find(game, config.features)
    settings.check_hidden(config.hidden)
    name = searcher_of(config, game)
    searchers.refuse(name, game)


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
    config: Config,
    game: Game[Any],
    state: TrainState,
    find_targets: Callable[[Searcher, np.random.Generator], list[RegressionTarget]],
) -> tuple[TrainState, dict[str, Array]]:
    """Finds the regression targets of a batch of games with fixed parameters, then takes one gradient step on them."""
    pool = _pool(config, game)
    params, key, first = jax.device_get((state.params, state.key, state.games))
    pool.load(params)

    def one(searcher: Searcher, number: int) -> list[RegressionTarget]:
        return find_targets(searcher, np.random.default_rng([*key.tolist(), number]))

    numbers = schedules.game_numbers(int(first), config.batch, config.games)
    wanted = list(itertools.chain.from_iterable(pool.map(one, numbers)))
    value = value_of(config, game)
    rate = config.learning_rate or (FEATURES_RATE if isinstance(value, Linear) else NET_RATE)
    if config.anneal_learning_rate:
        rate *= max(1 - int(first) / config.games, 0.0)
    batch = targets.batch_of(pool.searchers[0].facet, wanted)
    new_params, optimizer_state, metrics = targets.step(
        value, config.optimizer, state.params, state.optimizer_state, batch, jnp.float32(rate)
    )
    average = targets.mean_with(state.average, new_params, jnp.float32(num_averaged(config, int(first))))
    after = TrainState(new_params, average, optimizer_state, state.key, state.games + len(numbers), state.updates + 1)
    return after, {**metrics, "targets": jnp.float32(len(wanted))}


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


def _pool(config: Config, game: Game[Any]) -> Pool:
    """Searchers, made once for all settings that they do not depend on."""
    names = ("searcher", "depth", "kilobytes", "evaluator", "features", "hidden", "activation")
    return _pool_of(Config(**{name: getattr(config, name) for name in names}), cast(Hashable, game))


@functools.lru_cache(maxsize=4)
def _pool_of(config: Config, game: Any) -> Pool:
    value = value_of(config, game)
    evaluator = evaluators.learned(game, value, jax.device_get(value.init(jax.random.key(0))))
    return Pool(lambda: searcher(config, game, evaluator))


def searcher(config: Config, game: Game[Any], evaluator: evaluators.Evaluator) -> Searcher:
    """A searcher of these settings."""
    budget = Budget(depth=config.depth, kilobytes=config.kilobytes)
    return Searcher(game, searcher_of(config, game), budget=budget, evaluator=evaluator)
