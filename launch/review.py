"""Judges a recorded game: what every decision lost, how lucky every roll was, and both in total for each player.

    python -m launch.play --game=ludo --players=mixed,random,random,random --record=game.json
    python -m launch.review --replay=game.json --with=best --png=review.png --json=review.json
    python -m launch.review --game=ludo --replay=game.json --with=runs/<run>,depth=2
    python -m launch.review --replay=game.json --with='expectimax(depth=2)'
    python -m launch.review --replay=game.json --exact

The judge is a run's value net, a file of launch.export or a value that the game offers, with depth=N to look N turns
ahead; a searcher with a limit of its own; or with --exact the values of the solved game. --with is the same as --by.
"""

from __future__ import annotations

import dataclasses
import pathlib
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import rich.table
from rich.text import Text

from boardrl import options
from boardrl.config import setting
from boardrl.errors import UserError
from boardrl.game import Game
from boardrl.matches import luck, replay_file, review
from boardrl.matches.replay_file import Step
from boardrl.matches.review import Judge, Review, ValueJudge
from boardrl.options import Option
from boardrl.runs import learned, plots, progress
from boardrl.system import atomic_files
from launch import cli
from launch.console import output
from search import evaluation, evaluators, searchers
from search.analysis.judge import SearchJudge
from search.budget import Budget
from search.player import read_options

WORST = 10  # decisions shown in the table
MOST_DEPTH = 8


@dataclasses.dataclass(frozen=True)
class Settings:
    game: str = setting("", "the game of the replay, if it is to be checked; empty: whatever the replay says")
    replay: str = setting("", "a file of launch.play --record or launch.evaluate --record")
    by: str = setting("", "who judges, like runs/<run>,depth=2 or expectimax(depth=2); --with is the same")
    exact: bool = setting(False, "judge by the exact values, where the game can be solved")
    json: str = setting("", "a file for the numbers")
    png: str = setting("", "a file for a picture of losses and luck along the game")
    overwrite: bool = setting(False, "replace files that exist")


def main(settings: Settings) -> None:
    if not settings.replay:
        raise UserError("no replay is given; expected --replay=FILE, a file of launch.play --record")
    if bool(settings.by) == settings.exact:
        raise UserError("expected one judge: --with=runs/<run>, --with='expectimax(depth=2)' or --exact")
    path = pathlib.Path(settings.replay)
    replay = replay_file.read(path)
    game = replay_file.game_of(path, replay, settings.game)
    json_path = output.free_path("json", settings.json, overwrite=settings.overwrite)
    png_path = output.free_path("png", settings.png, overwrite=settings.overwrite)
    steps = list(replay_file.follow(path, replay, game))
    judge = make_judge(luck.EXACT if settings.exact else settings.by, game)
    with progress.track("judging", len(steps), "steps") as bar:
        found = review.review(game, replay.players, _told(steps, bar), judge)
    for table in tables(found, replay.text):
        output.console().print(table)
    if json_path:
        output.write_json(json_path, content(found, replay))
    if png_path:
        losses, rolls = ([row._asdict() for row in rows] for rows in (found.decisions, found.rolls))
        title = f"{replay.text}, judged by {found.judge}"
        atomic_files.write(png_path, plots.review_chart(replay.players, losses, rolls, title))


def _told(steps: Sequence[Step], bar: progress.Bar) -> Iterator[Step]:
    for number, step in enumerate(steps, 1):
        yield step
        bar.update(number)


def make_judge(text: str, game: Game[Any]) -> Judge:
    """The judge of a text."""
    first, *rest = options.split(text)
    name, inner = options.split_call(first) if "(" in first else (first, "")
    if name in searchers.names():
        if rest:
            raise UserError(f"--with={text}: a searcher has its options in parentheses, like {name}(depth=2)")
        return SearchJudge(text, _searcher(name, inner, game))
    asked = options.parse(",".join(rest), [Option("depth", int, 1, "turns to look ahead")], f"judge {first!r}")
    depth = asked.get("depth", 1)
    if not 1 <= depth <= MOST_DEPTH:
        raise UserError(f"--with={text}: depth={depth} is no number of turns; expected 1 to {MOST_DEPTH}")
    control = luck.make(first, game) if game.spec.num_outcomes else luck.value_of(first, game)
    if depth == 1:
        return ValueJudge(game, control)
    if control.at_decisions:
        raise UserError(f"--with={text}: exact values need no depth; leave it out")
    leaf = evaluators.learned(game, control.value, control.params)
    searchers.refuse("maxn", game)
    return SearchJudge(text, searchers.make(game, "maxn", budget=Budget(depth=depth), evaluator=leaf))


def _searcher(name: str, inner: str, game: Game[Any]) -> Any:
    searchers.refuse(name, game)
    request = read_options(name, inner, f"judge {name!r}")
    if not request.limited:
        raise UserError(f"judge {name!r} has no limit; give one, like {name}(depth=2) or {name}(ms=100)")
    leaf = evaluation.choose(game, request.evaluation, request.declaration, request.budget, load=learned.load_run)
    return searchers.make(game, name, request.options, budget=request.budget, evaluator=leaf)


def content(found: Review, replay: replay_file.Replay) -> dict[str, Any]:
    """A review as it is written to a file."""
    return {
        "game": replay.text,
        "judge": found.judge,
        "totals": [total._asdict() for total in found.totals],
        "decisions": [decision._asdict() for decision in found.decisions],
        "rolls": [roll._asdict() for roll in found.rolls],
    }


def tables(found: Review, game: str) -> list[rich.table.Table]:
    """The totals, and the decisions that lost most."""
    total = rich.table.Table(title=f"{game}, judged by {found.judge}", title_justify="left")
    for column in ("seat", "player", "decisions", "mistakes", "loss", "luck", "result", "without luck"):
        total.add_column(column, justify="left" if column == "player" else "right", overflow="fold")
    for one in found.totals:
        counts = (str(one.decisions), str(one.mistakes), f"{one.loss:.4f}")
        rest = (f"{one.luck:+.4f}", f"{one.result:+.4g}", f"{one.adjusted:+.4f}")
        total.add_row(str(one.seat), Text(one.player), *counts, *rest)
    lost = sorted((one for one in found.decisions if one.loss > review.MISTAKE), key=lambda one: -one.loss)[:WORST]
    worst = rich.table.Table(title="decisions that lost most", title_justify="left")
    for column in ("step", "seat", "played", "value", "best", "its value", "loss"):
        worst.add_column(column, justify="left" if column in ("played", "best") else "right", overflow="fold")
    for row in lost:
        played = (Text(row.text), f"{row.value:+.4f}", Text(row.best_text), f"{row.best_value:+.4f}")
        worst.add_row(str(row.step), str(row.seat), *played, f"{row.loss:.4f}")
    return [total, *([worst] if lost else [])]


def with_as_by(arguments: Sequence[str]) -> list[str]:
    """The arguments with --with, which cannot name a field in Python, written as --by."""
    return ["--by" + one[len("--with") :] if one.startswith(("--with=", "--with ")) else one for one in arguments]


if __name__ == "__main__":
    sys.argv = with_as_by(sys.argv)
    cli.run(main, Settings)
