"""Suite `learn`: the training speed of the algorithms."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from algorithms import genetic, q_table, td_lambda, tdleaf
from algorithms.genomes.reward_recipe import RewardRecipe
from boardrl import optional, presets, registry
from boardrl.game import Game
from launch.bench import simulate_suite
from launch.bench.row import Row

GAMES = 40  # per measurement of TD-Leaf
UPDATES = 100  # per measurement of TD(λ)
TABLE_GAMES = 4_000  # per measurement of tabular Q-learning
GENERATIONS = 20  # per measurement of NNGA
CHILD_GAMES = 10_000  # training games of a child of QLGA in one measurement


def rows(batch: int) -> Sequence[Row]:
    """All rows; each learner has its own batch size."""
    return [*by_td_lambda(), *by_search(), *by_table(), *by_evolution()]


def by_td_lambda() -> Sequence[Row]:
    """TD(λ) with each game's default settings: rolls or decisions per second, learning included."""
    ludopy = simulate_suite.ludopy_rolls()
    jumper = "jumper:size=6"
    in_jax = training_rate(jumper, "decisions", play="jax")
    return [
        Row("ludo, td_lambda", "rolls/s", training_rate("ludo", "rolls"), "ludopy, random play", ludopy),
        Row("jumper 6x6, td_lambda", "actions/s", training_rate(jumper, "decisions"), "--play=jax", in_jax),
    ]


def training_rate(name: str, metric: str, *, updates: int = UPDATES, **changes: Any) -> Callable[[], float]:
    """How many of a metric td_lambda gets through per second of updates.

    Args:
      changes: settings other than the game's defaults.
    """
    game = registry.make(name)
    suited = optional.defaults(game).get("td_lambda", {})
    known = {field.name for field in dataclasses.fields(td_lambda.Config)}
    config = td_lambda.Config(**{key: value for key, value in suited.items() if key in known} | changes)
    state = td_lambda.init(config, game, jax.random.key(0))
    state, _ = td_lambda.update(config, game, (), state)

    def run() -> float:
        nonlocal state
        began, count = time.perf_counter(), 0.0
        for _ in range(updates):
            state, metrics = td_lambda.update(config, game, (), state)
            count += float(metrics[metric])
        return count / (time.perf_counter() - began)

    return run


def by_search() -> Sequence[Row]:
    """TD-Leaf: searched moves per second in self-play, learning included, wall-clock."""
    work = "jumper 6x6, tdleaf to depth {}"
    return [Row(work.format(depth), "moves/s", moves_rate("jumper:size=6", depth)) for depth in (2, 3, 4)]


def by_table() -> Sequence[Row]:
    """Tabular Q-learning with the 36 bits of derakhshan2010: whole games per second on all cores, one learning seat."""
    game, rules = registry.make("ludo:rules=sdu_java"), "ludo:rules=sdu_java, q_table, 36 bits"
    config = q_table.Config(**presets.find("derakhshan2010", "q_table", game))
    config = dataclasses.replace(config, games_per_update=TABLE_GAMES)
    state = q_table.init(config, game, jax.random.key(0))

    def run() -> float:
        nonlocal state
        began = time.perf_counter()
        state, _ = q_table.update(config, game, (), state)
        return TABLE_GAMES / (time.perf_counter() - began)

    run()  # compiles
    return [Row(rules, "games/s", run)]


def by_evolution() -> Sequence[Row]:
    """Generations per minute with the papers' settings: NNGA with 1,000 games, QLGA with a child of 200,000 games.

    A generation of QLGA is measured with a child of CHILD_GAMES games, and the time of its training is scaled to
    200,000 games.
    """
    game = registry.make("ludo:rules=sdu_java")
    rules = "sdu_java, genetic by {}"
    return [
        Row(
            rules.format("saederup2010"), "generations/min", generations_rate(game), "the paper's laptop", lambda: 35.0
        ),
        Row(rules.format("derakhshan2010"), "generations/h", recipes_rate(game), "the paper's, at most", lambda: 4.05),
    ]


def generations_rate(game: Game[Any]) -> Callable[[], float]:
    config = genetic.Config(**presets.find("saederup2010", "genetic", game))
    state = genetic.init(config, game, jax.random.key(0))
    for _ in range(2):  # compiles: for all members at first, then for one child
        state, _ = genetic.update(config, game, (), state)

    def run() -> float:
        nonlocal state
        began = time.perf_counter()
        for _ in range(GENERATIONS):
            state, _ = genetic.update(config, game, (), state)
        return 60 * GENERATIONS / (time.perf_counter() - began)

    return run


def recipes_rate(game: Game[Any]) -> Callable[[], float]:
    genome = f"reward_recipe(preset=derakhshan2010,training_games={CHILD_GAMES})"
    config = dataclasses.replace(genetic.Config(**presets.find("derakhshan2010", "genetic", game)), genome=genome)
    made = RewardRecipe(preset="derakhshan2010", training_games=CHILD_GAMES)
    recipe = np.array([config.first], np.float32)
    full = presets.find("derakhshan2010", "q_table", game)["games"]
    state = genetic.init(config, game, jax.random.key(0))
    state, _ = genetic.update(config, game, (), state)

    def run() -> float:
        nonlocal state
        began = time.perf_counter()
        state, _ = genetic.update(config, game, (), state)  # a child's training, and matches
        middle = time.perf_counter()
        made.express(game, recipe, np.zeros(1, np.uint32))
        trained = time.perf_counter() - middle
        return 3600 / (middle - began + trained * (full - CHILD_GAMES) / CHILD_GAMES)

    return run


def moves_rate(name: str, depth: int) -> Callable[[], float]:
    """Self-play on all cores with the weights of a short training, for games like those of later training."""
    game = registry.make(name)
    config = tdleaf.Config(depth=depth, batch=GAMES)
    state = tdleaf.init(config, game, jax.random.key(0))
    for _ in range(3):
        state, _ = tdleaf.update(config, game, (), state)

    def run() -> float:
        nonlocal state
        began = time.perf_counter()
        state, metrics = tdleaf.update(config, game, (), state)
        moves = float(metrics["targets"])  # one a move; waits until the step is done
        return moves / (time.perf_counter() - began)

    return run
