"""Derakhshan (2010), applied reinforcement learning with use of genetic algorithms: Q-learning of the SDU's Ludo.

The recipe is that of generation 81. While it learns, the agent plays at random against others who do the same, and is
the only one who learns; the paper does not say who they were. Nor does it name the seat in which it was measured:
with this simulator that is yellow's, the first (saederup2010, section 4.3).
"""

from __future__ import annotations

from collections.abc import Sequence

import jax
import numpy as np

from algorithms import q_table
from boardrl import arena, players, progress
from boardrl.players import Player
from games.ludo import Ludo
from launch import lineup
from launch.papers import trained
from launch.papers.cell import Cell, Item, mean

GAME = "ludo:rules=sdu_java"
PRESET = "derakhshan2010"
OPPONENT = "semismart"
FINAL_GAMES = 10_000  # from each seat; the paper played as many
# Games of training: printed points in 10,000 games, read off the figure; and what an earlier simulation found.
FIGURE_4 = {0: (13_600, 13_777), 20_000: (16_200, 17_199), 200_000: (17_600, 17_263)}
READ_OFF = 200  # how closely a figure can be read
TOLERANCE = 500  # points, to the earlier simulation
PER = 10_000  # games that points are given for


def figure_4(games: int, seed: int) -> Sequence[Cell]:
    """Points against three SemiSmart players after no, some and all of the training."""
    cells = []
    for amount, (paper, expected) in FIGURE_4.items():
        trained_for = amount * games // max(FIGURE_4)
        player = _player(trained_for, seed)
        returns = _returns(player, min(FINAL_GAMES, max(games, 400)), seed)
        # Held against the figures only where the training was as long as theirs.
        held = {"paper": paper, "paper_error": READ_OFF, "expected": expected, "tolerance": TOLERANCE}
        row = f"after {trained_for:,} games"
        cells.append(
            Cell(row, "from seat 0", "points", *_points(returns[:1]), **(held if trained_for == amount else {}))
        )
        cells.append(Cell(row, "seats rotated", "points", *_points(returns)))
    return cells


def _player(games: int, seed: int) -> Player:
    """The greedy player of a run; without training, of an empty table."""
    game = Ludo(rules="sdu_java")
    if not games:
        config = q_table.Config(**q_table.PRESETS[PRESET])
        return Player("untrained", q_table.policy(config, game, q_table.init(config, game, jax.random.key(0))))
    flags = {
        "game": GAME,
        "algo": "q_table",
        "preset": PRESET,
        "games": games,
        "games_per_update": min(1_000, games),
        "evaluate_against": OPPONENT,
        "evaluate_every": max(1, games // 5),
        "final_games": min(10_000, games),
    }
    (player,) = lineup.make(str(trained.run(PRESET, seed, flags)), game)
    return player


def _returns(player: Player, games: int, seed: int) -> np.ndarray:
    """[4, G] what the player got in each seat against three opponents."""
    game, seats = Ludo(rules="sdu_java"), np.arange(4)
    lineup = [player, *[players.make(OPPONENT, game)] * 3]
    arrangements = (seats[None, :] - seats[:, None]) % 4
    with progress.track(f"{player.name} against {OPPONENT}", 4 * games, "games") as bar:
        played = arena.play(game, lineup, arrangements, num_games=4 * games, seed=seed, tick=bar.update)
    by_seat = played.returns.reshape(games, 4, 4)
    return np.stack([by_seat[:, seat, seat] for seat in range(4)])


def _points(returns: np.ndarray) -> tuple[float, float, float]:
    """(points in 10,000 games, low, high)."""
    return mean(PER * returns.ravel().astype(np.float64))


ITEMS = {
    "fig4": Item(
        "Figure 4: points in 10,000 games against three SemiSmart players",
        max(FIGURE_4),
        figure_4,
        ("The agent learns alone, at random and against random play: who the paper's opponents were is not said.",),
        "games of training",
        2_000,
    ),
}
