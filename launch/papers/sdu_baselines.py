"""The players of the SDU's Java simulator, with its rules, compared with measurements in that simulator.

There the measured player sits first (yellow) and yellow begins, which saederup2010 (section 4.2) calls an advantage; so
those figures are compared with our seat 0. The results with rotated seats are given as well.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from boardrl.matches import arena
from boardrl.play import players
from boardrl.runs import progress
from games.ludo import Ludo
from launch.papers.cell import Cell, Item, mean, share

TOLERANCE = {"% won": 1.0, "points a game": 0.02}  # 1 % of games is about 0.02 of the 3 points per game
LINEUPS = {
    "semismart,random,random,random": {"% won": 56.1, "points a game": 2.30},
    "sdu_aggressive,random,random,random": {"% won": 31.7},
    "pacifistic,random,random,random": {"% won": 21.1},
    "fifo,random,random,random": {"% won": 39.5},
    "fifo,semismart,semismart,semismart": {"points a game": 1.368},
}
FOUR_RANDOM = "random,random,random,random"
BY_SEAT = {"semismart,random,random,random": (), FOUR_RANDOM: (25.5, 24.7, 25.2, 24.5)}  # % won in earlier measurements


def first_seat(games: int, seed: int) -> Sequence[Cell]:
    """Each player in the seat that begins."""
    return _cells(games, seed, slice(0, 1), "seat 0", held=True)


def rotated(games: int, seed: int) -> Sequence[Cell]:
    """Each player in all seats equally often."""
    return _cells(games, seed, slice(None), "all seats", held=False)


def by_seat(games: int, seed: int) -> Sequence[Cell]:
    """The win rate from each seat."""
    cells = []
    for lineup, before in BY_SEAT.items():
        returns = _returns(lineup, games, seed)
        for seat in range(4):
            # Four equal players: all of them count, not only the first player of the lineup.
            won = (returns if lineup == FOUR_RANDOM else returns[seat : seat + 1]).argmax(2) == seat
            expected = before[seat] if before else None
            numbers = _measure(won.ravel(), "% won")
            cells.append(
                Cell(lineup, f"seat {seat}", "% won", *numbers, expected=expected, tolerance=TOLERANCE["% won"])
            )
    return cells


def _cells(games: int, seed: int, seats: slice, where: str, *, held: bool) -> list[Cell]:
    """The first player of each lineup, from some of its seats."""
    cells = []
    for lineup, figures in LINEUPS.items():
        returns = _returns(lineup, games, seed)[seats]
        own = np.stack([returns[seat, :, seat] for seat in range(len(returns))])
        measured = {"% won": own == returns.max(2), "points a game": own}
        for unit, value in figures.items():
            expected = value if held else None
            numbers = _measure(measured[unit].ravel(), unit)
            cells.append(Cell(lineup, where, unit, *numbers, expected=expected, tolerance=TOLERANCE[unit]))
    return cells


@functools.cache  # the items share these games
def _returns(lineup: str, games: int, seed: int) -> np.ndarray:
    """[P, G, P] returns by seat of G games with the lineup's first player in each of the P seats."""
    game, seats = Ludo(rules="sdu_java"), np.arange(4)
    arrangements = (seats[None, :] - seats[:, None]) % 4  # [R, P]: in the r-th the first player sits in seat r
    with progress.track(lineup, 4 * games, "games") as bar:
        seated = players.make_lineup(lineup, game)
        played = arena.play(game, seated, arrangements, num_games=4 * games, seed=seed, tick=bar.update)
    return played.returns.reshape(games, 4, 4).swapaxes(0, 1).astype(np.float64)


def _measure(values: np.ndarray, unit: str) -> tuple[float, float, float]:
    """(%, low, high) of booleans, or (mean, low, high) of numbers."""
    return share(int(values.sum()), len(values)) if unit == "% won" else mean(values)


ITEMS = {
    "first_seat": Item("Players of the SDU simulator, in the seat that begins", 40_000, first_seat),
    "rotated": Item(
        "The same players with the seats rotated",
        40_000,
        rotated,
        ("Equally many games from each of the four seats, four times as many in total; there are no earlier figures.",),
    ),
    "by_seat": Item(
        "What a seat is worth",
        40_000,
        by_seat,
        ("The lineup's first player sits there; of four random players all games of all four count.",),
    ),
}
