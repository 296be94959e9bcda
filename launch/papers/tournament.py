"""Every Ludo player of every paper in one tournament: the comparison that none of the papers could make.

Two tournaments, one with the rules of the SDU's simulator and one with those that fit alhajry2012. Learned players come
from the runs of their papers' items if these exist, else from shorter trainings with the same settings. A player whose
net or table fits other rules is not trained again, and the tables say so; if the rules change its shape (a pass as
fifth action, one more square to the goal), it is trained with the rules of the tournament.
"""

from __future__ import annotations

import dataclasses
import functools
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from boardrl import registry
from boardrl.game import Game
from boardrl.play import players
from boardrl.play.players import Player
from boardrl.values import net_file
from games.ludo import best
from launch import tournament
from launch.papers import derakhshan2010, saederup2010, trained
from launch.papers.cell import Cell, Item

GAMES, QUICK = 800, 12  # of each player
SCRIPTED = (
    "random",
    "defensive",
    "aggressive",
    "fast",
    "mixed",
    "semismart",
    "sdu_aggressive",
    "pacifistic",
    "fifo",
)
BEST = {"ludo_best": "ludo_best", "ludo_best, depth 2": f"maxn(depth=2,net={best.PATH})"}  # ours, alone and in a search


class Learner(NamedTuple):
    """A player that has to be trained."""

    algo: str
    games: int  # training games: enough for the level of its paper's figure
    quick: int
    preset: str = ""  # empty: our own settings
    rules: str = ""  # rules of its training; empty: those of the tournament
    items: tuple[str, ...] = ()  # runs of its paper's items to use instead, if they are finished
    flags: Mapping[str, Any] = {}
    quick_flags: Mapping[str, Any] = {}


RECIPE = "reward_recipe(preset=derakhshan2010,training_games=1000)"  # for a quick run
LEARNERS = {
    "TD(λ), alhajry2012": Learner(
        "td_lambda", 10_000, 60, "alhajry2012", "alhajry2012", ("alhajry2012-fig2-100000",), {"opponents": ""}
    ),
    "Q-learner, alhajry2012": Learner(
        "q_strategies", 15_000, 60, "alhajry2012", "alhajry2012", ("alhajry2012-fig5-100000",), {"opponents": ""}
    ),
    "DQN, szurkowski2021": Learner("dqn", 250, 20, "szurkowski2021", "sdu_java"),
    "Durocher's table, szurkowski2021": Learner(
        "q_table", 100, 20, "szurkowski2021", "ludopy131", ("szurkowski2021-q_table-100",)
    ),
    "Q-table, derakhshan2010": Learner(
        "q_table", 50_000, 1_000, "derakhshan2010", items=("derakhshan2010-200000",), flags={"games_per_update": 1_000}
    ),
    "QLGA, derakhshan2010": Learner(
        "genetic",
        8 * derakhshan2010.GENERATION_GAMES,
        200,
        "derakhshan2010",
        items=(f"derakhshan2010-evolve-{derakhshan2010.EVOLVED * derakhshan2010.GENERATION_GAMES}",),
        flags={**derakhshan2010.OURS, "log_every": 1},
        quick_flags={
            **derakhshan2010.OURS,
            "genome": RECIPE,
            "log_every": 1,
            "games_per_generation": 100,
            "playoff_games": 0,
        },
    ),
    "NNGA, saederup2010": Learner(
        "genetic",
        200 * saederup2010.GAMES,
        2 * saederup2010.GAMES,
        "saederup2010",
        "sdu_java",
        (f"saederup2010-{saederup2010.GENERATIONS * saederup2010.GAMES}",),
        {"log_every": 1},
    ),
    "DQN, ours": Learner("dqn", 3_000, 50, rules="alhajry2012"),
    "TD(λ), ours": Learner("td_lambda", 10_000, 100, rules="alhajry2012", items=("alhajry2012-best-100000",)),
}


def play(rules: str, games: int, seed: int) -> Sequence[Cell]:
    """A tournament with one preset of rules."""
    game = registry.make(f"ludo:rules={rules}")
    quick = games < GAMES
    seated = players.make_all(SCRIPTED, game)
    made_by = net_file.trained_on(best.PATH)
    for name, one in BEST.items():
        seated.append(dataclasses.replace(players.make(one, game), name=name, trained_on=made_by))
    seated += [_learned(name, learner, rules, game, seed, quick=quick) for name, learner in LEARNERS.items()]
    folder = trained.FOLDER / f"tournament-{rules}-{games}-s{seed}"
    text = ",".join([*SCRIPTED, *BEST, *LEARNERS])
    numbers = tournament.play(game, seated, folder, games=games, seed=seed, text=text)
    best_first = sorted(numbers["players"], key=lambda player: -player["rating"])
    return [Cell(row["name"], "rating", "Elo", row["rating"], row["low"], row["high"]) for row in best_first]


def _learned(name: str, learner: Learner, rules: str, game: Game[Any], seed: int, *, quick: bool) -> Player:
    path = _path(learner, learner.rules or rules, seed, quick=quick)
    return dataclasses.replace(players.make(str(path), game), name=name)


def _path(learner: Learner, rules: str, seed: int, *, quick: bool) -> pathlib.Path:
    """The run directory of a learned player, trained if there is none yet."""
    game = registry.describe(registry.make(f"ludo:rules={rules}"))
    for item in learner.items if not quick else ():
        path = trained.FOLDER / f"{item}-s{seed}"
        if trained.rows(path, "final") and trained.game_of(path) == game:
            return path
    games = learner.quick if quick else learner.games
    # With as few evaluations as possible: the tournament evaluates.
    schedule = {"evaluate_against": "random", "evaluate_every": games, "evaluate_games": 1, "final_games": 1}
    own = learner.quick_flags or learner.flags if quick else learner.flags
    flags = {"game": game, "algo": learner.algo, "games": games, **schedule, **own}
    if learner.preset:
        flags["preset"] = learner.preset
    return trained.run(f"tournament-{learner.algo}-{learner.preset or 'ours'}-{rules}", seed, flags)


def _item(rules: str) -> Item:
    return Item(
        f"Every Ludo player of every paper, by the rules of {rules}",
        GAMES,
        functools.partial(play, rules),
        (
            "Plackett-Luce ratings on the Elo scale, mean 1500; if the rules end a game with its first finisher, from "
            "the winners only.",
        ),
        "games of each player",
        QUICK,
    )


ITEMS = {rules: _item(rules) for rules in ("sdu_java", "alhajry2012")}
