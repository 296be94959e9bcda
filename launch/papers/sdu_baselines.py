"""The players that come with the Java simulator of the SDU, on its rules, as measured with that simulator itself.

The player in question sat in the first seat (yellow), which begins and wins about 1 point more often than the
others, so it does here.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence

import numpy as np

from boardrl import arena, intervals, players, progress
from games.ludo import Ludo
from launch.papers.cell import Cell, Item, share

TOLERANCE = {"% won": 1.0, "points a game": 0.02}  # of a point; a point of 100 is about 0.02 of 3
LINEUPS = {
    "semismart,random,random,random": {"% won": 56.1, "points a game": 2.30},
    "sdu_aggressive,random,random,random": {"% won": 31.7},
    "pacifistic,random,random,random": {"% won": 21.1},
    "fifo,random,random,random": {"% won": 39.5},
    "fifo,semismart,semismart,semismart": {"points a game": 1.368},
}
SEATS = (25.5, 24.7, 25.2, 24.5)  # four random players, by seat, % won


def first_seat(games: int, seed: int) -> Sequence[Cell]:
    """Each player in the first seat."""
    cells = []
    for lineup, figures in LINEUPS.items():
        played = _play(lineup, games, seed)
        returns = played.returns.astype(np.float64)
        won = int((returns.argmax(1) == 0).sum())
        measured = {"% won": share(won, games), "points a game": _mean(returns[:, 0])}
        cells += [
            Cell(lineup, lineup.split(",")[0], unit, *measured[unit], expected=value, tolerance=TOLERANCE[unit])
            for unit, value in figures.items()
        ]
    return cells


def by_seat(games: int, seed: int) -> Sequence[Cell]:
    """Four random players: what a seat is worth."""
    lineup = "random,random,random,random"
    winner = _play(lineup, games, seed).returns.argmax(1)
    return [
        Cell(
            lineup,
            f"seat {seat}",
            "% won",
            *share(int((winner == seat).sum()), games),
            expected=value,
            tolerance=TOLERANCE["% won"],
        )
        for seat, value in enumerate(SEATS)
    ]


def _play(lineup: str, games: int, seed: int) -> arena.Played:
    game = Ludo(rules="sdu_java")
    with progress.track(lineup, games, "games") as bar:
        seated = players.make_lineup(lineup, game)
        return arena.play(game, seated, np.arange(4)[None], num_games=games, seed=seed, tick=bar.update)


def _mean(points: np.ndarray) -> tuple[float, float, float]:
    """(mean, low, high) by the normal approximation."""
    z = statistics.NormalDist().inv_cdf((1 + intervals.CONFIDENCE) / 2)
    mean, reach = float(points.mean()), float(z * points.std() / np.sqrt(len(points)))
    return mean, mean - reach, mean + reach


ITEMS = {
    "first_seat": Item("Players of the SDU simulator, in the first seat", 40_000, first_seat),
    "by_seat": Item("Four random players by seat", 40_000, by_seat),
}
