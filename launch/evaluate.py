"""Plays matches and says who is better, and how sure that is.

  python -m launch.evaluate --game=pig:players=4 --players=hold,random,random,random --games=20000 --json=out.json

More players than seats, and ratings: python -m launch.tournament.

A player is random, perfect (small games), greedy or a strategy that the game offers, each with its options in
parentheses as in hold(total=15); a searcher as in negascout(ms=50,kilobytes=1024) or expectimax(depth=2); a run
directory or a checkpoint in it; or a class of your own as package.module:Class, whose choose(game, state, rng) returns
an action. An unknown name lists what the game knows.

With dice most of a result is luck. --control=runs/<run> (or a value that the game offers, or exact) reports the result
without luck beside the plain one; --duplicate gives the games of a round of seats the same dice; --until=0.5 and
--sprt=0,2 end the match when enough is known; --record=DIR keeps a replay of every game. See docs/matches.md.

  python -m launch.evaluate --game=ludo --players=runs/<a>,runs/<b>,runs/<b>,runs/<b> --control=runs/<a> --duplicate

Ctrl-C shows the table of what was played. With --resume=FILE the games are kept in that file as they finish; the same
command then goes on, however it was stopped, to the same numbers as if it never had been.
"""

from __future__ import annotations

import dataclasses
import math
import os
import pathlib
import sys
from typing import Any, NamedTuple

import rich.table
from rich.text import Text

from boardrl import registry
from boardrl.config import setting
from boardrl.errors import UserError
from boardrl.game import Game
from boardrl.matches import arena, duplicate, luck, sequential
from boardrl.matches.luck import Control
from boardrl.matches.records import Record
from boardrl.matches.replay_file import Recorder
from boardrl.play.players import Player
from boardrl.runs import progress
from boardrl.runs.saved_results import Kept
from boardrl.system import atomic_files, interrupt
from boardrl.workers import text_form
from launch import cli
from launch.console import named_players, output

GAMES = 1000  # of a match
MOST_GAMES = 200_000  # of a match that a test stops
OPENING = "--opening=N begins every game with N random moves"


@dataclasses.dataclass(frozen=True)
class Settings:
    game: str = setting("", "the game with its options, like pig:players=3,target=30")
    players: str = setting("", "the players, separated by commas: one for each seat")
    games: int | None = setting(
        None, f"how many games; none: {GAMES:,}, and at most {MOST_GAMES:,} with --until or --sprt"
    )
    seed: int = setting(0, "the same seed gives the same result")
    opening: int = setting(
        0, "moves at random that each game begins with: players who leave nothing to chance need some"
    )
    duplicate: bool = setting(False, "give the games of a round of seats the same dice; a round is one observation")
    control: str = setting(
        "", "take luck out by a value function: a run, a file of launch.export, a value that the game offers, or exact"
    )
    until: float = setting(0.0, "stop when the 95 % interval of the first player's win rate is ± so many points")
    sprt: str = setting(
        "", "two edges of the first player in points, like 0,2: stop when one is rejected, wrong in 5 % of matches each"
    )
    record: str = setting("", "a folder for a replay of every game")
    json: str = setting("", "a file for the same numbers as JSON")
    overwrite: bool = setting(False, "replace that file if it exists")
    resume: str = setting("", "a file that keeps the games as they finish; one that exists is gone on with")
    processes: int | None = setting(None, "the same as --workers=local:N, for matches with players on the host")
    workers: str = setting("local", text_form.HELP)


def main(settings: Settings) -> None:
    game = registry.make(settings.game)
    path = output.free_path("json", settings.json, overwrite=settings.overwrite)
    players = named_players.make(settings.players, game)
    if settings.processes is not None and settings.processes < 1:
        raise UserError(f"--processes={settings.processes} is too few; expected at least 1")
    resume = output.free_path("resume", settings.resume, overwrite=True)
    kept = Kept(resume, _of_match(game, players, settings)) if resume else None
    test = sequential.parse(settings.until, settings.sprt)
    control = luck.make(settings.control, game) if settings.control else None
    if settings.duplicate:
        duplicate.check(game, opening=settings.opening)
    match = _Match(game, players, settings, kept, _Refined(test, control, _recorder(game, players, settings)))

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
    """What the games of a match depend on; of the settings that are left as they are, only the oldest."""
    texts = [player.text or player.name for player in players]
    same = {name: getattr(settings, name) for name in ("seed", "opening")}
    more = {name: getattr(settings, name) for name in ("duplicate", "control", "until", "sprt")}
    more = {name: value for name, value in more.items() if value}
    return {"game": registry.describe(game), "players": texts, "games": num_games(settings), **same, **more}


def num_games(settings: Settings) -> int:
    """How many games are played, at most."""
    if settings.games is not None:
        return settings.games
    return MOST_GAMES if settings.until or settings.sprt else GAMES


class _Refined(NamedTuple):
    """What a match may have besides games."""

    test: sequential.Test | None
    control: Control | None
    recorder: Recorder | None


def _recorder(game: Game[Any], players: list[Player], settings: Settings) -> Recorder | None:
    """Writes replays into the folder that was asked for."""
    if not settings.record:
        return None
    if settings.resume:
        raise UserError("--record and --resume are given; a match that goes on has lost its moves, so leave one out")
    folder = pathlib.Path(settings.record)
    if os.path.exists(folder) and (not os.path.isdir(folder) or (os.listdir(folder) and not settings.overwrite)):
        raise UserError(f"--record={settings.record} is no empty folder; choose another name or add --overwrite")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        atomic_files.check_writable(folder / "game-0.json")
    except OSError as error:
        raise UserError(
            f"--record={settings.record} cannot be written: {error.strerror}; choose another place"
        ) from None
    return Recorder(folder, game, [player.name for player in players], seed=settings.seed)


class _Match:
    def __init__(
        self, game: Game[Any], players: list[Player], settings: Settings, kept: Kept | None, refined: _Refined
    ) -> None:
        self.game, self.players, self.settings, self.refined = game, players, settings, refined
        self.num_games, self.record = num_games(settings), Record(kept)
        if settings.duplicate:
            self.num_games = duplicate.whole_groups(self.num_games, game.spec.num_players)

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
                duplicate=self.settings.duplicate,
                control=self.refined.control,
                test=self.refined.test,
                recorder=self.refined.recorder,
            )

    def so_far(self) -> tuple[dict[str, Any], list[Any]]:
        result = arena.score(
            self.players,
            self.record.played(),
            seed=self.settings.seed,
            spec=self.game.spec,
            control=self.refined.control,
            record=self.record,
        )
        numbers = {
            "game": registry.describe(self.game),
            "seed": result.seed,
            "games": result.num_games,
            "distinct": result.distinct,
            "observations": result.observations,
            "opening": self.settings.opening,
            "cut": result.cut,
            "duplicate": self.settings.duplicate,
            "verdict": result.verdict,
            "players": [_numbers(score) for score in result.players],
        }
        most = result.num_games if result.verdict else self.num_games
        return numbers, match_tables(numbers, most) if result.num_games else []


def _numbers(score: arena.Score) -> dict[str, Any]:
    """A player's score for the JSON file; what is not finite is null there."""
    seats = [seat._asdict() for seat in score.seats]
    adjusted = None
    if score.adjusted is not None:
        adjusted = {
            name: value if not isinstance(value, float) or math.isfinite(value) else None
            for name, value in score.adjusted._asdict().items()
        }
    return {**score._asdict(), "seats": seats, "adjusted": adjusted}


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
    if numbers.get("duplicate"):
        repeats = [f"duplicate dice: the intervals rest on {_number(numbers['observations'])} groups of games"]
    verdict = [f"stopped by the test: {numbers['verdict']}"] if numbers.get("verdict") else []
    return [total, *_without_luck(numbers), by_seat, *repeats, *verdict]


def _without_luck(numbers: dict[str, Any]) -> list[Any]:
    """The table of the results without luck, if they are known."""
    found = [(score["name"], score["adjusted"]) for score in numbers["players"] if score.get("adjusted")]
    if not found:
        return []
    title = f"without luck, by {found[0][1]['control']}"
    table = _table(title, "player", "win rate (95 %)", "points (95 %)", "variance of points")
    for name, one in found:
        known = one["low"] is not None
        points = f"{one['points']:+.4f}"
        points += f" ({one['points_low']:+.4f} to {one['points_high']:+.4f})" if known else ""
        rate = _rate(one) if known else f"{one['win_rate']:.2%}"
        factor = "0" if one["factor"] is None else f"÷ {one['factor']:.3g}"
        table.add_row(Text(name), rate, points, factor)
    return [table]


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
