"""Prints the lowered code of a game's function, and the time of a call.

    python -m launch.dev.lowered --game=jumper --function=legal
    python -m launch.dev.lowered --game=ataxx --function=successors

Each comment names the equation, its type and shape, and the line of the rules that it comes from.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
import time
from typing import Any

import numpy as np

from boardrl import host, registry
from boardrl.config import setting
from boardrl.errors import UserError
from boardrl.game import CHANCE, TERMINAL
from boardrl.host import random_games
from launch import cli
from launch.dev import lowered_kernel

POSITIONS = 1000  # positions of random play for the timed calls
SECONDS = 0.2  # least time of a measurement


@dataclasses.dataclass(frozen=True)
class Settings:
    """Flags of this command."""

    game: str = setting("", "the game, with its options")
    function: str = setting("legal", f"which one: {', '.join(lowered_kernel.FUNCTIONS)}")


def main(settings: Settings) -> None:
    if not settings.game:
        raise UserError(f"no game is given; expected --game=NAME, one of {', '.join(registry.names())}")
    game = registry.make(settings.game)
    if settings.function not in lowered_kernel.FUNCTIONS:
        known = ", ".join(lowered_kernel.FUNCTIONS)
        raise UserError(f"--function={settings.function} is not a compiled function of games; expected one of {known}")
    facet = host.of(game)
    if not hasattr(facet.module, settings.function):
        raise UserError(f"{settings.game} has no {settings.function!r}, so there is no code for it")
    print(inspect.getsource(getattr(facet.module, settings.function).py_func).rstrip())
    print(f"\n{call_time(facet, settings.function):,.1f} ns a call, over {POSITIONS:,} positions of random play")


def call_time(facet: host.Facet, function: str) -> float:
    """Nanoseconds per call at the kind of node that the function is for, without the loop around the calls."""
    rows, moves = facet.rows(4 * POSITIONS), np.zeros(4 * POSITIONS, np.int32)
    host.specialise(random_games, facet).record(rows, moves, 1)
    chosen = np.flatnonzero([_asks(function, facet.actor(row, facet.work())) for row in rows])[:POSITIONS]
    if not len(chosen):
        raise UserError(f"random play of {facet.game.spec.name} reached no position for {function!r}; try another game")
    kernel: Any = host.specialise(lowered_kernel, facet, FUNCTION=lowered_kernel.FUNCTIONS.index(function))
    nothing: Any = host.specialise(lowered_kernel, facet, FUNCTION=-1)
    return _time(kernel, rows[chosen], moves[chosen]) - _time(nothing, rows[chosen], moves[chosen])


def _asks(function: str, who: int) -> bool:
    """Whether a function is called at nodes of that actor."""
    if function in ("legal", "act", "successors"):
        return who >= 0
    if function in ("chance", "settle"):
        return who == CHANCE
    return function != "step" or who != TERMINAL


def _time(kernel: Any, rows: np.ndarray, moves: np.ndarray) -> float:
    """Nanoseconds per call, the least of several measurements."""
    kernel.repeat(rows, moves, 1)
    calls, least = 1000, math.inf
    began = time.perf_counter()
    while time.perf_counter() - began < SECONDS:
        start = time.thread_time()
        kernel.repeat(rows, moves, calls)
        spent = time.thread_time() - start
        least = min(least, spent / calls * 1e9)
        calls = calls * 2 if spent < SECONDS / 20 else calls
    return least


if __name__ == "__main__":
    cli.run(main, Settings)
