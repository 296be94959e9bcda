"""Alhajry, Alvi and Ahmed (2012), TD(λ) and Q-learning based Ludo players.

The rules are the preset `alhajry2012`, a best fit (see games/ludo/flags.py): the paper does not specify safe squares,
blockades and overshooting.
"""

from __future__ import annotations

import functools
import pathlib
import typing
from collections.abc import Mapping, Sequence

import numpy as np

from boardrl.matches import arena, intervals
from boardrl.play import players
from boardrl.runs import progress
from boardrl.runs.saved_results import Kept
from games.ludo import Ludo
from games.ludo.strategies import Threat
from launch.console import named_players
from launch.papers import trained
from launch.papers.cell import Cell, Item, mean, share

TOLERANCE = 1.5  # percentage points around the numbers of the earlier simulation

# Player: printed %, its ±, and the % of an earlier simulation of these rules.
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
    """Both tables' Defensive and Mixed for each definition of a vulnerable piece."""
    cells = []
    for threat in typing.get_args(Threat):
        for name in ("defensive", "mixed"):
            cells += _cells(f"{name}(threat={threat}),random,random,random", [TABLE_1[name]], games, seed)
        mixed, defensive, *others = TABLE_2
        names = [f"{mixed}(threat={threat})", f"{defensive[:-1]},threat={threat})", *others]
        cells += _cells(",".join(names), list(TABLE_2.values()), games, seed)
    return cells


def _cells(names: str, figures: Sequence[tuple[float, float, float]], games: int, seed: int) -> list[Cell]:
    """The first players' win rates in a match with the seats rotated."""
    game = Ludo(rules="alhajry2012")
    with progress.track(names, games, "games") as bar:
        match = arena.match(game, players.make_lineup(names, game), num_games=games, seed=seed, bar=bar)
    return [
        Cell(
            row=names,
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


# Figure: algorithm, opponents in training, and the printed % and ± against three opponents of each kind.
Figures = Mapping[str, tuple[float, float]]
TD, QL = "td_lambda", "q_strategies"
FIGURES: dict[str, tuple[str, str, Figures]] = {
    "fig2": (TD, "", {"random": (66.0, 1.0), "mixed": (30.0, 1.0)}),
    "fig3": (TD, "mixed,mixed", {"random": (62.0, 1.0), "mixed": (26.0, 1.0)}),
    "fig4": (TD, "random,random", {}),
    "fig5": (QL, "", {"random": (63.0, 1.0), "mixed": (27.0, 1.0)}),
    "fig6": (QL, "mixed,mixed", {"mixed": (27.0, 1.0)}),
    "fig7": (QL, "random,random", {"mixed": (27.0, 1.0)}),
}
OPPONENTS = "random,mixed"
FINAL_GAMES = 20_000  # 4 seats of 5,000
SEARCHES = ((2, "random"), (2, "mixed"), (3, "mixed"))  # depth, opponent
AT_A_TIME = 4_000  # games of a search that are saved together


def figure(name: str, games: int, seed: int) -> Sequence[Cell]:
    """Trains with the paper's settings, and measures against three random players and against three experts.

    TD(λ) sees an absolute board, not one relative to the player, so its strength may depend on the seat.
    """
    algo, _, printed = FIGURES[name]
    path = _trained(name, games, seed)
    cells = trained.cells(path, ITEMS[name].title, printed, by_seat=algo == TD)
    return cells + _level(path, games, printed) if algo == QL else cells


def _level(path: pathlib.Path, games: int, printed: Figures) -> list[Cell]:
    """The mean of the measurements in the last quarter, because the paper describes a noisy curve of Q-learning."""
    since = 3 * games // 4
    rates: dict[str, list[float]] = {}
    for row in trained.rows(path, "strength", "final"):
        if row["games"] >= since:
            rates.setdefault(row["opponent"], []).append(100 * row["win_rate"])
    return [
        Cell(
            f"vs 3 {opponent}",
            f"mean of {len(found)} from {since:,} games on",
            "% won",
            *mean(np.array(found)),
            paper=printed[opponent][0] if opponent in printed else None,
            paper_error=printed[opponent][1] if opponent in printed else 0.0,
        )
        for opponent, found in rates.items()
    ]


def best(games: int, seed: int) -> Sequence[Cell]:
    """Trains with our own settings, for comparison with Figure 2."""
    path = trained.run("alhajry2012-best", seed, _own(games))
    return trained.cells(path, ITEMS["best"].title, FIGURES["fig2"][2])


def _own(games: int) -> dict[str, typing.Any]:
    """Flags of a training with our own settings."""
    schedule = {"evaluate_every": games // 10, "final_games": min(FINAL_GAMES, games)}
    return {"game": "ludo", "algo": TD, "games": games} | schedule


def ahead(games: int, seed: int) -> Sequence[Cell]:
    """Trains for longer, on every turn, and then adds a search of one more turn to the net."""
    figures = FIGURES["fig2"][2]
    path = trained.run("alhajry2012-ahead", seed, _own(games) | {"thin": 1})
    played = min(FINAL_GAMES, games // 15)
    kept = Kept(path / "ahead.jsonl")  # in the run's folder, because it belongs to this net
    cells = trained.cells(path, ITEMS["ahead"].title, figures)
    for depth, opponent in SEARCHES:
        won = _won(f"maxn(depth={depth},net={path})", opponent, played, seed, kept)
        cells.append(Cell(f"vs 3 {opponent}", f"depth {depth}", "% won", *share(won, played), *figures[opponent]))
    return cells


def _won(player: str, opponent: str, games: int, seed: int, kept: Kept) -> int:
    """Games won with the seats rotated, played in parts so that an interruption loses little."""
    game = Ludo(rules="alhajry2012")
    lineup_text = ",".join([player] + [opponent] * (game.spec.num_players - 1))
    parts = {}  # key: the number of games of a part, its seed, and the games before it
    for part, first in enumerate(range(0, games, AT_A_TIME)):
        count = min(AT_A_TIME, games - first)
        parts[f"{lineup_text}: {count} games, seed {seed + part}"] = (count, seed + part, first)
    done = sum(count for key, (count, _, _) in parts.items() if key in kept.rows)
    with progress.track(lineup_text, games, "games", done=done) as bar:
        seated = named_players.make(lineup_text, game)
        for key, (count, part_seed, first) in parts.items():
            if key not in kept.rows:
                match = arena.match(game, seated, num_games=count, seed=part_seed, bar=bar.rest(first))
                kept.add(key, match.players[0].wins)
    return sum(kept.rows[key] for key in parts)


def table_3(games: int, seed: int) -> Sequence[Cell]:
    """The players of Figures 2 and 5, two of each in a game; two equal players share one figure."""
    game = Ludo(rules="alhajry2012")
    td, ql = (str(_trained(name, games, seed)) for name in ("fig2", "fig5"))
    played = min(FINAL_GAMES, games)
    with progress.track("2 TD and 2 QL", played, "games") as bar:
        seated = named_players.make(",".join([td, td, ql, ql]), game)
        match = arena.match(game, seated, num_games=played, seed=seed, bar=bar)
    cells = []
    for kind, which, paper in (("TD", slice(0, 2), 27.37), ("QL", slice(2, 4), 22.37)):
        won = [score.win_rate for score in match.players[which]]
        # At most one of the two players wins a game: the interval of their sum, halved.
        low, high = intervals.wilson(round(sum(won) * played), played)
        cells.append(Cell("2 TD, 2 QL", kind, "% won, each", 50 * sum(won), 50 * low, 50 * high, paper, 0.22))
    return cells


def _trained(name: str, games: int, seed: int) -> pathlib.Path:
    algo, opponents, _ = FIGURES[name]
    flags = {"game": "ludo", "algo": algo, "preset": "alhajry2012", "opponents": opponents, "games": games}
    schedule = {
        "evaluate_against": OPPONENTS,
        "evaluate_every": games // 20,
        # TD(λ) is measured by seat.
        "evaluate_games": min(4_000 if algo == TD else 1_000, games // 10),
        "final_games": min(FINAL_GAMES, games),
    }
    return trained.run(f"alhajry2012-{name}", seed, flags | schedule)


def _item(name: str, title: str, *notes: str) -> Item:
    run = functools.partial(figure, name)
    return Item(f"{title} ({FIGURES[name][0]})", 100_000, run, notes, "games of training")


ITEMS = {
    "table1": Item("Table I: one player vs three random", 40_000, table_1),
    "table2": Item(
        "Table II: all strategies in one game",
        40_000,
        table_2,
        ("Defensive, Aggressive and Fast without prefer-release: only then do we get the printed numbers.",),
    ),
    "readings": Item(
        "Tables I and II by what a vulnerable piece is taken to be",
        40_000,
        readings,
        ("The last definition is the default: a piece that one roll of an opponent could knock out.",),
    ),
    "fig2": _item("fig2", "Figure 2: self-play"),
    "fig3": _item("fig3", "Figure 3: two learners, two experts"),
    "fig4": _item("fig4", "Figure 4: two learners, two random", "The paper prints no numbers: worse than Figure 2."),
    "fig5": _item("fig5", "Figure 5: self-play"),
    "fig6": _item("fig6", "Figure 6: two learners, two experts", "The paper: at most 27 ± 1 % against experts."),
    "fig7": _item("fig7", "Figure 7: two learners, two random", "The paper: at most 27 ± 1 % against experts."),
    "table3": Item("Table III: two TD against two QL", 100_000, table_3, unit="games of training"),
    "best": Item("Beyond the paper: TD(λ) by our settings", 100_000, best, unit="games of training", quick=20_000),
    "ahead": Item(
        "Beyond the paper: TD(λ) trained for longer, then looking a turn further",
        300_000,
        ahead,
        (
            "Depth 2, `maxn(depth=2,net=…)`, averages over the next player's dice, with its best answer by the net; "
            "depth 3 continues to the player after that.",
        ),
        "games of training",
        quick=6_000,
    ),
}
