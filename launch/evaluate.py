"""Plays matches and says who is better, and how sure that is.

  python -m launch.evaluate --game=pig:players=4 --players=hold,random,random,random --games=20000 --json=out.json
  python -m launch.evaluate --game=tic_tac_toe --players=random,greedy,perfect --round_robin

A player is random, perfect (small games), greedy or a strategy that the game offers, each with its options in
parentheses as in hold(total=15); a searcher as in negascout(ms=50,kilobytes=1024) or expectimax(depth=2); a run
directory or a checkpoint in it; or a class of your own as package.module:Class, whose choose(game, state, rng) returns
an action. An unknown name lists what the game knows.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import rich.table
from rich.text import Text

from boardrl import arena, progress, registry, round_robin
from boardrl.config import setting
from boardrl.errors import UserError
from boardrl.game import Game
from boardrl.players import Player
from launch import cli, lineup, output


@dataclasses.dataclass(frozen=True)
class Settings:
    game: str = setting("", "the game with its options, like pig:players=3,target=30")
    players: str = setting("", "the players, separated by commas: one for each seat, or any number with --round_robin")
    games: int = setting(1000, "how many games, or with --round_robin how many for each pair")
    seed: int = setting(0, "the same seed gives the same result")
    opening: int = setting(
        0, "moves at random that each game begins with: players who leave nothing to chance need some"
    )
    round_robin: bool = setting(False, "every pair meets, and all are rated")
    json: str = setting("", "a file for the same numbers as JSON")
    overwrite: bool = setting(False, "replace that file if it exists")
    processes: int | None = setting(None, "for players that only run on the host; none: as many as there are cores")


def main(settings: Settings) -> None:
    game = registry.make(settings.game)
    path = output.free_path("json", settings.json, overwrite=settings.overwrite)
    players = lineup.make(settings.players, game)
    if settings.processes is not None and settings.processes < 1:
        raise UserError(f"--processes={settings.processes} is too few; expected at least 1")
    play = _round_robin if settings.round_robin else _match
    numbers, tables = play(game, players, settings)
    console = output.console()
    console.print(*tables, sep="\n")
    output.write_json(path, numbers)


# --- one match --------------------------------------------------------------------------------------------------------


def _match(game: Game[Any], players: list[Player], settings: Settings) -> tuple[dict[str, Any], list[Any]]:
    with progress.track("playing", settings.games, "games") as bar:
        result = arena.match(
            game,
            players,
            num_games=settings.games,
            seed=settings.seed,
            opening=settings.opening,
            bar=bar,
            processes=settings.processes,
        )
    numbers = {
        "game": registry.describe(game),
        "seed": result.seed,
        "games": result.num_games,
        "opening": settings.opening,
        "cut": result.cut,
        "players": [{**score._asdict(), "seats": [seat._asdict() for seat in score.seats]} for score in result.players],
    }
    return numbers, match_tables(numbers)


def match_tables(numbers: dict[str, Any]) -> list[Any]:
    """What the terminal shows of a match, from the numbers that go into the JSON file."""
    title = f"{numbers['game']}: {numbers['games']:,} games, seed {numbers['seed']}" + _cut(numbers["cut"])
    total = _table(title, "player", "win rate (95 %)", "wins", "draws", "losses", "points", "places")
    by_seat = _table("by seat", "player", "seat", "games", "wins", "win rate (95 %)")
    for score in numbers["players"]:
        counts = [str(score[name]) for name in ("wins", "draws", "losses")]
        places = "/".join(map(str, score["places"]))
        total.add_row(Text(score["name"]), _rate(score), *counts, f"{score['points']:+.4f}", places)
        by_seat.add_section()
        for index, seat in enumerate(score["seats"]):
            by_seat.add_row(Text(score["name"]), str(index), str(seat["games"]), str(seat["wins"]), _rate(seat))
    return [total, by_seat]


# --- a round robin ----------------------------------------------------------------------------------------------------


def _round_robin(game: Game[Any], players: list[Player], settings: Settings) -> tuple[dict[str, Any], list[Any]]:
    num_pairs = len(players) * (len(players) - 1) // 2
    with progress.track("playing", num_pairs * settings.games, "games") as bar:
        result = round_robin.play(
            game,
            players,
            num_games=settings.games,
            seed=settings.seed,
            opening=settings.opening,
            bar=bar,
            processes=settings.processes,
        )
    numbers = {
        "game": registry.describe(game),
        "seed": result.seed,
        "games": result.num_games,
        "opening": settings.opening,
        "players": [player._asdict() for player in result.players],
        "pairs": [pair._asdict() for pair in result.pairs],
    }
    return numbers, round_robin_tables(numbers)


def round_robin_tables(numbers: dict[str, Any]) -> list[Any]:
    """What the terminal shows of a round robin, from the numbers that go into the JSON file."""
    players = numbers["players"]
    scores = {(pair["first"], pair["second"]): pair["score"] for pair in numbers["pairs"]}
    scores |= {(second, first): 1 - score for (first, second), score in scores.items()}
    cut = sum(pair["cut"] for pair in numbers["pairs"])
    title = f"{numbers['game']}: {numbers['games']:,} games a pair, seed {numbers['seed']}" + _cut(cut)
    cross = _table(title + "; score of row against column", "", "player", *map(str, range(1, len(players) + 1)))
    for row, player in enumerate(players):
        cells = [f"{scores[row, column]:.1%}" if row != column else "" for column in range(len(players))]
        cross.add_row(str(row + 1), Text(player["name"]), *cells)
    rated = _table("ratings (mean 1500)", "player", "rating", "95 %", "score", "games")
    for player in sorted(players, key=lambda player: -player["rating"]):
        span = f"{player['low']:.0f} to {player['high']:.0f}"
        cells = [f"{player['rating']:.0f}", span, f"{player['score']:.1%}", str(player["games"])]
        rated.add_row(Text(player["name"]), *cells)
    return [cross, rated]


def _table(title: str, *columns: str) -> rich.table.Table:
    table = rich.table.Table(title=title, title_justify="left")
    for column in columns:
        table.add_column(column, justify="left" if column == "player" else "right", overflow="fold")
    return table


def _rate(score: dict[str, Any]) -> str:
    return f"{score['win_rate']:.2%} ({100 * score['low']:.2f} to {100 * score['high']:.2f})"


def _cut(count: int) -> str:
    return f", {count:,} cut at max_steps" if count else ""


if __name__ == "__main__":
    cli.run(main, Settings)
