"""Brunton and Cohney (2013), an agent for Jumper: time per move of each player, and the benefit of learning.

The paper does not say how its random boards are drawn; ours come from random play, of 6 to 19 turns. Our times are
processor time of one thread; the paper's come from another machine and Java.
"""

from __future__ import annotations

import functools
import pathlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from boardrl import host, registry
from boardrl.matches import arena
from boardrl.runs import progress
from launch.bench import search_suite
from launch.bench.row import processor_seconds
from launch.console import named_players
from launch.papers import jumper_limits, jumper_mlp, jumper_round_robin, trained
from launch.papers.cell import Cell, Item, mean, share

DEPTH = 5
MLP_GAMES = 50_000  # training games, as in the paper
PLAIN = {"deepening": False}

# Player: searcher, its options, and the milliseconds that the paper prints.
FIGURE_2: dict[str, tuple[str, dict[str, Any], float]] = {
    "minimax": ("minimax", PLAIN, 22090.0),
    "alpha-beta, jumps first": ("alphabeta", PLAIN, 224.0),
    "alpha-beta, places first": ("alphabeta", {**PLAIN, "reverse": True}, 1756.0),
    "Negascout": ("negascout", {}, 391.0),
}
RANDOM_MS = 0.163
MINIMAX_SHARE = 20  # minimax is about this many times slower, so it gets one of this many boards


def figure_2(games: int, seed: int) -> Sequence[Cell]:
    """Milliseconds per move on random 6×6 boards at depth 5."""
    game: Any = registry.make("jumper:size=6")
    cells = []
    with progress.track("moves", games * (len(FIGURE_2) + 1), "moves") as bar:
        for number, (name, (kind, options, paper)) in enumerate(FIGURE_2.items()):
            count = max(games // MINIMAX_SHARE, 2) if kind == "minimax" else games
            search = search_suite.make(game, kind, DEPTH, options)
            times = []
            for row in search_suite.jumper_boards(search.facet, count, seed):
                search.reset()
                times.append(milliseconds(functools.partial(search.search_row, row)))
                bar.update(number * games + len(times) * games // count)
            cells.append(_cell(name, times, paper))
        facet, rng = host.of(game), np.random.default_rng(seed)
        turns = search_suite.Turns(facet)
        boards = search_suite.jumper_boards(facet, games, seed)
        times = [milliseconds(functools.partial(turns.random, row, rng)) for row in boards]
        cells.append(_cell("random", times, RANDOM_MS))
    return cells


def milliseconds(work: Callable[[], Any]) -> float:
    return 1e3 * processor_seconds(work)


def _cell(name: str, times: Sequence[float], paper: float) -> Cell:
    return Cell(f"depth {DEPTH}", name, "ms a move", *mean(np.array(times)), paper)


# Learned weights against fixed ones. Opponent: the weights of pieces and safe pieces.
FIXED = {"0.5 pieces, 0.5 safe": "brunton2013_even", "0.4 pieces, 0.6 safe": "brunton2013_final"}
PLAYED_DEPTH = 3
OPENING = 6  # random moves at the start, in place of the paper's random boards
TRAINING_GAMES = 6  # training games of TD-Leaf for each game of a row
TRAINING_POSITIONS = 20  # training positions of gradient descent for each game of a row
FULL = 2000  # games of a row
TRAINING_SHARE, MLP_SHARE = 60, 250  # training games for each game of a match, in runs too short for full training
# Wins and losses as printed, against hard-coded weights.
FIGURE_3 = {"as White": (22, 20), "as Black": (33, 13), "both": (35, 53)}
FIGURE_4 = {"as White": (29, 20), "as Black": (35, 11), "both": (55, 40)}


def learned(algo: str, depth: int, training: int, seed: int) -> pathlib.Path:
    """The run of an algorithm that learns weights of the paper's features."""
    once = {"evaluate_against": "random", "evaluate_every": training, "evaluate_games": 1, "final_games": 1}
    flags = {"game": "jumper", "algo": algo, "games": training, "features": "brunton2013", "depth": depth}
    return trained.run(f"brunton2013-{algo}-depth{depth}", seed, {**flags, **once})


def figure_3(games: int, seed: int) -> Sequence[Cell]:
    """Gradient descent, fitted to the values of a search to the paper's depth, and to twice that."""
    cells: list[Cell] = []
    for depth, printed in {2: FIGURE_3, 4: {}}.items():
        run = learned("gradient_fit", depth, TRAINING_POSITIONS * games, seed)
        cells += against_fixed(f"fitted to depth {depth}", run, printed, games, seed)
    return cells


def figure_4(games: int, seed: int) -> Sequence[Cell]:
    """TD-Leaf, trained at the depth of the match."""
    run = learned("tdleaf", PLAYED_DEPTH, TRAINING_GAMES * games, seed)
    return against_fixed("TD-Leaf", run, FIGURE_4, games, seed)


def against_fixed(
    who: str, run: pathlib.Path, printed: Mapping[str, tuple[int, int]], games: int, seed: int
) -> Sequence[Cell]:
    """The fraction of decided games that the weights of a run win, at equal depth."""
    game, cells = registry.make("jumper"), []
    for name, fixed in FIXED.items():
        pair = named_players.make(f"negascout(depth={PLAYED_DEPTH},net={run}),{fixed}(depth={PLAYED_DEPTH})", game)
        with progress.track(f"{who} against {name}", games, "games") as bar:
            played = arena.play(
                game, pair, np.array([[0, 1], [1, 0]]), num_games=games, seed=seed, opening=OPENING, tick=bar.update
            )
        seat = played.seating.argmin(1)  # the seat of the learned player
        mine = played.returns[np.arange(games), seat]
        for what, which in {"as White": seat == 0, "as Black": seat == 1, "both": seat >= 0}.items():
            wins, losses = (int((sign * mine[which] > 0).sum()) for sign in (1, -1))
            row = f"against {name}, {what}: {wins}-{losses}, {int(which.sum()) - wins - losses} drawn"
            paper = None
            if what in printed and fixed == "brunton2013_even":
                won, lost = printed[what]
                paper = 100 * won / (won + lost)
            cells.append(Cell(row, who, "% of decided", *share(wins, max(wins + losses, 1)), paper))
    return cells


def alphabeta_learned(games: int, seed: int) -> str:
    """The strongest player of figure 1: alpha-beta with the TD-Leaf weights of figure 4's training."""
    training = min(TRAINING_GAMES * FULL, TRAINING_SHARE * games)
    return f"alphabeta(depth={DEPTH},net={learned('tdleaf', PLAYED_DEPTH, training, seed)})"


def figure_1(games: int, seed: int) -> Sequence[Cell]:
    """The round robin; the net comes from `launch.train --game=jumper --algo=td_lambda`."""
    training = {"game": "jumper", "algo": "td_lambda", "games": min(MLP_GAMES, MLP_SHARE * games)}
    players = {
        "random": "random",
        "MLP": str(trained.run("brunton2013-mlp", seed, training)),
        "minimax": f"alphabeta(depth={DEPTH})",
        "Negascout": f"negascout(depth={DEPTH})",
        "alpha-beta, learned": alphabeta_learned(games, seed),
    }
    return jumper_round_robin.cells(players, games, seed)


def under_limits(games: int, seed: int) -> Sequence[Cell]:
    """The shipped player within the paper's limits, against the strongest player of figure 1."""
    return jumper_limits.cells("jumper_best", alphabeta_learned(games, seed), games, seed)


NOTES = (
    f"Learned and fixed weights both search {PLAYED_DEPTH} turns ahead; every game begins with {OPENING} random moves.",
    "The paper's totals are for boards that it only calls random; its rows do not add up to them.",
)
ITEMS = {
    "fig1": Item(
        "Figure 1: round robin on 6×6",
        1000,
        figure_1,
        (
            f"All searches look {DEPTH} turns ahead; every game begins with {jumper_round_robin.OPENING} random moves.",
            "The paper's minimax prunes too: alpha-beta without a table, with the same final weights as Negascout.",
        ),
        unit="games a pair and colour",
        quick=20,
    ),
    "fig2": Item("Figure 2: move timings on random 6×6 boards", 100, figure_2),
    "fig3": Item(
        "Figure 3: gradient descent against fixed weights",
        FULL,
        figure_3,
        (*NOTES, "The paper searched random boards to depth 2 for its fit."),
        quick=200,
    ),
    "fig4": Item("Figure 4: TD-Leaf against fixed weights", FULL, figure_4, NOTES, quick=200),
    "fig5": Item(
        "Figure 5: the net's lead in pieces after learning by self-play",
        40_000,
        jumper_mlp.cells,
        (
            f"{jumper_mlp.PLAYED} games a point as White after {jumper_mlp.OPENING} random moves; the search is "
            f"{jumper_mlp.SEARCH} with the paper's weights.",
            "The paper prints no numbers: its curves rise, and are flat after about 20,000 games.",
        ),
        unit="games of training",
        quick=2000,
    ),
    "limits": Item(
        "15 s a game and 1024 KB: the shipped player against alpha-beta to depth 5 with learned weights",
        200,
        under_limits,
        (f"Every game begins with {jumper_limits.OPENING} random moves; colours change after each.",),
        unit="games",
        quick=4,
    ),
}
