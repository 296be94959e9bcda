"""Measures how often the 95 % intervals of ratings contain the true rating.

    python -m launch.measure_ratings
    python -m launch.measure_ratings --players=4 --games=20 --spread=400 --repeats=300

Round robins between players of known strength are drawn at random and rated as `launch.evaluate --round_robin` rates
them. The strengths are new in every repeat.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import rich.table

from boardrl import progress, ratings
from boardrl.config import setting
from boardrl.errors import UserError
from launch import cli, output

LEAST, MOST = 0.94, 0.965  # where the coverage should lie


class Case(NamedTuple):
    """Which round robins are drawn."""

    players: int
    games: int  # of each pair
    spread: float  # standard deviation of the true ratings
    draws: float  # chance of a draw, as a share of the highest that leaves each side its expected score


CASES = tuple(  # measured unless the user names one
    Case(players, games, spread, draws)
    for players in (2, 4, 8)
    for games, spread in ((10, 300.0), (100, 100.0), (100, 500.0), (1000, 300.0))
    for draws in (0.0, 0.5)
)


@dataclasses.dataclass(frozen=True)
class Config:
    players: int = setting(0, "how many players; 0: several cases")
    games: int = setting(100, "of each pair; for --players")
    spread: float = setting(300.0, "standard deviation of the true ratings; for --players")
    draws: float = setting(0.0, "share of the most draws that are possible, 0 to 1; for --players")
    repeats: int = setting(300, "round robins in each case")
    seed: int = setting(0, "the same seed gives the same result")
    json: str = setting("", "file for the numbers; empty: none")
    overwrite: bool = setting(False, "replace the --json file if it exists")


def main(config: Config) -> None:
    path = output.free_path("json", config.json, overwrite=config.overwrite)
    cases: Sequence[Case] = CASES
    if config.players:
        cases = [Case(config.players, config.games, config.spread, config.draws)]
    for case in cases:
        if case.players < 2 or case.games < 1 or case.spread < 0 or not 0 <= case.draws <= 1 or config.repeats < 1:
            raise UserError(
                f"{case} with repeats={config.repeats} cannot be measured; expected at least 2 players, 1 game and "
                "1 repeat, no negative spread, and draws from 0 to 1"
            )
    content = []
    with progress.track("rating", len(cases) * config.repeats, "round robins") as bar:
        for number, case in enumerate(cases):
            rest = bar.rest(number * config.repeats)
            covered = measure(case, repeats=config.repeats, seed=config.seed, bar=rest)  # [repeats, K]
            error = covered.mean(axis=1).std() / np.sqrt(config.repeats)
            content.append({**case._asdict(), "coverage": float(covered.mean()), "error": float(error)})
    table = rich.table.Table(title=f"intervals that contain the true rating; {config.repeats:,} repeats a case")
    for column in ("players", "games a pair", "spread", "draws", "coverage", "± (1 standard error)"):
        table.add_column(column, justify="right")
    for row in content:
        sizes = (str(row["players"]), str(row["games"]), f"{row['spread']:g}", f"{row['draws']:g}")
        table.add_row(*sizes, f"{row['coverage']:.1%}", f"{row['error']:.1%}")
    output.console().print(table)
    mean = sum(row["coverage"] for row in content) / len(content)
    print(f"mean {mean:.2%}; expected {LEAST:.1%} to {MOST:.1%}, but for the standard error")
    output.write_json(path, content)


def measure(case: Case, *, repeats: int, seed: int, bar: progress.Bar | None = None) -> np.ndarray:
    """[repeats, K] bool: whether the interval of each player contains its true rating."""
    rng = np.random.default_rng([seed, *map(round, case[:3])])
    covered = np.empty((repeats, case.players), bool)
    for repeat in range(repeats):
        true = rng.normal(0.0, case.spread, case.players)
        true += ratings.MEAN - true.mean()
        rated = ratings.rate(*draw(case, true, rng))
        covered[repeat] = [rating.low <= one <= rating.high for rating, one in zip(rated, true, strict=True)]
        if bar is not None:
            bar.update(repeat + 1)
    return covered


def draw(case: Case, true: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """[K, K] wins and [K, K] draws of a round robin between players of [K] true ratings."""
    expected = 1 / (1 + 10 ** ((true[None, :] - true[:, None]) / 400))  # [K, K] score of row against column
    wins, draws = np.zeros((2, case.players, case.players))
    for first in range(case.players):
        for second in range(first + 1, case.players):
            score = expected[first, second]
            drawn = case.draws * 2 * min(score, 1 - score)
            counts = rng.multinomial(case.games, [score - drawn / 2, drawn, 1 - score - drawn / 2])
            wins[first, second], draws[first, second], wins[second, first] = counts
            draws[second, first] = counts[1]
    return wins, draws


if __name__ == "__main__":
    cli.run(main, Config)
