"""Measures how well a searcher keeps to its budget of time and memory while the machine is busy.

    python -m launch.measure_budget --moves=2000 --player='negascout(ms=20,kilobytes=1024)'

Other processes keep every core busy. The positions come from random play. What counts is the whole move: from the
state to the action that the player chooses.
"""

from __future__ import annotations

import dataclasses
import multiprocessing
import os
import time
from typing import Any

import jax
import numpy as np

from boardrl import host, players, progress, registry
from boardrl.config import setting
from boardrl.errors import UserError
from boardrl.game import CHANCE, TERMINAL
from launch import cli, lineup, output
from search.player import SearchPlayer

MOST_OVER_MS = 10.0  # at the 99.9th percentile


@dataclasses.dataclass(frozen=True)
class Config:
    game: str = setting("jumper:size=6", "the game, with its options")
    player: str = setting("negascout(ms=20,kilobytes=1024)", "a searcher with a limit of milliseconds")
    moves: int = setting(2000, "how many moves to measure")
    busy: int = setting(0, "processes that keep the machine busy; 0: one a core")
    seed: int = setting(0, "of the positions")
    json: str = setting("", "file for the numbers; empty: none")
    overwrite: bool = setting(False, "replace the --json file if it exists")


def main(config: Config) -> None:
    path = output.free_path("json", config.json, overwrite=config.overwrite)
    game = registry.make(config.game)
    player = players.make(config.player, game, lineup.MAKERS).host
    if not isinstance(player, SearchPlayer) or not player.searcher.budget.ms:
        raise UserError(f"--player={config.player} has no time to keep to; expected a searcher with ms=…")
    num_busy = config.busy or os.cpu_count() or 1
    others = [multiprocessing.get_context("spawn").Process(target=spin, daemon=True) for _ in range(num_busy)]
    for other in others:
        other.start()
    try:
        time.sleep(1.0)  # until they spin
        used = measure(player, config)
    finally:
        for other in others:
            other.terminate()
    budget = player.searcher.budget
    over, processor_over = (used - budget.ms).T
    content: dict[str, Any] = {
        "game": config.game,
        "player": config.player,
        "moves": len(used),
        "busy_processes": num_busy,
        "over_ms_median": float(np.median(over)),
        "over_ms_99": float(np.quantile(over, 0.99)),
        "over_ms_99_9": float(np.quantile(over, 0.999)),
        "over_ms_most": float(over.max()),
        # What the search itself is to blame for: on a machine with more to do than cores, the rest is waiting.
        "processor_over_ms_99_9": float(np.quantile(processor_over, 0.999)),
        "bytes": player.searcher.memory.num_bytes,
        "bytes_allowed": 1024 * budget.kilobytes,
    }
    for name, value in content.items():
        print(f"{name:24}{value:.3f}" if isinstance(value, float) else f"{name:24}{value}")
    kept = content["over_ms_99_9"] <= MOST_OVER_MS and content["bytes"] <= content["bytes_allowed"]
    print("kept" if kept else f"not kept: expected at most {MOST_OVER_MS} ms over at the 99.9th percentile")
    output.write_json(path, content)


def measure(player: SearchPlayer, config: Config) -> np.ndarray:
    """[moves, 2] milliseconds from a state to the player's action, by the clock and by the processor."""
    facet, rng = player.searcher.facet, np.random.default_rng(config.seed)
    used: list[tuple[float, float]] = []
    state: Any = None
    with progress.track("moves", config.moves, "moves") as bar:
        while len(used) < config.moves:
            state = random_decision(facet, rng, state)
            began, began_thread = time.perf_counter(), time.thread_time()
            player.choose(facet.game, state, rng)
            used.append(((time.perf_counter() - began) * 1e3, (time.thread_time() - began_thread) * 1e3))
            player.reset()
            bar.update(len(used))
    return np.array(used)


def random_decision(facet: host.Facet, rng: np.random.Generator, state: Any) -> Any:
    """The next position of a random game in which somebody decides; a new game after the end, or without a state."""
    spec, work = facet.game.spec, facet.work()
    mask, probs = np.zeros(spec.num_actions, np.bool_), np.zeros(spec.num_outcomes, np.float32)
    row = facet.row(jax.device_get(facet.game.init()) if state is None else state)
    fresh = state is None
    while True:
        who = facet.actor(row, work)
        if who == TERMINAL:
            facet.init(row)
            fresh = True
            continue
        if who >= 0 and fresh:
            return facet.state(row)
        if who == CHANCE:
            facet.chance(row, probs, work)
            move = rng.choice(len(probs), p=probs.astype(np.float64) / probs.sum(dtype=np.float64))
        else:
            facet.legal(row, mask, work)
            move = rng.choice(np.flatnonzero(mask))
            fresh = True
        after = facet.rows()
        facet.step(row, int(move), after, work)
        row = after


def spin() -> None:
    """Keeps a core busy until the process is ended."""
    parent = os.getppid()
    while os.getppid() == parent:
        for _ in range(100_000):
            pass


if __name__ == "__main__":
    cli.run(main, Config)
