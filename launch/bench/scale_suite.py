"""Suite `scale`: two workers of a Ray on this machine, beside the default of threads and processes."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Sequence

from boardrl import registry, workers
from boardrl.matches import arena
from boardrl.workers import Local, Workers
from launch.bench import learn_suite
from launch.bench.row import Row

Rate = Callable[[], Callable[[], float]]  # makes what measures once, already compiled

WORKERS = 2
GAMES = 40  # of a match
LOCAL_STEPS = 16  # which make td_lambda's updates of Ludo long enough for a cluster (docs/scaling.md)
UPDATES = 10  # of so many steps, per measurement


def rows(batch: int) -> Sequence[Row]:
    """All rows; each has its own sizes."""
    return [
        _row("jumper 6x6, tdleaf to depth 3", "moves/s", lambda: learn_suite.moves_rate("jumper:size=6", 3)),
        _row("jumper 6x6, match of negascout(depth=4)", "games/s", by_matches),
        _row("ludo, td_lambda in 2 shards", "rolls/s", by_td_lambda),
        _row(f"ludo, td_lambda in 2 shards, {LOCAL_STEPS} local steps", "rolls/s", by_local_steps),
        _row(
            *(f"ludo, td_lambda, {LOCAL_STEPS} local steps beside the defaults", "rolls/s", by_local_steps),
            peer_name="local, one shard",
            peer=lambda: by_td_lambda(shards=1),
        ),
    ]


def by_td_lambda(shards: int = WORKERS) -> Callable[[], float]:
    return learn_suite.training_rate("ludo", "rolls", shards=shards)


def by_local_steps() -> Callable[[], float]:
    return learn_suite.training_rate("ludo", "rolls", updates=UPDATES, shards=WORKERS, local_steps=LOCAL_STEPS)


def _row(name: str, unit: str, rate: Rate, *, peer_name: str = "local", peer: Rate | None = None) -> Row:
    """A rate by Ray, beside another (default: the same) by this machine's threads and processes."""

    def measured(pool: Callable[[], Workers], rate: Rate) -> Callable[[], float]:
        made = functools.cache(rate)

        def run() -> float:
            with workers.lent(pool()):
                return made()()

        return run

    return Row(name, unit, measured(_ray, rate), peer_name, measured(_local, peer or rate))


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
