"""Szurkowski (2021), in the search of the optimal Ludo player: DQN, and Durocher's Q-table.

The rules are those of ludopy 1.3.1. The paper's human games were not published; we use games of `mixed`, the strongest
scripted player, in their place.
"""

from __future__ import annotations

import dataclasses
import math
import pathlib
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from algorithms import q_table as algorithm
from boardrl import presets
from boardrl.matches import arena
from boardrl.play import players
from boardrl.play.players import Player
from boardrl.runs import progress
from games.ludo import Ludo
from launch import train
from launch.console import named_players
from launch.papers import trained
from launch.papers.cell import Cell, Item, mean

GAME = "ludo:rules=ludopy131"
PRESET = "szurkowski2021"
DQN_GAMES, TABLE_GAMES = 250, 100  # training games
QUICK = 20  # training games of DQN in a quick run
READINGS: dict[str, dict[str, Any]] = {  # interpretations of Durocher's table: its values, and the rewards of a move
    "a table for each piece, one reward a move": {},
    "a table for each piece, all rewards of a move": {"exclusive": False},
    "one table, one reward a move": {"encoding": "durocher"},
    "one table, all rewards of a move": {"encoding": "durocher", "exclusive": False},
}
SEEDS = 5  # training runs per interpretation, which differ by many points
FINAL_GAMES = 20_000
# Printed %, and the number of games of the measurement.
TABLE_2 = {"DQN": (16.05, 400), "Q-table": (55.8, 400), "random": (13.8, 400), "random 2": (14.3, 400)}
DQN, PRETRAINED, Q_TABLE = (24.4, 500), (22.5, 200), (82.0, 100)
UNPREPARED = 18.0  # "about"; the number of games is not given


def dqn(games: int, seed: int) -> Sequence[Cell]:
    """DQN with the paper's settings against three random players, and the same net before training games."""
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


def readings(games: int, seed: int) -> Sequence[Cell]:
    """The same for other interpretations of the paper; the mean over several seeds of each."""
    game = Ludo(rules="ludopy131")
    cells = []
    for reading, changes in READINGS.items():
        config = dataclasses.replace(algorithm.Config(**presets.find(PRESET, "q_table", game)), **changes)
        opponents, rates = train.seat_opponents(config.opponents, game), []
        with progress.track(reading, SEEDS * games, "games of training") as bar:
            for number in range(SEEDS):
                state = algorithm.init(config, game, jax.random.key(seed + number))
                for played in range(games):
                    state, _ = algorithm.update(config, game, opponents, state)
                    bar.update(number * games + played + 1)
                learned = Player("learned", algorithm.policy(config, game, state))
                seated = [learned, *players.make_lineup(config.opponents, game)]
                match = arena.match(game, seated, num_games=40 * games, seed=seed)
                rates.append(100 * match.players[0].win_rate)
        paper = {"paper": Q_TABLE[0], "paper_error": _error(*Q_TABLE)}
        cells.append(Cell("vs 3 random", reading, "% won", *mean(np.array(rates)), **paper))
    return cells


def table_2(games: int, seed: int) -> Sequence[Cell]:
    """Both and two random players in one game."""
    game = Ludo(rules="ludopy131")
    # In a quick run, both are trained as long as in the items above, so that their runs can be reused.
    names = f"{_dqn(games, seed)},{_q_table(games * TABLE_GAMES // DQN_GAMES, seed)},random,random"
    played = min(FINAL_GAMES, 100 * games)
    with progress.track("DQN, Q-table, 2 random", played, "games") as bar:
        match = arena.match(game, named_players.make(names, game), num_games=played, seed=seed, bar=bar)
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
    """DQN with our own settings."""
    schedule = {"evaluate_games": min(1_000, games // 10), "final_games": min(FINAL_GAMES, games)}
    flags = {"game": GAME, "algo": "dqn", "games": games, **schedule}
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
    """Ten measurements during training, and one at the end; with fewer games each in a short training."""
    return {
        "evaluate_every": max(1, games // 10),
        "evaluate_games": min(2_000, 20 * games),
        "final_games": min(FINAL_GAMES, 100 * games),
    }


def _error(percent: float, games: int) -> float:
    """The ± of a printed percentage from its number of games; the paper does not give it."""
    share = percent / 100
    return 100 * 1.96 * math.sqrt(share * (1 - share) / games)


ITEMS = {
    "dqn": Item(
        "DQN vs three random",
        DQN_GAMES,
        dqn,
        (
            "The paper does not say how often the target network is updated (here: every 100 steps), nor name the "
            "optimizer (here: plain SGD).",
            "Recorded games of `mixed` replace the human ones.",
        ),
        "games of training",
        QUICK,
    ),
    "unprepared": Item(
        "DQN without pretraining vs three random",
        DQN_GAMES,
        unprepared,
        ("The paper says 'about 18 %', without the number of games.",),
        "games of training",
        QUICK,
    ),
    "q_table": Item(
        "Durocher's Q-table vs three random",
        TABLE_GAMES,
        q_table,
        ("The paper's 82 % are of 100 games; in its Table 2 the same player won 55.8 % of 400.",),
        "games of training",
        QUICK * TABLE_GAMES // DQN_GAMES,
    ),
    "readings": Item(
        "Durocher's Q-table vs three random, by what its rewards and values are taken to be",
        TABLE_GAMES,
        readings,
        (f"Means of {SEEDS} trainings with their interval. The first reading is the default.",),
        "games of training",
        QUICK * TABLE_GAMES // DQN_GAMES,
    ),
    "table2": Item(
        "Table 2: DQN, Q-table and two random in one game",
        DQN_GAMES,
        table_2,
        (),
        "games of DQN's training",
        QUICK,
    ),
    "best": Item(
        "Beyond the paper: DQN by our settings vs three random and three `mixed`",
        20_000,
        best,
        ("The paper's figure is that of its DQN.",),
        "games of training",
    ),
}
