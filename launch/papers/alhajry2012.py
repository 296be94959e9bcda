"""Alhajry, Alvi and Ahmed (2012), TD(λ) and Q-learning based Ludo players.

The rules are the preset `alhajry2012`, a best fit (see games/ludo/flags.py): the paper leaves safe squares,
blockades and overshooting open.
"""

from __future__ import annotations

import typing
from collections.abc import Sequence

from boardrl import arena, players, progress
from games.ludo import Ludo
from games.ludo.strategies import Threat
from launch.papers.cell import Cell, Item

TOLERANCE = 1.5  # points, to the numbers of the earlier simulation

# Player: printed %, its ±, and the % found by an earlier simulation of these rules.
TABLE_1 = {
    "defensive": (34.68, 0.68, 32.77),
    "aggressive": (27.08, 0.21, 27.07),
    "fast": (53.78, 0.46, 55.48),
    "mixed": (61.09, 0.41, 62.15),
}
TABLE_2 = {
    "mixed": (48.64, 0.41, 48.84),
    "defensive(prefer_release=false)": (18.24, 0.35, 17.18),
    "aggressive(prefer_release=false)": (12.60, 0.23, 12.43),
    "fast(prefer_release=false)": (20.52, 0.19, 21.54),
}


def table_1(games: int, seed: int) -> Sequence[Cell]:
    """One player against three random ones."""
    return [_cells(f"{name},random,random,random", [TABLE_1[name]], games, seed)[0] for name in TABLE_1]


def table_2(games: int, seed: int) -> Sequence[Cell]:
    """All four in one game."""
    return _cells(",".join(TABLE_2), list(TABLE_2.values()), games, seed)


def readings(games: int, seed: int) -> Sequence[Cell]:
    """Both tables' Defensive and Mixed by each reading of a vulnerable piece."""
    cells = []
    for threat in typing.get_args(Threat):
        for name in ("defensive", "mixed"):
            cells += _cells(f"{name}(threat={threat}),random,random,random", [TABLE_1[name]], games, seed)
        mixed, defensive, *others = TABLE_2
        lineup = [f"{mixed}(threat={threat})", f"{defensive[:-1]},threat={threat})", *others]
        cells += _cells(",".join(lineup), list(TABLE_2.values()), games, seed)
    return cells


def _cells(lineup: str, figures: Sequence[tuple[float, float, float]], games: int, seed: int) -> list[Cell]:
    """The first players' win rates in a match with the seats rotated."""
    game = Ludo(rules="alhajry2012")
    with progress.track(lineup, games, "games") as bar:
        match = arena.match(game, players.make_lineup(lineup, game), num_games=games, seed=seed, bar=bar)
    return [
        Cell(
            row=lineup,
            what=score.name,
            unit="% won",
            ours=100 * score.win_rate,
            low=100 * score.low,
            high=100 * score.high,
            paper=paper,
            paper_error=error,
            expected=expected,
            tolerance=TOLERANCE,
        )
        for score, (paper, error, expected) in zip(match.players, figures, strict=False)
    ]


ITEMS = {
    "table1": Item("Table I: one player vs three random", 40_000, table_1),
    "table2": Item(
        "Table II: all strategies in one game",
        40_000,
        table_2,
        ("Defensive, Aggressive and Fast without prefer-release: only so do the printed numbers come out.",),
    ),
    "readings": Item(
        "Tables I and II by what a vulnerable piece is taken to be",
        40_000,
        readings,
        ("The last reading is the default: a piece that one roll of an opponent could knock out.",),
    ),
}
