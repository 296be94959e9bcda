"""Derakhshan (2010), applied reinforcement learning with use of genetic algorithms: Q-learning of the SDU's Ludo.

The recipe is that of generation 81, the only one that the paper prints. In training the agent plays at random against
random players and is the only learner; the paper does not name its opponents. Nor does it name the seat of its
measurements: with this simulator it is yellow, the first (saederup2010, section 4.3).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np

from algorithms import q_table
from boardrl import presets
from boardrl.play.players import Player
from games.ludo import Ludo
from launch.console import named_players
from launch.papers import sdu_matches, trained
from launch.papers.cell import Cell, Item, mean
from launch.papers.sdu_matches import GAME, MATCH_GAMES, MATCHES, OPPONENT

PRESET = "derakhshan2010"
FINAL_GAMES = 10_000  # from each seat, as in the paper
# Training games: points in 10,000 games, read off the paper's figure; and those of an earlier simulation.
FIGURE_4 = {0: (13_600, 13_777), 20_000: (16_200, 17_199), 200_000: (17_600, 17_263)}
READ_OFF = 200  # precision of reading a figure
FIGURE_5 = (3_297, 63)  # centre and half-width of the points read off it
RATES = (0.41, 0.1, 0.02)  # learning rates: generation 81's, and smaller ones
FIGURE_6 = (14_800, 17_700)  # the first recipe and that of generation 81
# Ours, because the paper does not print its first recipe: half of the largest reward and punishment.
EVEN = {
    "rewards": "not_hit=0.5,lost=-0.5,knock=0.5,near_enemy=-0.5,safe_zone=0.5,goal=0.5,star=0.5,globe=0.5",
    "learning_rate": 0.5,
    "learning_rate_end": 0.5,
    "discount": 0.5,
}
TOLERANCE = 500  # points, to the earlier simulation
# Our evolution: points against SemiSmart are the fitness, over all generations of a member. A child is trained for a
# twentieth of the paper's games, but learns from all four seats, and all parents have a part in it. The learning rate
# is annealed: a constant one leaves the noise of single rewards in the table (item `rates`). The paper's own settings
# are the preset. With 500 games of a member each generation (a standard error of 490 points) luck chose the parents.
EVOLVED, GENERATION_GAMES, CHILD_GAMES = 20, 24_000, 10_000
ANNEAL = 0.05  # factor of the learning rate at the end
EVOLVED_GAMES = 40_000  # from each seat, so that an interval is on one side of the paper's figure
FINALISTS = 3  # recipes that children are trained with anew in the end, for the paper's 200,000 games
LEARNERS = 4  # seats that learn, in children and in the final training; in the paper's one does
OURS = {
    "genome": f"reward_recipe(preset={PRESET},training_games={CHILD_GAMES},learners={LEARNERS},entries=131072,"
    f"anneal={ANNEAL})",
    "opponents": ",".join([OPPONENT] * 3),
    "population": 12,
    "parents": 4,
    "children": 6,
    "memory": 0.97,
    "crossover": "mean",
    "mutated": 0.4,
    "mutation_end": 0.3,
    "games_per_generation": GENERATION_GAMES,
    "playoff_games": 120_000,
}


def figure_4(games: int, seed: int) -> Sequence[Cell]:
    """Points against three SemiSmart players after no, some and all of the training."""
    cells = []
    for amount, (paper, expected) in FIGURE_4.items():
        trained_for = amount * games // max(FIGURE_4)
        player = learned(trained_for, seed)
        returns = sdu_matches.by_seat(player, min(FINAL_GAMES, max(games, 400)), seed)
        # Compared with the figures only if the training was as long as theirs.
        held = {"paper": paper, "paper_error": READ_OFF, "expected": expected, "tolerance": TOLERANCE}
        row = f"after {trained_for:,} games"
        cells += _one_against_three(row, returns, held if trained_for == amount else {})
    return cells


def figure_5(games: int, seed: int) -> Sequence[Cell]:
    """Two agents of one recipe, trained with two seeds: each in matches of two of it and two SemiSmart players."""
    other, each = sdu_matches.opponent(), min(MATCH_GAMES, games)
    teams = [sdu_matches.team(learned(games, seed + n), other, each, seed + n)[0] for n in range(2)]
    held = {"paper": FIGURE_5[0], "paper_error": FIGURE_5[1]} if games == max(FIGURE_4) else {}
    cells = [
        Cell(f"two {name}, two {OPPONENT}", f"agent {name}", "points", *mean(team), **held)
        for name, team in zip("AB", teams, strict=True)
    ]
    t = abs(sdu_matches.unpaired_t(*teams))
    return [*cells, Cell("A against B", "unpaired t-test", "t", t, t, t)]


def figure_6(games: int, seed: int) -> Sequence[Cell]:
    """Generation 81 and a recipe made by hand, against three SemiSmart players."""
    cells = []
    recipes: dict[str, dict[str, Any]] = {"made by hand (ours)": EVEN, "generation 81": {}}
    for (name, recipe), paper in zip(recipes.items(), FIGURE_6, strict=True):
        returns = sdu_matches.by_seat(learned(games, seed, recipe), min(FINAL_GAMES, max(games, 400)), seed)
        held = {"paper": paper, "paper_error": READ_OFF} if games == max(FIGURE_4) else {}
        cells += _one_against_three(name, returns, held)
    return cells


def evolve(generations: int, seed: int) -> Sequence[Cell]:
    """An agent by a recipe evolved here, starting from the one made by hand, beside that of generation 81."""
    amount = max(FIGURE_4) if generations >= EVOLVED else CHILD_GAMES
    path = trained.run(f"{PRESET}-evolve", seed, evolution(generations, amount))
    print(f"recipe    {', '.join(f'{name} {value}' for name, value in trained.described(path).items())}")
    (evolved,) = named_players.make(str(path), Ludo(rules="sdu_java"))
    cells = []
    for name, player in {
        f"evolved here, {generations} generations": evolved,
        "generation 81, trained alike": learned(amount, seed, _annealed(), name=f"{PRESET}-annealed"),
        "generation 81, as in the paper": learned(amount, seed),
    }.items():
        whole = amount == max(FIGURE_4)
        games = EVOLVED_GAMES if whole else FINAL_GAMES
        returns = sdu_matches.by_seat_compiled(dataclasses.replace(player, name=name), games, seed)
        held = {"paper": FIGURE_6[1], "paper_error": READ_OFF} if whole else {}
        cells += _one_against_three(name, returns, held)
    return cells


def evolution(generations: int, final_games: int) -> dict[str, Any]:
    """The flags of an evolution whose finalists are trained anew for so many games."""
    return {
        "game": GAME,
        "algo": "genetic",
        "preset": PRESET,
        **OURS,
        "genome": f"{str(OURS['genome']).removesuffix(')')},final_games={final_games})",
        "finalists": FINALISTS,
        "games": generations * GENERATION_GAMES,
        "evaluate_against": OPPONENT,
        "evaluate_every": max(1, generations // 5) * GENERATION_GAMES,
        "evaluate_games": 2_000,
        "final_games": 10_000,
        "log_every": 1,
    }


def rates(games: int, seed: int) -> Sequence[Cell]:
    """Generation 81's recipe at smaller learning rates."""
    recipes = {f"learning rate {rate}": _rates(rate, rate) for rate in RATES}
    recipes[f"learning rate {RATES[0]} to {ANNEAL * RATES[0]:.4g}, {LEARNERS} learners"] = _annealed()
    cells = []
    for name, recipe in recipes.items():
        folder = f"{PRESET}-{name.replace(',', '').replace(' ', '_')}"
        player = dataclasses.replace(learned(games, seed, recipe, name=folder), name=name)
        returns = sdu_matches.by_seat_compiled(player, min(FINAL_GAMES, max(games, 400)), seed)
        cells += _one_against_three(name, returns, {})
    return cells


def _rates(start: float, end: float) -> dict[str, Any]:
    return {"learning_rate": start, "learning_rate_end": end}


def _annealed() -> dict[str, Any]:
    """The settings of generation 81, trained as recipes that evolve here are."""
    return {**_rates(RATES[0], ANNEAL * RATES[0]), "learners": LEARNERS}


def _one_against_three(row: str, returns: np.ndarray, held: Mapping[str, Any]) -> list[Cell]:
    """Points of [4, G] returns by seat; those of the paper's seat are compared with the paper's."""
    return [
        Cell(row, "from seat 0", "points", *sdu_matches.points(returns[:1]), **held),
        Cell(row, "seats rotated", "points", *sdu_matches.points(returns)),
    ]


def learned(
    games: int, seed: int, recipe: Mapping[str, Any] | None = None, *, name: str = f"{PRESET}-by_hand"
) -> Player:
    """The greedy player of a run, with generation 81's recipe by default; untrained, with an empty table."""
    game = Ludo(rules="sdu_java")
    if not games:
        config = q_table.Config(**presets.find(PRESET, "q_table", game))
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
    path = trained.run(name if recipe else PRESET, seed, flags | dict(recipe or {}))
    (player,) = named_players.make(str(path), game)
    return player


ITEMS = {
    "fig4": Item(
        "Figure 4: points in 10,000 games against three SemiSmart players",
        max(FIGURE_4),
        figure_4,
        ("The agent is the only learner and plays at random against random players: the paper names no opponents.",),
        "games of training",
        2_000,
    ),
    "fig5": Item(
        f"Figure 5: points in {MATCH_GAMES:,} games of two agents of one recipe, each as a pair against two SemiSmart",
        max(FIGURE_4),
        figure_5,
        (
            f"Means of {MATCHES} matches. The paper's t is 1.74, with a critical value of 2.262.",
            "Its text says three SemiSmart players, but its points are those of two against two.",
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
    "rates": Item(
        "Generation 81's recipe by learning rate: points in 10,000 games against three SemiSmart players",
        max(FIGURE_4),
        rates,
        ("The paper's is 0.41 to the end.",),
        "games of training",
        2_000,
    ),
    "evolve": Item(
        "A recipe evolved here beside generation 81's: points in 10,000 games against three SemiSmart players",
        EVOLVED,
        evolve,
        (
            f"Twelve agents, the first by the recipe made by hand; six children a generation, of {CHILD_GAMES:,} games",
            f"fitness is points against SemiSmart. In the end {FINALISTS} of the best recipes are trained anew for the",
            "paper's 200,000 games, and a playoff chooses one; it is measured on other games.",
            f"In all trainings all seats learn, at a learning rate that falls to {ANNEAL} of its gene.",
        ),
        "generations",
        2,
    ),
}
