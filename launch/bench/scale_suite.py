"""Suite `scale`: two workers of a Ray on this machine, beside the default of threads and processes."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Sequence
from typing import Any

from boardrl import registry, workers
from boardrl.matches import arena
from boardrl.workers import Local, Workers
from launch.bench import learn_suite
from launch.bench.row import Row

WORKERS = 2
GAMES = 40  # of a match
LARGE: dict[str, Any] = {"lanes": 4096, "window": 32}  # 16 times as much play in an update as Ludo's defaults
LARGE_UPDATES = 10  # per measurement


def rows(batch: int) -> Sequence[Row]:
    """All rows; each has its own sizes."""
    return [
        _row("jumper 6x6, tdleaf to depth 3", "moves/s", lambda: learn_suite.moves_rate("jumper:size=6", 3)),
        _row("jumper 6x6, match of negascout(depth=4)", "games/s", by_matches),
        _row("ludo, td_lambda in 2 shards", "rolls/s", lambda: learn_suite.training_rate("ludo", "rolls")),
        _row("ludo, td_lambda in 2 shards, 4096 lanes, window 32", "rolls/s", by_large_updates),
    ]


def by_large_updates() -> Callable[[], float]:
    """TD(λ) with updates that are long enough for a cluster (docs/scaling.md)."""
    return learn_suite.training_rate("ludo", "rolls", updates=LARGE_UPDATES, **LARGE)


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


def by_matches() -> Callable[[], float]:
    game = registry.make("jumper:size=6")
    players = ["negascout(depth=4)"] * 2

    def run() -> float:
        began = time.perf_counter()
        arena.match(game, players, num_games=GAMES, seed=0, opening=4)
        return GAMES / (time.perf_counter() - began)

    run()  # makes the players in every worker
    return run
