"""Derakhshan (2010), applied reinforcement learning with use of genetic algorithms: Q-learning of the SDU's Ludo.

The recipe is that of generation 81, the only one that the paper prints. While it learns, the agent plays at random
against others who do the same, and is the only one who learns; the paper does not say who they were. Nor does it name
the seat in which it was measured: with this simulator that is yellow's, the first (saederup2010, section 4.3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

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
MATCHES, MATCH_GAMES = 10, 1_000  # of figure 5
FIGURE_5 = (3_297, 63)  # the middle of the points that are read off it, and how far they go
FIGURE_6 = (14_800, 17_700)  # the first recipe and that of generation 81
# Ours, as the paper's first recipe is not printed: half of the most that a reward or a punishment can be.
EVEN = {
    "rewards": "not_hit=0.5,lost=-0.5,knock=0.5,near_enemy=-0.5,safe_zone=0.5,goal=0.5,star=0.5,globe=0.5",
    "learning_rate": 0.5,
    "learning_rate_end": 0.5,
    "discount": 0.5,
}
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


def figure_5(games: int, seed: int) -> Sequence[Cell]:
    """Two agents of one recipe, trained with two seeds: each in matches of two of it and two SemiSmart players."""
    teams = [_team(_player(games, seed + number), min(MATCH_GAMES, games), seed + number) for number in range(2)]
    held = {"paper": FIGURE_5[0], "paper_error": FIGURE_5[1]} if games == max(FIGURE_4) else {}
    cells = [
        Cell(f"two {name}, two {OPPONENT}", f"agent {name}", "points", *mean(team), **held)
        for name, team in zip("AB", teams, strict=True)
    ]
    t = abs(float(np.subtract(*(team.mean() for team in teams)))) / np.sqrt(
        sum(team.var(ddof=1) / MATCHES for team in teams)
    )
    return [*cells, Cell("A against B", "unpaired t-test", "t", t, t, t)]


def figure_6(games: int, seed: int) -> Sequence[Cell]:
    """Generation 81 and a recipe made by hand, against three SemiSmart players."""
    cells = []
    recipes: dict[str, dict[str, Any]] = {"made by hand (ours)": EVEN, "generation 81": {}}
    for (name, recipe), paper in zip(recipes.items(), FIGURE_6, strict=True):
        returns = _returns(_player(games, seed, recipe), min(FINAL_GAMES, max(games, 400)), seed)
        held = {"paper": paper, "paper_error": READ_OFF} if games == max(FIGURE_4) else {}
        cells.append(Cell(name, "from seat 0", "points", *_points(returns[:1]), **held))
        cells.append(Cell(name, "seats rotated", "points", *_points(returns)))
    return cells


def _player(games: int, seed: int, recipe: Mapping[str, Any] | None = None) -> Player:
    """The greedy player of a run, by generation 81's recipe unless another is given; untrained, of an empty table."""
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
    name = f"{PRESET}-by_hand" if recipe else PRESET
    (player,) = lineup.make(str(trained.run(name, seed, flags | dict(recipe or {}))), game)
    return player


def _team(player: Player, games: int, seed: int) -> np.ndarray:
    """[MATCHES] points of two of the player against two opponents, who sit between them, in matches of some games."""
    game = Ludo(rules="sdu_java")
    opponent = players.make(OPPONENT, game)
    with progress.track(f"two of {player.name} against two {OPPONENT}", MATCHES * games, "games") as bar:
        played = _play([player, opponent, player, opponent], MATCHES * games, seed, bar)
    mine = played.seating % 2 == 0
    return np.where(mine, played.returns, 0).sum(1).reshape(MATCHES, games).sum(1).astype(np.float64)


def _returns(player: Player, games: int, seed: int) -> np.ndarray:
    """[4, G] what the player got in each seat against three opponents."""
    opponent = players.make(OPPONENT, Ludo(rules="sdu_java"))
    with progress.track(f"{player.name} against {OPPONENT}", 4 * games, "games") as bar:
        played = _play([player, *[opponent] * 3], 4 * games, seed, bar)
    by_seat = played.returns.reshape(games, 4, 4)
    return np.stack([by_seat[:, seat, seat] for seat in range(4)])


def _play(seated: Sequence[Player], games: int, seed: int, bar: progress.Bar) -> arena.Played:
    """Games with the seats rotated: all move one seat on from game to game."""
    seats = np.arange(4)
    arrangements = (seats[None, :] - seats[:, None]) % 4
    return arena.play(Ludo(rules="sdu_java"), seated, arrangements, num_games=games, seed=seed, tick=bar.update)


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
    "fig5": Item(
        f"Figure 5: points in {MATCH_GAMES:,} games of two agents of one recipe, each as a pair against two SemiSmart",
        max(FIGURE_4),
        figure_5,
        (
            f"Means of {MATCHES} matches. The paper's t is 1.74, and beyond 2.262 it would call the agents different.",
            "Its text has three SemiSmart players here, but its points are those of two against two.",
        ),
        "games of training",
        2_000,
    ),
    "fig6": Item(
        "Figure 6: points in 10,000 games against three SemiSmart players by recipe",
        max(FIGURE_4),
        figure_6,
        ("The paper's first recipe is not printed: ours has every reward at 0.5 and every punishment at -0.5.",),
        "games of training",
        2_000,
    ),
}
