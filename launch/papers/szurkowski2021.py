"""Szurkowski (2021), in the search of the optimal Ludo player: DQN, and Durocher's Q-table.

The rules are those of ludopy 1.3.1. The human games of the paper were not published: games of `mixed`, the strongest
scripted player, stand in for them.
"""

from __future__ import annotations

import math
import pathlib
from collections.abc import Sequence

from boardrl import arena, progress
from games.ludo import Ludo
from launch import lineup
from launch.papers import trained
from launch.papers.cell import Cell, Item

GAME = "ludo:rules=ludopy131"
PRESET = "szurkowski2021"
TABLE_GAMES = 1_000  # of training for the Q-table; the paper's had converged in under 100
FINAL_GAMES = 20_000
# Printed %, and how many games it was measured in.
TABLE_2 = {"DQN": (16.05, 400), "Q-table": (55.8, 400), "random": (13.8, 400), "random 2": (14.3, 400)}
DQN, PRETRAINED, Q_TABLE = (24.4, 500), (22.5, 200), (82.0, 100)
UNPREPARED = 18.0  # "about"; it is not said in how many games


def dqn(games: int, seed: int) -> Sequence[Cell]:
    """DQN by the paper's settings against three random players, and the same net before it has played."""
    path = _dqn(games, seed)
    cells = list(trained.cells(path, ITEMS["dqn"].title, {"random": (DQN[0], _error(*DQN))}))
    before = next(row for row in trained.rows(path, "strength") if row["games"] == 0)
    pretrained = Cell(
        row="vs 3 random",
        what="pretrained only",
        unit="% won",
        ours=100 * before["win_rate"],
        low=100 * before["low"],
        high=100 * before["high"],
        paper=PRETRAINED[0],
        paper_error=_error(*PRETRAINED),
    )
    return [*cells, pretrained]


def unprepared(games: int, seed: int) -> Sequence[Cell]:
    """The same without recorded games."""
    path = _dqn(games, seed, prepared=False)
    return trained.cells(path, ITEMS["unprepared"].title, {"random": (UNPREPARED, 0.0)})


def q_table(games: int, seed: int) -> Sequence[Cell]:
    """Durocher's table against three random players."""
    return trained.cells(_q_table(games, seed), ITEMS["q_table"].title, {"random": (Q_TABLE[0], _error(*Q_TABLE))})


def table_2(games: int, seed: int) -> Sequence[Cell]:
    """Both and two random players in one game."""
    game = Ludo(rules="ludopy131")
    players = f"{_dqn(games, seed)},{_q_table(TABLE_GAMES, seed)},random,random"
    played = min(FINAL_GAMES, 100 * games)
    with progress.track("DQN, Q-table, 2 random", played, "games") as bar:
        match = arena.match(game, lineup.make(players, game), num_games=played, seed=seed, bar=bar)
    return [
        Cell(
            row="DQN, Q-table, 2 random",
            what=name,
            unit="% won",
            ours=100 * score.win_rate,
            low=100 * score.low,
            high=100 * score.high,
            paper=figure[0],
            paper_error=_error(*figure),
        )
        for score, (name, figure) in zip(match.players, TABLE_2.items(), strict=True)
    ]


def best(games: int, seed: int) -> Sequence[Cell]:
    """DQN by our own settings."""
    flags = {"game": GAME, "algo": "dqn", "games": games, "final_games": min(FINAL_GAMES, games)}
    figures = {"random": (DQN[0], _error(*DQN))}
    return trained.cells(trained.run("szurkowski2021-best", seed, flags), ITEMS["best"].title, figures)


def _dqn(games: int, seed: int, *, prepared: bool = True) -> pathlib.Path:
    flags = {"game": GAME, "algo": "dqn", "preset": PRESET, "games": games, **_schedule(games)}
    if prepared:
        return trained.run("szurkowski2021-dqn", seed, flags)
    return trained.run("szurkowski2021-unprepared", seed, flags | {"pretrain_from": ""})


def _q_table(games: int, seed: int) -> pathlib.Path:
    flags = {"game": GAME, "algo": "q_table", "preset": PRESET, "games": games, **_schedule(games)}
    return trained.run("szurkowski2021-q_table", seed, flags)


def _schedule(games: int) -> dict[str, int]:
    """Ten measurements on the way, and one at the end; fewer games of each in a short training."""
    return {
        "evaluate_every": max(1, games // 10),
        "evaluate_games": min(2_000, 20 * games),
        "final_games": min(FINAL_GAMES, 100 * games),
    }


def _error(percent: float, games: int) -> float:
    """The ± of a printed percentage of so many games, which the paper does not give."""
    share = percent / 100
    return 100 * 1.96 * math.sqrt(share * (1 - share) / games)


ITEMS = {
    "dqn": Item(
        "DQN vs three random",
        250,
        dqn,
        (
            "Not said in the paper: how often the network is copied (here: every 100 steps) and by which optimizer it "
            "learns (here: plain gradient steps).",
            "Recorded games of `mixed` stand in for the human ones.",
        ),
        "games of training",
        20,
    ),
    "unprepared": Item(
        "DQN without pretraining vs three random",
        250,
        unprepared,
        ("The paper says 'about 18 %', and not in how many games.",),
        "games of training",
        20,
    ),
    "q_table": Item("Durocher's Q-table vs three random", TABLE_GAMES, q_table, (), "games of training", 100),
    "table2": Item("Table 2: DQN, Q-table and two random in one game", 250, table_2, (), "games of DQN's training", 20),
    "best": Item(
        "Beyond the paper: DQN by our settings vs three random and three `mixed`",
        20_000,
        best,
        ("The figure beside it is that of the paper's DQN.",),
        "games of training",
    ),
}
