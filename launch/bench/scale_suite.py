"""Suite `scale`: two workers of a Ray on this machine, beside the default of threads and processes."""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Callable, Sequence
from typing import Any

import jax

from algorithms import td_lambda, tdleaf
from boardrl import optional, registry, workers
from boardrl.matches import arena
from boardrl.workers import Local, Workers
from launch.bench.row import Row

WORKERS = 2
UPDATES = 40  # of TD(λ) in a measurement
GAMES = 40  # an update of TD-Leaf, and of a match
SHARDS = 2


def rows(batch: int) -> Sequence[Row]:
    """All rows; each has its own sizes."""
    return [
        _row("jumper 6x6, tdleaf to depth 3", "moves/s", by_search),
        _row("jumper 6x6, match of negascout(depth=4)", "games/s", by_matches),
        _row(f"ludo, td_lambda in {SHARDS} shards", "rolls/s", by_td_lambda),
    ]


def _row(name: str, unit: str, rate: Callable[[], Callable[[], float]]) -> Row:
    def measured(pool: Callable[[], Workers]) -> Callable[[], float]:
        made = functools.cache(rate)

        def run() -> float:
            with workers.lent(pool()):
                return made()()

        return run

    return Row(name, unit, measured(_ray), "local", measured(_local))


@functools.cache
def _ray() -> Workers:
    from boardrl.workers.ray_workers import Ray

    return Ray(count=WORKERS)


@functools.cache
def _local() -> Workers:
    return Local(WORKERS)


def by_search() -> Callable[[], float]:
    """TD-Leaf with the weights of a short training: searched moves."""
    game = registry.make("jumper:size=6")
    config = tdleaf.Config(depth=3, batch=GAMES)
    state = tdleaf.init(config, game, jax.random.key(0))
    for _ in range(3):
        state, _ = tdleaf.update(config, game, (), state)

    def run() -> float:
        nonlocal state
        began = time.perf_counter()
        state, metrics = tdleaf.update(config, game, (), state)
        return float(metrics["targets"]) / (time.perf_counter() - began)

    return run


def by_matches() -> Callable[[], float]:
    game = registry.make("jumper:size=6")
    players = ["negascout(depth=4)"] * 2

    def run() -> float:
        began = time.perf_counter()
        arena.match(game, players, num_games=GAMES, seed=0, opening=4)
        return GAMES / (time.perf_counter() - began)

    run()  # makes the players in every worker
    return run


def by_td_lambda() -> Callable[[], float]:
    """The game's own settings, learning included."""
    game: Any = registry.make("ludo")
    known = {field.name for field in dataclasses.fields(td_lambda.Config)}
    suited = {name: value for name, value in optional.defaults(game).get("td_lambda", {}).items() if name in known}
    config = td_lambda.Config(**{**suited, "shards": SHARDS})
    state = td_lambda.init(config, game, jax.random.key(0))
    for _ in range(2):
        state, _ = td_lambda.update(config, game, (), state)

    def run() -> float:
        nonlocal state
        began, rolls = time.perf_counter(), 0.0
        for _ in range(UPDATES):
            state, metrics = td_lambda.update(config, game, (), state)
            rolls += float(metrics["rolls"])
        return rolls / (time.perf_counter() - began)

    return run
