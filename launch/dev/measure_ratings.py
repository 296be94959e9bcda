"""Measures how often the 95 % intervals of ratings contain the true rating.

    python -m launch.dev.measure_ratings
    python -m launch.dev.measure_ratings --players=4 --games=20 --spread=400 --repeats=300
    python -m launch.dev.measure_ratings --players=8 --seats=4 --games=100 --winner_only

Tournaments between players of known strength are simulated and rated as in `launch.tournament`. Every repeat draws new
strengths. With more than two seats, lineups follow its schedule, and finishing orders the Plackett-Luce model.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import rich.table

from boardrl.config import setting
from boardrl.errors import UserError
from boardrl.matches import arena
from boardrl.runs import progress
from boardrl.tournaments import ratings, schedules
from boardrl.tournaments.finishing_orders import Finishes
from launch import cli
from launch.console import output

LEAST, MOST = 0.94, 0.965  # expected range of the coverage


class Case(NamedTuple):
    """The settings of the simulated tournaments."""

    players: int
    games: int  # of each pair; with more than two seats, at least this many of each player
    spread: float  # standard deviation of the true ratings
    draws: float = 0.0  # probability of a draw, as a fraction of the largest that keeps both expected scores
    seats: int = 2
    winner_only: bool = False  # only the winner of a game is known


CASES = tuple(  # measured unless the user gives one
    Case(players, games, spread, draws)
    for players in (2, 4, 8)
    for games, spread in ((10, 300.0), (100, 100.0), (100, 500.0), (1000, 300.0))
    for draws in (0.0, 0.5)
) + tuple(
    Case(players, games, spread, seats=4, winner_only=winner_only)
    for players in (4, 8)
    for games, spread in ((12, 300.0), (100, 100.0), (100, 400.0), (1000, 200.0))
    for winner_only in (False, True)
)


@dataclasses.dataclass(frozen=True)
class Config:
    players: int = setting(0, "number of players; 0: several cases")
    games: int = setting(100, "games of each pair or, with more than two seats, of each player; for --players")
    spread: float = setting(300.0, "standard deviation of the true ratings; for --players")
    draws: float = setting(0.0, "fraction of the largest possible number of draws, 0 to 1; for --players")
    seats: int = setting(2, "players in a game; for --players")
    winner_only: bool = setting(False, "with more than two seats, only the winner is known; for --players")
    repeats: int = setting(300, "tournaments in each case")
    seed: int = setting(0, "random seed; the same seed gives the same result")
    json: str = setting("", "file for the numbers; empty: none")
    overwrite: bool = setting(False, "replace the --json file if it exists")


def main(config: Config) -> None:
    path = output.free_path("json", config.json, overwrite=config.overwrite)
    cases: Sequence[Case] = CASES
    if config.players:
        cases = [
            Case(config.players, config.games, config.spread, config.draws, config.seats, config.winner_only),
        ]
    for case in cases:
        if case.players < 2 or case.games < 1 or case.spread < 0 or not 0 <= case.draws <= 1 or config.repeats < 1:
            raise UserError(
                f"{case} with repeats={config.repeats} cannot be measured; expected at least 2 players, 1 game and "
                "1 repeat, no negative spread, and draws from 0 to 1"
            )
        if case.seats < 2 or (case.draws and case.seats > 2):
            raise UserError(f"{case} cannot be measured; expected at least 2 seats, and no draws with more than 2")
    content = []
    with progress.track("rating", len(cases) * config.repeats, "tournaments") as bar:
        for number, case in enumerate(cases):
            rest = bar.rest(number * config.repeats)
            covered = measure(case, repeats=config.repeats, seed=config.seed, bar=rest)  # [repeats, K]
            error = covered.mean(axis=1).std() / np.sqrt(config.repeats)
            content.append({**case._asdict(), "coverage": float(covered.mean()), "error": float(error)})
    table = rich.table.Table(title=f"intervals that contain the true rating; {config.repeats:,} repeats a case")
    for column in ("players", "seats", "games", "spread", "draws", "known", "coverage", "± (1 standard error)"):
        table.add_column(column, justify="right")
    for row in content:
        games = f"{row['games']} a {'pair' if row['seats'] == 2 else 'player'}"
        known = "winner" if row["winner_only"] else "order"
        sizes = (str(row["players"]), str(row["seats"]), games, f"{row['spread']:g}", f"{row['draws']:g}", known)
        table.add_row(*sizes, f"{row['coverage']:.1%}", f"{row['error']:.1%}")
    output.console().print(table)
    mean = sum(row["coverage"] for row in content) / len(content)
    print(f"mean {mean:.2%}; expected {LEAST:.1%} to {MOST:.1%}, up to the standard error")
    output.write_json(path, content)


def measure(case: Case, *, repeats: int, seed: int, bar: progress.Bar | None = None) -> np.ndarray:
    """[repeats, K] bool: whether the interval of each player contains its true rating."""
    rng = np.random.default_rng([seed, *map(round, case[:3]), *([case.seats] if case.seats > 2 else [])])
    covered = np.empty((repeats, case.players), bool)
    for repeat in range(repeats):
        true = rng.normal(0.0, case.spread, case.players)
        true += ratings.MEAN - true.mean()
        drawn = Finishes.of_pairs(*draw(case, true, rng)) if case.seats == 2 else draw_orders(case, true, rng)
        rated = ratings.rate(drawn)
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


def draw_orders(case: Case, true: np.ndarray, rng: np.random.Generator) -> Finishes:
    """Finishing orders of a tournament: strengths plus Gumbel noise, which is the Plackett-Luce model."""
    plan = schedules.schedule(case.players, case.seats, games=case.games, most=arena.MAX_LANES)
    seating = np.tile(plan.arrangements, (plan.repeats, 1))  # [N, P]
    returns = true[seating] / ratings.SCALE + rng.gumbel(size=seating.shape)
    if case.winner_only:
        returns = returns == returns.max(axis=1, keepdims=True)
    return Finishes.of_returns(case.players, seating, returns.astype(np.float64), np.ones(len(seating)))


if __name__ == "__main__":
    cli.run(main, Config)
