"""Sæderup (2010), an evolving Ludo player based on neural networks, backpropagation and GA (NNGA).

The order of the printed chromosome's 19 genes is not published, so we evolve a new player; nor are the outputs of the
hand-set net (NN), for which we use our own. As in this simulator, one player against three has the first seat, which
begins the game; two against two sit alternately.
"""

from __future__ import annotations

import dataclasses
import functools
import pathlib
import time
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from algorithms import genetic
from algorithms.genomes.truth_table import TruthTable
from boardrl import presets
from boardrl.play.players import Player
from boardrl.runs import plots
from boardrl.system import atomic_files
from games.ludo import Ludo
from launch.console import named_players
from launch.papers import derakhshan2010, saederup2010_limit, sdu_matches, trained
from launch.papers.cell import Cell, Item, mean
from launch.papers.sdu_matches import GAME, MATCH_GAMES, OPPONENT, PER

PRESET = "saederup2010"
GENERATIONS, CLOSE_UP = 16_500, 150
GAMES = 1_000  # per generation
TRAINING_GAMES = 200_000  # training games of the QLGA player of derakhshan2010
FINAL_GAMES = 10_000  # from each seat, as in the paper
READ_OFF = 200  # precision of reading a figure
TABLE_2 = {"backpropagation": 499.0, "a generation": 1748.0}  # ms
TIMED = 100  # generations, as in the paper
# Means of the ten printed rows, and their t.
TABLES = {"table3": (3299.5, 30.9118), "table4": (3574.4, 72.5585), "table5": (3282.7, 39.3163)}
CRITICAL = 3.250  # the paper's critical t, for 99.5 % confidence
FIGURE_3 = {1: 13_100, 90: 18_800, GENERATIONS: 19_300}  # points in 10,000 games by generation
# Our settings: more members, the mean of all parents with smaller and smaller steps, points against SemiSmart as the
# fitness, over all generations of a member, and a playoff in the end. With 500 games of a member each generation and
# 3,000 in the playoff (standard errors of 490 and 200 points) luck decided between members that differ by about 100.
OURS: dict[str, Any] = {
    "opponents": ",".join([OPPONENT] * 3),
    "population": 20,
    "parents": 6,
    "children": 12,
    "memory": 0.97,
    "crossover": "mean",
    "mutated": 0.35,
    "mutation_most": 0.4,
    "mutation_end": 0.25,
    "games_per_generation": 30_000,
    "playoff_games": 300_000,
}
# With the paper's nine inputs the fittest climbs too: two sweeps of the 19 genes. Before, generations are more and have
# fewer games, as variants are compared on the same dice in the end. Two members against two SemiSmart tell two tables
# apart with a third of the games of one against three.
CLIMBING: dict[str, Any] = {
    **OURS,
    "opponents": ",".join([OPPONENT] * 2),
    "games_per_generation": 10_000,
    "playoff_games": 60_000,
    "climb_games": 200_000,
}
BRED, SWEEP = 100, 19  # generations with children, and those of a sweep
OUR_SETTINGS = {"nine": CLIMBING, "ten": OURS}
OUR_GENERATIONS = {"nine": BRED + 2 * SWEEP, "ten": 100}
QUICK_GENERATIONS = {"nine": 8, "ten": 10}
OUR_FINAL_GAMES = 40_000  # from each seat, so that an interval is on one side of the paper's figure
LIMIT_GAMES = 500_000  # of all rankings that are tried
# By name: the genome, of the paper's net and inputs, and of one that also sees the danger in which a piece stands.
OUR_GENOMES = {
    "nine": ("truth table, the paper's nine inputs", "truth_table(encoding=saederup)"),
    "ten": ("truth table, ten inputs", "truth_table(encoding=saederup_danger,hidden=6)"),
}
# How much a move is wanted by what it does, made by hand: the first that fits of Table 1's inputs, by their number.
BY_HAND = {3: 0.05, 2: 0.95, 1: 0.8, 4: 0.75, 6: 0.7, 8: 0.6, 5: 0.5, 9: 0.15}
ELSE, NEAR, FEAR = 0.35, 7, 0.1  # if no input applies; the input "near an enemy", and its penalty


def table_2(generations: int, seed: int) -> Sequence[Cell]:
    """Milliseconds of a child's backpropagation and of a whole generation, beside the paper's laptop of 2009."""
    game = Ludo(rules="sdu_java")
    config = genetic.Config(**presets.find(PRESET, "genetic", game))
    made, state = TruthTable(encoding="saederup"), genetic.init(config, game, jax.random.key(seed))
    rng = np.random.default_rng(seed)
    for _ in range(2):  # compiles
        state, _ = genetic.update(config, game, (), state)
    times: dict[str, list[float]] = {name: [] for name in TABLE_2}
    for _ in range(generations):
        child = rng.random((1, len(made.genes(game).names))).astype(np.float32)
        began = time.perf_counter()
        made.express(game, child, rng.integers(1 << 32, size=1))
        middle = time.perf_counter()
        state, _ = genetic.update(config, game, (), state)
        times["backpropagation"].append(1e3 * (middle - began))
        times["a generation"].append(1e3 * (time.perf_counter() - middle))
    return [
        cell
        for name, taken in times.items()
        for cell in (
            Cell(name, "mean", "ms", *mean(np.array(taken)), paper=TABLE_2[name]),
            Cell(name, "least", "ms", min(taken), min(taken), min(taken)),
            Cell(name, "most", "ms", max(taken), max(taken), max(taken)),
        )
    ]


def table_3(generations: int, seed: int) -> Sequence[Cell]:
    """NNGA against the net whose outputs were set by hand."""
    return _two_against_two("table3", by_hand(), generations, seed, sdu_matches.paired_t, "paired")


def table_4(generations: int, seed: int) -> Sequence[Cell]:
    """NNGA against SemiSmart."""
    return _two_against_two("table4", sdu_matches.opponent(), generations, seed, sdu_matches.unpaired_t, "unpaired")


def table_5(generations: int, seed: int) -> Sequence[Cell]:
    """NNGA against QLGA, the Q-learner of derakhshan2010 with the recipe of its generation 81."""
    games = TRAINING_GAMES if generations == GENERATIONS else min(TRAINING_GAMES, 100 * generations)
    other = dataclasses.replace(derakhshan2010.learned(games, seed), name="QLGA")
    return _two_against_two("table5", other, generations, seed, sdu_matches.unpaired_t, "unpaired")


def figure_3(generations: int, seed: int) -> Sequence[Cell]:
    """Points of the fittest against three SemiSmart by generation, plotted over the whole evolution."""
    path = run(generations, seed)
    _draw(path, "NNGA by generation")
    returns = sdu_matches.by_seat_compiled(_load(path), min(FINAL_GAMES, max(GAMES, generations)), seed)
    held = {"paper": FIGURE_3[GENERATIONS], "paper_error": READ_OFF} if generations == GENERATIONS else {}
    row = f"generation {generations:,}"
    return [
        Cell(row, "from seat 0", "points", *sdu_matches.points(returns[:1]), **held),
        Cell(row, "seats rotated", "points", *sdu_matches.points(returns)),
    ]


def figure_4(generations: int, seed: int) -> Sequence[Cell]:
    """The same for the first generations, with more points."""
    path = run(generations, seed, close_up=True)
    _draw(path, f"NNGA, the first {generations:,} generations")
    rows = trained.rows(path, "strength", "final")
    cells = []
    for generation, paper in {1: FIGURE_3[1], 90: FIGURE_3[90]}.items():
        if generation <= generations:
            row = min(rows, key=lambda row: abs(row["games"] // GAMES - generation))
            value = PER * row["points"]
            reach = 1.96 * PER * 1.1 / np.sqrt(row["played"])  # standard deviation of a game's points: about 1.1
            name = f"generation {row['games'] // GAMES}"
            cells.append(
                Cell(name, "seats rotated", "points", value, value - reach, value + reach, paper, paper_error=READ_OFF)
            )
    return cells


def ours(name: str, generations: int, seed: int) -> Sequence[Cell]:
    """A truth table evolved by our own settings against SemiSmart."""
    title, path = OUR_GENOMES[name][0], _our_run(name, generations, seed)
    _draw(path, f"{title}, by our settings", OUR_SETTINGS[name]["games_per_generation"])
    whole = generations >= OUR_GENERATIONS[name]
    return _against_semismart(title, _load(path), OUR_FINAL_GAMES if whole else 100 * generations, seed)


def limit(games: int, seed: int) -> Sequence[Cell]:
    """Whether any ranking near the one that was evolved from the paper's nine inputs is better."""
    generations = (OUR_GENERATIONS if games >= LIMIT_GAMES else QUICK_GENERATIONS)["nine"]
    player = _load(_our_run("nine", generations, seed))
    return saederup2010_limit.cells(player, games, seed)


def _our_run(name: str, generations: int, seed: int) -> pathlib.Path:
    settings = OUR_SETTINGS[name]
    each = settings["games_per_generation"]
    flags = {
        "game": GAME,
        "algo": "genetic",
        "genome": OUR_GENOMES[name][1],
        **settings,
        "games": generations * each,
        "climb": 2 * SWEEP * generations // OUR_GENERATIONS[name] if settings is CLIMBING else 0,
        "evaluate_against": OPPONENT,
        "evaluate_every": each * max(1, generations // 8),
        "evaluate_games": 2_000,
        "final_games": 10_000,
        "log_every": 1,
    }
    return trained.run(f"{PRESET}-{name}", seed, flags)


def best(games: int, seed: int) -> Sequence[Cell]:
    """The best player that we have against SemiSmart."""
    (player,) = named_players.make("ludo_best", Ludo(rules="sdu_java"))
    return _against_semismart("ludo_best", player, games, seed)


def _against_semismart(name: str, player: Player, games: int, seed: int) -> Sequence[Cell]:
    """Points against three from each seat, and two against two; the dice are none of those that it was chosen by."""
    returns = sdu_matches.by_seat_compiled(dataclasses.replace(player, name=name), games, seed)
    paper: dict[str, Any] = {"paper": FIGURE_3[GENERATIONS], "paper_error": READ_OFF}
    mine, _ = sdu_matches.team_compiled(player, sdu_matches.opponent(), games // 10, seed)
    two = mean(mine * MATCH_GAMES / (games // 10))
    return [
        Cell(name, "from seat 0", "points", *sdu_matches.points(returns[:1]), **paper),
        Cell(name, "seats rotated", "points", *sdu_matches.points(returns)),
        Cell(name, f"two against two {OPPONENT}", "points", *two, paper=TABLES["table4"][0]),
    ]


def run(generations: int, seed: int, *, close_up: bool = False) -> pathlib.Path:
    """The run of an evolution."""
    flags = {
        "game": GAME,
        "algo": "genetic",
        "preset": PRESET,
        "games": generations * GAMES,
        "evaluate_against": OPPONENT,
        "evaluate_every": GAMES * max(1, generations // (50 if close_up else 66)),
        "evaluate_games": 2_000,
        "final_games": 10_000,
        "log_every": 1 if close_up else 10,
    }
    return trained.run(f"{PRESET}{'-close_up' if close_up else ''}", seed, flags)


def by_hand() -> Player:
    """The NN player: the net fitted to hand-set outputs."""
    game, made = Ludo(rules="sdu_java"), TruthTable(encoding="saederup")
    wanted = np.array([_wanted(truths) for truths in made.combinations(game)], np.float32)
    expressed = made.express(game, wanted[None], np.zeros(1, np.uint32))
    return Player("NN, set by hand", made.policy(game, jax.tree.map(lambda leaf: leaf[0], expressed.params)))


def _wanted(truths: np.ndarray) -> float:
    found = next((output for number, output in BY_HAND.items() if truths[number - 1]), ELSE)
    return found - FEAR * float(truths[NEAR - 1])


def _two_against_two(
    name: str, other: Player, generations: int, seed: int, t_test: sdu_matches.Test, kind: str
) -> Sequence[Cell]:
    player = _load(run(generations, seed))
    mine, theirs = sdu_matches.team(player, other, min(MATCH_GAMES, 10 * generations), seed)
    paper, paper_t = TABLES[name]
    held = {"paper": paper} if generations == GENERATIONS else {}
    t = t_test(mine, theirs)
    row = f"two NNGA, two {other.name}"
    return [
        Cell(row, "NNGA", "points", *mean(mine), **held),
        Cell(row, other.name, "points", *mean(theirs)),
        Cell(row, f"{kind} t-test", "t", t, t, t, paper_t if held else None),
    ]


def _load(path: pathlib.Path) -> Player:
    (player,) = named_players.make(str(path), Ludo(rules="sdu_java"))
    return Player("NNGA", player.policy)


def _draw(path: pathlib.Path, title: str, games: int = GAMES) -> None:
    """The points by generation, of which each has so many games."""
    rows = trained.rows(path, "strength", "final")
    picture = path.with_suffix(".png")
    shown = {"the paper, from seat 0": list(FIGURE_3.items())}
    x = [row["games"] / games for row in rows]
    y = [PER * row["points"] for row in rows]
    atomic_files.write(
        picture, plots.points_curve(x, y, title, shown, x_label="generation", y_label="points in 10,000 games")
    )
    print(f"figure    {picture}")


def _our_item(name: str, note: str) -> Item:
    return Item(
        f"{OUR_GENOMES[name][0]}, evolved by our settings: points against SemiSmart, in 10,000 games against three "
        "and of 6,000 two against two",
        OUR_GENERATIONS[name],
        functools.partial(ours, name),
        (f"{note} It is evolved, chosen and measured on different games.",),
        "generations",
        QUICK_GENERATIONS[name],
    )


ITEMS = {
    "table2": Item(
        "Table 2: time of the backpropagation of a child, and of a generation",
        TIMED,
        table_2,
        ("The paper used a Core 2 Duo of 2.53 GHz; its ranges are 18 to 1,637 ms, and 1,168 to 2,968 ms.",),
        "generations",
        20,
    ),
    "table3": Item(
        "Table 3: NNGA against a hand-set net, two against two, points of 6,000",
        GENERATIONS,
        table_3,
        ("The paper's outputs of the hand-set net are not printed; ours are in launch/papers/saederup2010.py.",),
        "generations",
        CLOSE_UP,
    ),
    "table4": Item(
        "Table 4: NNGA against SemiSmart, two against two, points of 6,000",
        GENERATIONS,
        table_4,
        (f"Means of 10 matches of 1,000 games; beyond t = {CRITICAL} the paper is 99.5 % certain.",),
        "generations",
        CLOSE_UP,
    ),
    "table5": Item(
        "Table 5: NNGA against QLGA (generation 81's recipe, 200,000 games), two against two, points of 6,000",
        GENERATIONS,
        table_5,
        (f"Means of 10 matches of 1,000 games; beyond t = {CRITICAL} the paper is 99.5 % certain.",),
        "generations",
        CLOSE_UP,
    ),
    "fig3": Item(
        "Figure 3: points in 10,000 games against three SemiSmart after the evolution",
        GENERATIONS,
        figure_3,
        ("The curve has the seats rotated, 2,000 games a point; the paper's player sits first.",),
        "generations",
        CLOSE_UP,
    ),
    "ours": _our_item("nine", "The paper's inputs and net; the fittest climbs over rankings in the end (ours)."),
    "ten": _our_item("ten", "The tenth input is whether the piece is in danger where it stands; six hidden units."),
    "limit": Item(
        "The evolved order of the nine inputs' 19 combinations beside all orders with one of them elsewhere",
        LIMIT_GAMES,
        limit,
        ("Points of 6,000, on the same dice; the best neighbour is chosen and measured on different games.",),
        "games of all",
        10_000,
    ),
    "best": Item(
        "ludo_best: points against SemiSmart, in 10,000 games against three and of 6,000 two against two",
        FINAL_GAMES,
        best,
        ("A TD(λ) net (docs/evolving.md).",),
        "games from each seat",
        100,
    ),
    "fig4": Item(
        "Figure 4: the first generations of figure 3",
        CLOSE_UP,
        figure_4,
        ("Seats rotated, 2,000 games a point, where the paper's player sits first and plays 10,000.",),
        "generations",
        30,
    ),
}
