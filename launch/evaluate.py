"""Plays matches and says who is better, and how sure that is.

  python -m launch.evaluate --game=pig:players=4 --players=hold,random,random,random --games=20000 --json=out.json

More players than seats, and ratings: python -m launch.tournament.

A player is random, perfect (small games), greedy or a strategy that the game offers, each with its options in
parentheses as in hold(total=15); a searcher as in negascout(ms=50,kilobytes=1024) or expectimax(depth=2); a run
directory or a checkpoint in it; or a class of your own as package.module:Class, whose choose(game, state, rng) returns
an action. An unknown name lists what the game knows.

Ctrl-C shows the table of what was played. With --resume=FILE the games are kept in that file as they finish; the same
command then goes on, however it was stopped, to the same numbers as if it never had been.
"""

from __future__ import annotations

import dataclasses
import sys
from typing import Any

import rich.table
from rich.text import Text

from boardrl import registry
from boardrl.config import setting
from boardrl.errors import UserError
from boardrl.game import Game
from boardrl.matches import arena
from boardrl.matches.records import Record
from boardrl.play.players import Player
from boardrl.runs import progress
from boardrl.runs.saved_results import Kept
from boardrl.system import interrupt
from launch import cli
from launch.console import named_players, output

OPENING = "--opening=N begins every game with N random moves"


@dataclasses.dataclass(frozen=True)
class Settings:
    game: str = setting("", "the game with its options, like pig:players=3,target=30")
    players: str = setting("", "the players, separated by commas: one for each seat")
    games: int = setting(1000, "how many games")
    seed: int = setting(0, "the same seed gives the same result")
    opening: int = setting(
        0, "moves at random that each game begins with: players who leave nothing to chance need some"
    )
    json: str = setting("", "a file for the same numbers as JSON")
    overwrite: bool = setting(False, "replace that file if it exists")
    resume: str = setting("", "a file that keeps the games as they finish; one that exists is gone on with")
    processes: int | None = setting(None, "for players that only run on the host; none: as many as there are cores")


def main(settings: Settings) -> None:
    game = registry.make(settings.game)
    path = output.free_path("json", settings.json, overwrite=settings.overwrite)
    players = named_players.make(settings.players, game)
    if settings.processes is not None and settings.processes < 1:
        raise UserError(f"--processes={settings.processes} is too few; expected at least 1")
    resume = output.free_path("resume", settings.resume, overwrite=True)
    kept = Kept(resume, _of_match(game, players, settings)) if resume else None
    match = _Match(game, players, settings, kept)

    def stopped() -> str:
        """Shows what was played so far; the sentence to end with."""
        match.save()
        numbers, tables = match.so_far()
        if tables:
            output.console().print(*tables, sep="\n")
            sys.stdout.flush()
        over, counted = match.num_over, numbers["games"]
        rounds = f", of which {counted:,} count (whole rounds, as short games are over first)" if counted < over else ""
        on = "the same command goes on from there" if kept else "--resume=FILE keeps the games of a match to go on with"
        return f"stopped with {over:,} of {match.num_games:,} games over{rounds}; {on}"

    try:
        with interrupt.keeping(stopped):
            match.play()
    except KeyboardInterrupt:
        print(stopped(), file=sys.stderr)
        sys.exit(interrupt.EXIT_CODE)
    numbers, tables = match.so_far()
    output.console().print(*tables, sep="\n")
    output.write_json(path, numbers)


def _of_match(game: Game[Any], players: list[Player], settings: Settings) -> dict[str, Any]:
    """What the games of a match depend on."""
    texts = [player.text or player.name for player in players]
    same = {name: getattr(settings, name) for name in ("games", "seed", "opening")}
    return {"game": registry.describe(game), "players": texts, **same}


class _Match:
    def __init__(self, game: Game[Any], players: list[Player], settings: Settings, kept: Kept | None) -> None:
        self.game, self.players, self.settings = game, players, settings
        self.num_games, self.record = settings.games, Record(kept)

    @property
    def num_over(self) -> int:
        return self.record.num_over

    def save(self) -> None:
        self.record.save()

    def play(self) -> None:
        with progress.track("playing", self.num_games, "games") as bar:
            arena.match(
                self.game,
                self.players,
                num_games=self.num_games,
                seed=self.settings.seed,
                opening=self.settings.opening,
                bar=bar,
                processes=self.settings.processes,
                record=self.record,
            )

    def so_far(self) -> tuple[dict[str, Any], list[Any]]:
        result = arena.score(self.players, self.record.played(), seed=self.settings.seed)
        numbers = {
            "game": registry.describe(self.game),
            "seed": result.seed,
            "games": result.num_games,
            "distinct": result.distinct,
            "observations": result.observations,
            "opening": self.settings.opening,
            "cut": result.cut,
            "players": [
                {**score._asdict(), "seats": [seat._asdict() for seat in score.seats]} for score in result.players
            ],
        }
        return numbers, match_tables(numbers, self.num_games) if result.num_games else []


def match_tables(numbers: dict[str, Any], num_games: int) -> list[Any]:
    """What the terminal shows of a match of so many games, from the numbers that go into the JSON file."""
    games = _of(numbers["games"], num_games)
    title = f"{numbers['game']}: {games} games, seed {numbers['seed']}" + _cut(numbers["cut"])
    total = _table(title, "player", "win rate (95 %)", "wins", "draws", "losses", "points", "places")
    by_seat = _table("by seat", "player", "seat", "games", "wins", "win rate (95 %)")
    for score in numbers["players"]:
        counts = [str(score[name]) for name in ("wins", "draws", "losses")]
        places = "/".join(map(str, score["places"]))
        total.add_row(Text(score["name"]), _rate(score), *counts, f"{score['points']:+.4f}", places)
        by_seat.add_section()
        for index, seat in enumerate(score["seats"]):
            by_seat.add_row(Text(score["name"]), str(index), str(seat["games"]), str(seat["wins"]), _rate(seat))
    repeats = []
    if numbers["observations"] < numbers["games"]:
        repeats = [
            f"only {numbers['distinct']:,} of the {numbers['games']:,} games are different, as nothing is left to "
            f"chance: the intervals rest on {_number(numbers['observations'])}; {OPENING}"
        ]
    return [total, by_seat, *repeats]


def _table(title: str, *columns: str) -> rich.table.Table:
    table = rich.table.Table(title=title, title_justify="left")
    for column in columns:
        table.add_column(column, justify="left" if column == "player" else "right", overflow="fold")
    return table


def _rate(score: dict[str, Any]) -> str:
    return f"{score['win_rate']:.2%} ({100 * score['low']:.2f} to {100 * score['high']:.2f})"


def _of(games: int, wanted: int) -> str:
    return f"{games:,}" if games == wanted else f"{games:,} of {wanted:,}"


def _number(observations: float) -> str:
    return f"{observations:,.4g}"


def _cut(count: int) -> str:
    return f", {count:,} cut at max_steps" if count else ""


if __name__ == "__main__":
    cli.run(main, Settings)
