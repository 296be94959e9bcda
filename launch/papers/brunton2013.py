"""Brunton and Cohney (2013), an agent for Jumper: what a move costs each player.

The paper does not say how its random boards are drawn; ours come from random play, of 6 to 19 turns. Times are those
of the processor, for one thread; the paper's are of another machine and of Java.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from boardrl import host, progress, registry
from launch import bench_search
from launch.papers.cell import Cell, Item

DEPTH = 5
PLAIN = {"deepening": False}

# Player: searcher, its options, and the milliseconds that the paper prints.
FIGURE_2: dict[str, tuple[str, dict[str, Any], float]] = {
    "minimax": ("minimax", PLAIN, 22090.0),
    "alpha-beta, jumps first": ("alphabeta", PLAIN, 224.0),
    "alpha-beta, places first": ("alphabeta", {**PLAIN, "reverse": True}, 1756.0),
    "Negascout": ("negascout", {}, 391.0),
}
RANDOM_MS = 0.163
MINIMAX_SHARE = 20  # it takes as many times as long: it gets one board of as many


def figure_2(games: int, seed: int) -> Sequence[Cell]:
    """Milliseconds a move on random 6×6 boards at depth 5."""
    game: Any = registry.make("jumper:size=6")
    cells = []
    with progress.track("moves", games * (len(FIGURE_2) + 1), "moves") as bar:
        for number, (name, (kind, options, paper)) in enumerate(FIGURE_2.items()):
            count = max(games // MINIMAX_SHARE, 2) if kind == "minimax" else games
            search = bench_search.make(game, kind, DEPTH, options)
            times = []
            for row in bench_search.jumper_boards(search.facet, count, seed):
                search.reset()
                times.append(milliseconds(functools.partial(search.search_row, row)))
                bar.update(number * games + len(times) * games // count)
            cells.append(_cell(name, times, paper))
        facet, rng = host.of(game), np.random.default_rng(seed)
        buffer, work = facet.rows(4096), facet.work()

        def random_move(row: np.ndarray) -> int:
            return int(rng.integers(facet.successors(row, buffer, work)))

        boards = bench_search.jumper_boards(facet, games, seed)
        times = [milliseconds(functools.partial(random_move, row)) for row in boards]
        cells.append(_cell("random", times, RANDOM_MS))
    return cells


def milliseconds(work: Callable[[], Any]) -> float:
    return 1e3 * bench_search.processor_seconds(work)


def _cell(name: str, times: Sequence[float], paper: float) -> Cell:
    """The mean with its interval, by the normal approximation."""
    mean, error = float(np.mean(times)), 1.96 * float(np.std(times, ddof=1)) / len(times) ** 0.5
    return Cell(f"depth {DEPTH}", name, "ms a move", mean, mean - error, mean + error, paper)


ITEMS = {"fig2": Item("Figure 2: move timings on random 6×6 boards", 100, figure_2)}
