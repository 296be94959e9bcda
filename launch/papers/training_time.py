"""No paper of others: the strength on Ludo that one, three and ten minutes of TD(λ) on two cores buy.

Each budget is a training of a fixed number of games with settings for its length, so that its numbers do not depend on
the machine; the seconds that its updates took here are measured and shown beside them.
"""

from __future__ import annotations

import pathlib
from collections.abc import Sequence
from typing import Any, NamedTuple

from boardrl.runs import log_rows, plots
from boardrl.system import atomic_files
from launch.papers import trained
from launch.papers.cell import Cell, Item

GAME = "ludo"


class Budget(NamedTuple):
    """The settings of a training that is meant to take so many seconds of updates on two cores."""

    seconds: int
    games: int
    settings: dict[str, Any]


BUDGETS = (
    Budget(60, 200_000, {}),
    Budget(180, 475_000, {"thin": 2, "hidden": "256"}),
    Budget(600, 1_400_000, {"thin": 2, "hidden": "256"}),
)


def strength(games: int, seed: int) -> Sequence[Cell]:
    """Win rates after each budget, and the seconds that it took; a picture of both.

    Args:
      games: of the longest training; the others have their part of it.
    """
    cells: list[Cell] = []
    points: list[dict[str, Any]] = []
    for budget in BUDGETS:
        count = max(budget.games * games // BUDGETS[-1].games, 1)
        path = trained.run(f"training_time-{budget.seconds}", seed, flags(count, budget))
        took = update_seconds(path)
        row = f"{budget.seconds} s: {count:,} games"
        cells.append(Cell(row, "updates", "s", took, took, took))
        for final in trained.rows(path, "final"):
            values = [100 * final[name] for name in ("win_rate", "low", "high")]
            cells.append(Cell(row, f"vs 3 {final['opponent']}", "% won", *values))
            points.append({"opponent": final["opponent"], "name": row, **dict(zip(KEYS, values, strict=True))})
    picture = trained.FOLDER / f"training_time-{games}-s{seed}.png"
    panels = {f"against three {name}": [row for row in points if row["opponent"] == name] for name in opponents(points)}
    atomic_files.write(picture, plots.interval_dots(panels, "Strength on Ludo by time of training", "% won"))
    print(f"figure    {picture}")
    return cells


KEYS = ("value", "low", "high")


def flags(games: int, budget: Budget) -> dict[str, Any]:
    """The flags of `launch.train`; evaluation at the end only, as it is no part of the time."""
    rare = {"evaluate_every": games + 1, "evaluate_games": 100, "final_games": 20_000 if games >= 10_000 else 400}
    return {"game": GAME, "algo": "td_lambda", "games": games, **rare, **budget.settings}


def update_seconds(path: pathlib.Path) -> float:
    """The seconds of a run's updates, without evaluation and compilation."""
    speed = path / "speed.jsonl"
    return float(sum(row["seconds"] for row in log_rows.read(speed.name, speed.read_bytes()).rows))


def opponents(points: Sequence[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(point["opponent"] for point in points))


ITEMS = {
    "strength": Item(
        "The strength that one, three and ten minutes of training buy",
        BUDGETS[-1].games,
        strength,
        ("Seconds are those of updates on this machine; the win rates do not depend on it.",),
        unit="games of the longest training",
        quick=6_000,
    ),
}
