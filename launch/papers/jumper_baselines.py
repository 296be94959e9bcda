"""Random play of Jumper on 6×6, compared with the figures published with the rules.

Those were printed without their sample size. The branching factors show which random choice they use: uniform over all
paths of hops. This module computes the largest sample size that still agrees with our frequencies.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from boardrl import host
from boardrl.errors import UserError
from boardrl.host import random_games
from boardrl.runs import progress
from games.jumper import Jumper
from launch.papers.cell import Cell, Item, share

SIZE = 6
CHOICES = {"paths": 26.2, "boards": 24.1}  # branching factor: choices per turn
CHOICES_TOLERANCE = 0.05  # rounding
WON = {"White": 50.8, "Black": 41.2, "drawn": 8.0}  # %
SAMPLE = 5_000  # assumed sample size of the printed percentages, which determines the last column
CHUNK = 2_000  # games between two updates of the progress bar
ROOM = 1 << 16  # most successors of one position
CRITICAL = 5.991  # the 95 % quantile of χ² with two degrees of freedom


class Tally(NamedTuple):
    """Totals over some games."""

    white: int  # games won by White
    black: int
    turns: int
    choices: int  # choices summed over all turns


def random_play(games: int, seed: int) -> Sequence[Cell]:
    """Games won by each side with uniformly random paths, and the branching factor."""
    paths = play("paths", games, seed, distinct=False)
    boards = play("boards", games, seed, distinct=True)
    cells = []
    for name, tally in (("paths", paths), ("boards", boards)):
        mean = tally.choices / tally.turns
        # The mean over about two million turns: its error is far below the rounding of the printed figure.
        cells.append(
            Cell("moves a turn", name, "moves", mean, mean, mean, expected=CHOICES[name], tolerance=CHOICES_TOLERANCE)
        )
    counts = _counts(paths, games)
    for name, count in counts.items():
        expected = WON[name] / 100
        tolerance = 196 * (expected * (1 - expected) / SAMPLE) ** 0.5
        cells.append(
            Cell("every path alike", name, "%", *share(count, games), expected=WON[name], tolerance=round(tolerance, 2))
        )
    most = doubt([count / games for count in counts.values()], [value / 100 for value in WON.values()])
    cells.append(Cell("every path alike", "largest sample that agrees", "games", most, most, most))
    cells += [Cell("every board alike", name, "%", *share(n, games)) for name, n in _counts(boards, games).items()]
    return cells


def doubt(ours: Sequence[float], printed: Sequence[float]) -> float:
    """The sample size above which the printed percentages would contradict ours: χ² = n Σ (p − q)² / q."""
    return CRITICAL / sum((p - q) ** 2 / q for p, q in zip(printed, ours, strict=True))


def play(name: str, games: int, seed: int, *, distinct: bool) -> Tally:
    """Random games on the compiled rules, uniform over all turns or over all distinct boards after a turn."""
    facet = host.of(Jumper(SIZE))
    kernel = host.specialise(random_games, facet)
    rows, ends, wins = facet.rows(ROOM), facet.rows(ROOM), np.zeros(2, np.int64)
    turns = choices = 0
    with progress.track(f"random play over {name}", games, "games") as bar:
        for number, done in enumerate(range(0, games, CHUNK)):
            count = min(CHUNK, games - done)
            made, found = kernel.by_turns(count, seed * 2**20 + number, distinct, rows, ends, wins)
            if made < 0:
                raise UserError(f"a position of jumper has over {ROOM} turns, more than there is memory for")
            turns, choices = turns + made, choices + found
            bar.update(done + count)
    return Tally(int(wins[0]), int(wins[1]), turns, choices)


def _counts(tally: Tally, games: int) -> dict[str, int]:
    return {"White": tally.white, "Black": tally.black, "drawn": games - tally.white - tally.black}


ITEMS = {
    "random_play": Item(
        "Random play on 6×6",
        100_000,
        random_play,
        ("The expected percentages have an unknown sample size, here assumed to be 5,000 games: see docs/jumper.md.",),
    )
}
