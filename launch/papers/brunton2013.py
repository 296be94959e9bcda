"""Brunton and Cohney (2013), an agent for Jumper: what a move costs each player, and what learning is worth.

The paper does not say how its random boards are drawn; ours come from random play, of 6 to 19 turns. Times are those
of the processor, for one thread; the paper's are of another machine and of Java.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from boardrl import arena, host, progress, registry
from launch import bench_search, lineup
from launch.papers import trained
from launch.papers.cell import Cell, Item, share

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


# Learned weights against fixed ones. Opponent: the weights of pieces and safe pieces.
FIXED = {"0.5 pieces, 0.5 safe": "0.5+0.5+0+0", "0.4 pieces, 0.6 safe": "0.4+0.6+0+0"}
PLAYED_DEPTH = 3
OPENING = 6  # moves at random, where the paper has random boards
TRAINING_GAMES = 6  # of TD-Leaf for each game of a row
TRAINING_POSITIONS = 20  # of gradient descent


def against_fixed(algo: str, training: int, printed: float, games: int, seed: int) -> Sequence[Cell]:
    """The share of decided games that weights learned by an algorithm win, at equal depth."""
    flags = {"game": "jumper", "algo": algo, "depth": PLAYED_DEPTH, "games": training * games}
    once = {"evaluate_against": "random", "evaluate_every": training * games, "evaluate_games": 1, "final_games": 1}
    path = trained.run(f"brunton2013-{algo}", seed, {**flags, **once})
    game, cells = registry.make("jumper"), []
    for name, weights in FIXED.items():
        pair = lineup.make(f"{path},negascout(depth={PLAYED_DEPTH},weights={weights})", game)
        with progress.track(f"{algo} against {name}", games, "games") as bar:
            played = arena.play(
                game, pair, np.array([[0, 1], [1, 0]]), num_games=games, seed=seed, opening=OPENING, tick=bar.update
            )
        seat = played.seating.argmin(1)  # of the learned player
        mine = played.returns[np.arange(games), seat]
        for what, which in {"as White": seat == 0, "as Black": seat == 1, "both": seat >= 0}.items():
            wins, losses = (int((sign * mine[which] > 0).sum()) for sign in (1, -1))
            paper = printed if what == "both" and weights == FIXED["0.5 pieces, 0.5 safe"] else None
            row = f"against {name}, {what}: {wins}-{losses}, {int(which.sum()) - wins - losses} drawn"
            cells.append(Cell(row, algo, "% of decided", *share(wins, max(wins + losses, 1)), paper))
    return cells


NOTES = (
    f"Learned and fixed weights both search {PLAYED_DEPTH} turns ahead; every game begins with {OPENING} random moves.",
    "The paper's totals are of boards of which it says no more than random; its rows do not add up to them.",
)
ITEMS = {
    "fig2": Item("Figure 2: move timings on random 6×6 boards", 100, figure_2),
    "fig3": Item(
        "Figure 3: gradient descent against fixed weights",
        2000,
        functools.partial(against_fixed, "gradient_fit", TRAINING_POSITIONS, 100 * 35 / 88),
        NOTES,
        quick=200,
    ),
    "fig4": Item(
        "Figure 4: TD-Leaf against fixed weights",
        2000,
        functools.partial(against_fixed, "tdleaf", TRAINING_GAMES, 100 * 55 / 95),
        NOTES,
        quick=200,
    ),
}
