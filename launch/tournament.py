"""Plays a tournament between any number of players, and rates them all.

    python -m launch.tournament --game=tic_tac_toe --players=random,greedy,perfect
    python -m launch.tournament --game=ludo --players=mixed,fast,defensive,aggressive,random,runs/<run> --games=2000
    python -m launch.tournament --resume=runs/<tournament>

Players are written as in launch.evaluate. Lineups follow a fair schedule: everybody sits in every seat equally often,
and meets everybody equally often, as far as the number of games allows. A tournament has a directory of its own:

    games.jsonl    the games as they finish: Ctrl-C, SIGTERM and kill -9 keep them, and --resume goes on
    ratings.json   the numbers of the tables
    ratings.png    ratings with their intervals

Ratings are on the Elo scale with 95 % intervals; docs/matches.md says how they are found, and how sure they are.
"""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import rich.table
from rich.text import Text

from boardrl import registry
from boardrl.config import setting
from boardrl.errors import UserError
from boardrl.game import Game
from boardrl.play.players import Player, make
from boardrl.runs import plots, progress
from boardrl.runs import run_directory as runs
from boardrl.runs.saved_results import Kept
from boardrl.system import atomic_files, interrupt
from boardrl.tournaments import tournament
from boardrl.workers import text_form
from launch import cli
from launch.console import named_players, output

OPENING = "--opening=N begins every game with N random moves"
GAMES, PICTURE, NUMBERS = "games.jsonl", "ratings.png", "ratings.json"
STORED = ("game", "players", "games", "seed", "opening")  # settings that the games depend on
CUT_SHOWN = 5  # players with the most games that were cut
NO_RATING = "?"  # of who has not met the others yet


@dataclasses.dataclass(frozen=True)
class Settings:
    game: str = setting("", "the game with its options, like pig:players=3,target=30")
    players: str = setting("", "the players, separated by commas: any number from two on")
    games: int = setting(1000, "games of each player, at least: as many as a fair schedule needs")
    seed: int = setting(0, "the same seed gives the same result")
    opening: int = setting(
        0, "moves at random that each game begins with: players who leave nothing to chance need some"
    )
    run: str = setting("", "directory of the tournament; empty: runs/<game>-tournament-<time>-s<seed>")
    resume: str = setting("", "directory of a tournament to go on with; its settings need not be given again")
    json: str = setting("", "a file for the numbers, besides that in the directory")
    overwrite: bool = setting(False, "replace that file if it exists")
    processes: int | None = setting(None, "the same as --workers=local:N, for matches with players on the host")
    workers: str = setting("local", text_form.HELP)

    def __post_init__(self) -> None:
        if self.processes is not None and self.processes < 1:
            raise UserError(f"--processes={self.processes} is too few; expected at least 1")
        if self.resume and self.run:
            raise UserError("--resume names the directory already; leave out --run")


def more(settings: Settings) -> cli.More:
    """The settings of a tournament that is gone on with, as defaults."""
    return cli.More([], read_settings(pathlib.Path(settings.resume)) if settings.resume else {})


def read_settings(folder: pathlib.Path) -> dict[str, Any]:
    """What the games in a tournament's directory depend on."""
    found = _stored(folder)
    if missing := [name for name in STORED if name not in found]:
        raise UserError(f"{str(folder / GAMES)!r} does not say its {missing[0]}; start a new tournament")
    return {name: found[name] for name in STORED}


def _stored(folder: pathlib.Path) -> dict[str, Any]:
    """The settings in the first line of a tournament's games."""
    try:
        with (folder / GAMES).open("rb") as file:
            return dict(json.loads(file.readline())["settings"])
    except OSError:
        raise UserError(f"--resume={folder} is no directory of a tournament: it has no {GAMES}") from None
    except (ValueError, KeyError, TypeError):
        raise UserError(f"{str(folder / GAMES)!r} is damaged, or of another kind; start a new tournament") from None


def main(settings: Settings) -> None:
    if not settings.game:
        raise UserError(f"no game given: expected --game=NAME with one of {', '.join(registry.names())}")
    game = registry.make(settings.game)
    path = output.free_path("json", settings.json, overwrite=settings.overwrite)
    players = named_players.make(settings.players, game)
    folder = pathlib.Path(settings.resume or settings.run or "")
    if not settings.resume and settings.run and folder.exists():
        raise UserError(f"--run={folder} exists already; give another name, or go on with --resume={folder}")
    if not settings.resume and not settings.run:
        folder = runs.default_path(pathlib.Path("runs"), game, "tournament", settings.seed)
    if settings.resume:
        players = _as_begun(folder, players, game)
    numbers = play(game, players, folder, games=settings.games, seed=settings.seed, **_how(settings))
    output.write_json(path, numbers)


def _how(settings: Settings) -> dict[str, Any]:
    return {"text": settings.players, "opening": settings.opening, "processes": settings.processes}


def play(
    game: Game[Any],
    players: Sequence[Player],
    folder: pathlib.Path,
    *,
    games: int,
    seed: int,
    text: str,
    opening: int = 0,
    processes: int | None = None,
) -> dict[str, Any]:
    """Plays what is missing of the tournament in a folder, shows and stores the tables; the numbers.

    Args:
      text: the players as the user wrote them.
    """
    plan = tournament.schedule(game, len(players), games=games)
    depends = {"game": registry.describe(game), "players": text, "games": games, "seed": seed, "opening": opening}
    # The very checkpoints, as runs under way have newer ones soon.
    depends["made"] = made = [player.text or player.name for player in players]
    if (folder / GAMES).exists():
        _check_players(folder, made)
    kept = Kept(folder / GAMES, depends)
    records = tournament.Records(kept)
    print(f"{len(players)} players, {plan.num_games:,} games in {folder}", file=sys.stderr)

    def so_far() -> dict[str, Any]:
        result = tournament.rank(players, records.played())
        return {
            "game": depends["game"],
            "seed": seed,
            "opening": opening,
            "games": result.num_games,
            "wanted": plan.num_games,
            "cut": result.cut,
            "distinct": result.distinct,
            "observations": result.observations,
            "players": [
                {**row._asdict(), "trained_on": player.trained_on or None}
                for row, player in zip(result.players, players, strict=True)
            ],
            "pairs": [pair._asdict() for pair in result.pairs],
            "notes": named_players.other_rules(players, game),
        }

    def stopped() -> str:
        """Shows what was played so far; the sentence to end with."""
        records.save()
        numbers = so_far()
        if numbers["games"]:
            show(numbers)
            sys.stdout.flush()
        over = records.num_over
        rounds = f", of which {numbers['games']:,} count (whole rounds)" if numbers["games"] < over else ""
        on = f"go on with: python -m launch.tournament --resume={folder}" if kept.path.exists() else "nothing to keep"
        return f"stopped with {over:,} of {plan.num_games:,} games over{rounds}; {on}"

    try:
        with interrupt.keeping(stopped), progress.track("playing", plan.num_games, "games") as bar:
            tournament.play(
                game, players, games=games, seed=seed, opening=opening, bar=bar, processes=processes, records=records
            )
    except KeyboardInterrupt:
        print(stopped(), file=sys.stderr)
        sys.exit(interrupt.EXIT_CODE)
    numbers = so_far()
    show(numbers)
    print(balance(plan))
    atomic_files.write(folder / NUMBERS, (json.dumps(numbers, indent=2, allow_nan=False) + "\n").encode())
    title = f"{numbers['game']}: {numbers['games']:,} games"
    atomic_files.write(folder / PICTURE, plots.ratings(numbers["players"], title))
    print(f"plot      {folder / PICTURE}\nnumbers   {folder / NUMBERS}")
    return numbers


def _as_begun(folder: pathlib.Path, players: Sequence[Player], game: Game[Any]) -> list[Player]:
    """The players that a tournament began with: of a run with newer checkpoints, the one of then if it still exists."""
    had = _stored(folder).get("made")
    if not isinstance(had, list) or len(had) != len(players):
        return list(players)  # refused with all other settings
    return [
        dataclasses.replace(make(before, game), name=player.name)
        if before != (player.text or player.name) and os.path.exists(before)
        else player
        for before, player in zip(map(str, had), players, strict=True)
    ]


def _check_players(folder: pathlib.Path, made: Sequence[str]) -> None:
    """Refuses to go on with players that have learned more since: their games would be rated as one player's."""
    had = _stored(folder).get("made")
    if not isinstance(had, list) or len(had) != len(made):
        return  # refused with all other settings
    for before, now in zip(had, made, strict=True):
        if before != now:
            raise UserError(
                f"the games in {str(folder)!r} were played by {before}, where this player is {now} now; put back what "
                "it was (checkpoints that still exist are found by themselves), or start a new tournament with --run"
            )


def balance(plan: tournament.Schedule) -> str:
    """How fair a schedule is, in words."""
    games, met = plan.games_of(), plan.meetings()[~np.eye(plan.num_players, dtype=bool)]
    often = f"{met.min():,}" if met.min() == met.max() else f"{met.min():,} to {met.max():,}"
    return f"everybody played {games[0]:,} games, as often in every seat, and {often} against each of the others"


def show(numbers: Mapping[str, Any]) -> None:
    """Prints the tables of a tournament."""
    output.console().print(*tables(numbers), sep="\n")


def tables(numbers: Mapping[str, Any]) -> list[Any]:
    """What the terminal shows, from the numbers that go into the JSON file."""
    players = numbers["players"]
    order = sorted(range(len(players)), key=lambda number: (not _is_rated(players[number]), -players[number]["rating"]))
    scores = {(pair["first"], pair["second"]): pair["score"] for pair in numbers["pairs"]}
    scores |= {(second, first): 1 - score for (first, second), score in scores.items()}
    played = f"{numbers['games']:,}" + (f" of {numbers['wanted']:,}" if numbers["games"] < numbers["wanted"] else "")
    cut = f", {numbers['cut']:,} cut at max_steps" if numbers["cut"] else ""
    title = f"{numbers['game']}: {played} games, seed {numbers['seed']}{cut}; ratings (mean 1500)"
    rated = rich.table.Table(title=title, title_justify="left")
    for column in ("", "player", "rating", "95 %", "games", "points", "ahead of"):
        rated.add_column(column, justify="left" if column == "player" else "right", overflow="fold")
    for place, number in enumerate(order):
        player = players[number]
        known = _is_rated(player)
        rating = (
            [f"{player['rating']:.0f}", f"{player['low']:.0f} to {player['high']:.0f}"] if known else [NO_RATING] * 2
        )
        cells = [*rating, f"{player['games']:,}", f"{player['points']:+.4f}", f"{player['score']:.1%}"]
        rated.add_row(str(place + 1), Text(player["name"]), *cells)
    cross = rich.table.Table(
        title="games in which row was ahead of column, a shared place counting half", title_justify="left"
    )
    for column in ("", "player", *(str(place + 1) for place in range(len(order)))):
        cross.add_column(column, justify="left" if column == "player" else "right", overflow="fold")
    for place, row in enumerate(order):
        cells = [f"{scores[row, column]:.1%}" if (row, column) in scores else "" for column in order]
        cross.add_row(str(place + 1), Text(players[row]["name"]), *cells)
    repeats = []
    if numbers["observations"] < numbers["games"]:
        repeats = [
            f"only {numbers['distinct']:,} of the {numbers['games']:,} games are different, as nothing is left to "
            f"chance: they count as {numbers['observations']:,.4g} in the ratings; {OPENING}"
        ]
    return [rated, cross, *numbers["notes"], *_cuts(numbers), *repeats]


def _cuts(numbers: Mapping[str, Any]) -> list[str]:
    """A line on who sat in the games that were cut: those who never end a game stand out."""
    often = sorted((player for player in numbers["players"] if player["cut"]), key=lambda player: -player["cut"])
    if not often:
        return []
    named = ", ".join(f"{player['name']} {player['cut']:,}" for player in often[:CUT_SHOWN])
    return [f"{numbers['cut']:,} games were cut at max_steps; most often with {named}"]


def _is_rated(player: Mapping[str, Any]) -> bool:
    return bool(np.isfinite(player["low"]))


if __name__ == "__main__":
    cli.run(main, Settings, more=more)
