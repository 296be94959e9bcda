"""Measures how well searchers keep their time and memory budgets on a busy machine.

    python -m launch.dev.measure_budget
    python -m launch.dev.measure_budget --game=jumper:size=8 --player='negascout(ms=20,kilobytes=1024)'

Other processes keep every core busy. The positions come from random play. A move is measured as a whole, from the state
to the chosen action. If a move is late by the clock, the search's own lateness is the processor time that it used since
its last clock check before the deadline; the rest is time spent waiting for a core, which no program can avoid on an
overloaded machine. A budget is kept if neither the search's own lateness nor its processor time exceeds it by more than
10 ms at the 99.9th percentile, and the memory never exceeds it; otherwise the exit code is 1.
"""

from __future__ import annotations

import dataclasses
import sys
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import rich.console
import rich.table

from boardrl import host, registry
from boardrl.config import setting
from boardrl.errors import UserError
from boardrl.game import TERMINAL
from boardrl.play import players
from boardrl.runs import progress
from boardrl.system import machine
from launch import cli
from launch.console import output
from launch.dev.busy import busy
from search import random_step
from search.kernel.control_block import WORKED
from search.player import SearchPlayer

MOST_OVER_MS = 10.0  # at the 99.9th percentile
NOT_KEPT = 1  # exit code
BUSY_BYTES = 100 << 20  # memory of a process that keeps a core busy
CASES = (  # measured unless the user gives one
    ("tic_tac_toe", "minimax(ms=5,kilobytes=256)"),
    ("jumper:size=6", "negascout(ms=5,kilobytes=1024)"),
    ("jumper:size=6", "negascout(ms=20,kilobytes=1024)"),
    ("jumper:size=6", "alphabeta(ms=50,kilobytes=65536)"),
    ("ludo:players=2", "expectimax(ms=20,kilobytes=1024)"),
    ("ludo", "maxn(ms=10,kilobytes=1024)"),
    ("ludo", "mcts(ms=20,kilobytes=1024)"),
)


@dataclasses.dataclass(frozen=True)
class Config:
    game: str = setting("jumper:size=6", "the game, with its options; for --player")
    player: str = setting("", "a searcher with a time limit in milliseconds; empty: several, on several games")
    moves: int = setting(2000, "number of moves to measure per player")
    busy: int = setting(0, "number of processes that keep the machine busy; 0: one per core")
    seed: int = setting(0, "random seed of the positions")
    json: str = setting("", "file for the numbers; empty: none")
    overwrite: bool = setting(False, "replace the --json file if it exists")


def main(config: Config) -> None:
    if config.moves < 1 or config.busy < 0:
        raise UserError(f"--moves={config.moves} --busy={config.busy}: expected at least 1 move and no negative number")
    num_busy = config.busy or machine.num_cores()
    machine.require(num_busy * BUSY_BYTES, f"--busy={num_busy}", "give fewer processes")
    path = output.free_path("json", config.json, overwrite=config.overwrite)
    cases = ((config.game, config.player),) if config.player else CASES
    searchers = [make(game, player) for game, player in cases]
    content = []
    with busy(num_busy):
        for (game, player), searcher in zip(cases, searchers, strict=True):
            used = measure(searcher, config, f"{game}, {player}")
            content.append({"game": game, "player": player, "busy_processes": num_busy, **summary(searcher, used)})
    show(content)
    output.write_json(path, content)
    if not all(case["kept"] for case in content):
        sys.exit(NOT_KEPT)


def make(game: str, text: str) -> SearchPlayer:
    player = players.make(text, registry.make(game)).host
    if not isinstance(player, SearchPlayer) or not player.searcher.budget.ms:
        raise UserError(f"--player={text} has no time limit; expected a searcher with ms=…")
    return player


class Move(NamedTuple):
    """Milliseconds of one move, from a state to the player's action."""

    clock: float
    processor: float
    after: float  # processor time since the last clock check before the deadline


def measure(player: SearchPlayer, config: Config, title: str) -> list[Move]:
    """Plays at random, and measures the player's move at every decision."""
    facet, rng = player.searcher.facet, np.random.default_rng(config.seed)
    control = player.searcher.memory.control
    used: list[Move] = []
    row = facet.rows()
    facet.init(row)
    with progress.track(title, config.moves, "moves") as bar:
        while len(used) < config.moves:
            row = random_decision(facet, rng, row)
            state = facet.state(row)
            began, began_thread = time.monotonic_ns(), time.thread_time_ns()
            player.choose(facet.game, state, rng)
            ended, ended_thread = time.monotonic_ns(), time.thread_time_ns()
            spent = (ended - began, ended_thread - began_thread, ended_thread - int(control[WORKED]))
            used.append(Move(*(part / 1e6 for part in spent)))
            player.reset()
            row = random_step.step(facet, row, rng)
            bar.update(len(used))
    return used


def random_decision(facet: host.Facet, rng: np.random.Generator, row: np.ndarray) -> np.ndarray:
    """The row, or the next decision of a random game; starts a new game after the end."""
    work = facet.work()
    while (who := facet.actor(row, work)) < 0:
        if who == TERMINAL:
            facet.init(row)
        else:
            row = random_step.step(facet, row, rng)
    return row


def summary(player: SearchPlayer, used: Sequence[Move]) -> dict[str, Any]:
    """Statistics of a player's moves."""
    budget = player.searcher.budget
    clock, processor, after = np.array(used).T
    over = clock - budget.ms
    own = np.minimum(np.maximum(over, 0.0), after)
    content: dict[str, Any] = {
        "moves": len(used),
        "over_ms_median": float(np.median(over)),
        "over_ms_99": float(np.quantile(over, 0.99)),
        "over_ms_99_9": float(np.quantile(over, 0.999)),
        "over_ms_most": float(over.max()),
        "own_over_ms_99_9": float(np.quantile(own, 0.999)),
        "waited_over_ms_99_9": float(np.quantile(np.maximum(over, 0.0) - own, 0.999)),
        "processor_over_ms_99_9": float(np.quantile(processor - budget.ms, 0.999)),
        "bytes": player.searcher.num_bytes,
        "bytes_allowed": 1024 * budget.kilobytes,
    }
    late = max(content["own_over_ms_99_9"], content["processor_over_ms_99_9"]) > MOST_OVER_MS
    content["kept"] = not late and content["bytes"] <= content["bytes_allowed"]
    return content


def verdict(case: dict[str, Any]) -> str:
    """Whether a budget was kept and, if not by the clock, why."""
    if not case["kept"]:
        return "NOT KEPT"
    return "kept but for waits" if case["over_ms_99_9"] > MOST_OVER_MS else "kept"


COLUMNS = {
    "median": "over_ms_median",
    "99 %": "over_ms_99",
    "99.9 %": "over_ms_99_9",
    "most": "over_ms_most",
    "own 99.9 %": "own_over_ms_99_9",
    "waiting 99.9 %": "waited_over_ms_99_9",
    "processor 99.9 %": "processor_over_ms_99_9",
}


def show(content: list[dict[str, Any]]) -> None:
    moves, number = content[0]["moves"], content[0]["busy_processes"]
    table = rich.table.Table(title=f"milliseconds over budget, {moves} moves each, {number} busy processes")
    for column in ("game", "player", *COLUMNS, "kilobytes", ""):
        table.add_column(column, justify="left" if column in ("game", "player", "") else "right")
    for case in content:
        numbers = [f"{case[name]:+.2f}" for name in COLUMNS.values()]
        kilobytes = f"{case['bytes'] / 1024:,.0f} of {case['bytes_allowed'] // 1024:,}"
        table.add_row(case["game"], case["player"], *numbers, kilobytes, verdict(case))
    rich.console.Console(width=170).print(table)
    if not all(case["kept"] for case in content):
        print(
            f"expected at most {MOST_OVER_MS:g} ms of own lateness at the 99.9th percentile, and no memory over budget"
        )


if __name__ == "__main__":
    cli.run(main, Config)
