"""Figure 5 of Brunton and Cohney (2013): the learning net's lead in pieces at the end of a game.

The net learns by self-play. It plays White, as in the paper; every game begins with a few random moves.
"""

from __future__ import annotations

import pathlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from boardrl import registry
from boardrl.matches import host_match
from boardrl.runs import checkpoint, plots, progress
from boardrl.runs.run_directory import CHECKPOINTS
from boardrl.runs.saved_results import Kept
from boardrl.system import atomic_files
from games.jumper.rules import BLACK, WHITE
from launch.console import named_players
from launch.papers import trained
from launch.papers.cell import Cell, mean

SIZES = (4, 5, 6)
POINTS = 10  # points of a curve, besides the first
PLAYED = 100  # games per point against each opponent
OPENING = 2  # random moves at the start
SEARCH = "negascout(depth=1)"
OPPONENTS = {"random": "random", "search to depth 1": SEARCH, "itself": ""}


def cells(games: int, seed: int) -> Sequence[Cell]:
    """The lead in pieces at the end of training, and the whole curve as a picture."""
    panels = {f"{size}×{size}": curve(size, games, seed) for size in SIZES}
    picture = trained.FOLDER / f"brunton2013-fig5-{games}-s{seed}.png"
    atomic_files.write(picture, plots.mean_curves(panels, "The net's learning by self-play", "lead of White in pieces"))
    print(f"figure    {picture}")
    return [
        Cell(f"{name}, White against {row['opponent']}", "MLP", "pieces", row["mean"], row["low"], row["high"])
        for name, rows in panels.items()
        for row in rows[-len(OPPONENTS) :]
    ]


def curve(size: int, games: int, seed: int) -> list[dict[str, Any]]:
    """A row for each checkpoint of a training and each opponent."""
    name = f"jumper:size={size}"
    every = {"evaluate_every": max(games // POINTS, 1), "evaluate_games": 1, "final_games": 1, "keep_checkpoints": 1000}
    flags = {"game": name, "algo": "td_lambda", "games": games, "evaluate_against": "random", **every}
    run = trained.run(f"brunton2013-mlp-size{size}", seed, flags)
    kept = Kept(run.with_name(f"{run.name}-fig5.jsonl"))
    steps = spread(run)
    total, rows = len(steps) * len(OPPONENTS) * PLAYED, []
    with progress.track(f"playing on {size}×{size}", total, "games") as bar:
        for step, trained_games in steps.items():
            path = run / CHECKPOINTS / str(step)
            for opponent, text in OPPONENTS.items():
                key = f"{step} {opponent}"
                if key not in kept.rows:
                    kept.add(key, leads(name, str(path), text or str(path), seed))
                found = dict(zip(("mean", "low", "high"), mean(np.array(kept.rows[key], float)), strict=True))
                rows.append({"games": trained_games, "opponent": opponent, **found})
                bar.update(len(rows) * PLAYED)
    return rows


def spread(run: pathlib.Path) -> dict[int, int]:
    """Roughly evenly spaced checkpoints, including the first and the last, with the number of games before each."""
    folder = run / CHECKPOINTS
    trained_games = {step: checkpoint.verify(folder / str(step)).games for step in checkpoint.steps(folder)}
    steps, counts = list(trained_games), np.array(list(trained_games.values()))
    nearest = [steps[np.abs(counts - counts[-1] * point / POINTS).argmin()] for point in range(POINTS + 1)]
    return {step: trained_games[step] for step in nearest}


def leads(game_text: str, white: str, black: str, seed: int) -> list[int]:
    """[PLAYED] White's pieces minus Black's at the end of each game."""
    game: Any = registry.make(game_text)
    pair, found = named_players.make(f"{white},{black}", game), []
    boards: list[np.ndarray] = []
    for index in range(PLAYED):
        host_match.play_game(
            game,
            pair,
            seed=seed,
            index=index,
            opening=OPENING,
            watch=lambda made: boards.append(np.asarray(made.after.state.board)),
        )
        found.append(int((boards[-1] == WHITE).sum()) - int((boards[-1] == BLACK).sum()))
    return found
