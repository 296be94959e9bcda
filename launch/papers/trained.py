"""The trained players of the papers: each in its own run directory, so that a second call resumes it."""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Mapping
from typing import Any

from boardrl import options, registry
from boardrl.errors import UserError
from boardrl.runs import log_rows, plots, training
from boardrl.runs import run_directory as runs
from boardrl.system import atomic_files
from launch import cli, train
from launch.papers.cell import Cell, share

FOLDER = pathlib.Path("runs") / "reproduce"


def run(name: str, seed: int, flags: Mapping[str, Any]) -> pathlib.Path:
    """The run directory of a finished training by `launch.train` with these flags; an existing run is reused."""
    path = FOLDER / f"{name}-{flags['games']}-s{seed}"
    begun = (path / "config.json").exists()
    if begun:
        _check_unchanged(path, flags)
    if not rows(path, "final"):
        asked = {"resume": path} if begun else {"run": path, "seed": seed, **flags}
        arguments = [f"--{flag}={value}" for flag, value in asked.items()]
        try:
            cli.run(train.main, train.TrainConfig, more=train.more, argv=["train", *arguments])
        except SystemExit as ended:
            if ended.code:
                raise
    return path


def _check_unchanged(path: pathlib.Path, flags: Mapping[str, Any]) -> None:
    """Refuses a run with other settings than the current ones, whose figures it would be mistaken for."""
    own = {field.name for field in dataclasses.fields(train.TrainConfig)}
    wanted: dict[str, Any] = {}
    for section in train.more(train.TrainConfig(**{name: flags[name] for name in own & flags.keys()})).sections:
        wanted |= dataclasses.asdict(section.config()) | dict(section.defaults)
    wanted |= {name: value for name, value in flags.items() if name not in own}
    stored = runs.read_config(path)
    had = {
        **dataclasses.asdict(runs.read_settings(registry.algorithm(stored["algo"]).Config, stored, "settings")),
        **dataclasses.asdict(runs.read_settings(training.Schedule, stored, "schedule")),
    }
    for name, value in wanted.items():
        derived = name == "evaluate_every" and not value  # 0: derived from the games
        then, now = (options.format_options({name: one}) for one in (had.get(name), value))
        if not derived and then != now:
            raise UserError(
                f"{str(path)!r} was trained with {then}, but it is now {now}; move it to another place, so that it "
                "is trained again"
            )


def game_of(path: pathlib.Path) -> str:
    """The game that a run was trained on."""
    return str(runs.read_config(path)["game"])


def rows(path: pathlib.Path, *kinds: str) -> list[dict[str, Any]]:
    """The lines of a run's metrics of the given kinds."""
    metrics = path / "metrics.jsonl"
    data = metrics.read_bytes() if metrics.exists() else b""
    return [row for row in log_rows.read(metrics.name, data).rows if row["kind"] in kinds]


def described(path: pathlib.Path) -> dict[str, str]:
    """The learned parameters in a run's report, by name."""
    _, _, section = (path / "report.md").read_text().partition("## Learned")
    lines = [line.strip("| ").split("|") for line in section.partition("##")[0].splitlines() if line.startswith("| ")]
    return {name.strip(): value.strip() for name, value in lines[1:]}


def cells(
    path: pathlib.Path, title: str, figures: Mapping[str, tuple[float, float]], *, by_seat: bool = False
) -> list[Cell]:
    """The final strength against each opponent, compared with the printed % and its ±; draws the learning curve.

    Args:
      by_seat: also gives the win rates of the best and worst seat, and draws them as the curve's band.
    """
    printed = {opponent: {"the paper": value / 100} for opponent, (value, _) in figures.items()}
    picture = path.with_suffix(".png")
    atomic_files.write(picture, plots.strength_curve(rows(path, "strength", "final"), title, printed, by_seat=by_seat))
    print(f"figure    {picture}")
    measured = [
        Cell(
            row=f"vs 3 {row['opponent']}",
            what="learned",
            unit="% won",
            ours=100 * row["win_rate"],
            low=100 * row["low"],
            high=100 * row["high"],
            paper=figures[row["opponent"]][0] if row["opponent"] in figures else None,
            paper_error=figures[row["opponent"]][1] if row["opponent"] in figures else 0.0,
        )
        for row in rows(path, "final")
    ]
    return measured + (_by_seat(path) if by_seat else [])


def _by_seat(path: pathlib.Path) -> list[Cell]:
    """The final strength from the best and from the worst seat, over equally many games from each seat."""
    found = []
    for row in rows(path, "final"):
        games = row["played"] // len(row["seats"])
        for what, rate in (("best seat", max(row["seats"])), ("worst seat", min(row["seats"]))):
            found.append(Cell(f"vs 3 {row['opponent']}", what, "% won", *share(round(rate * games), games)))
    return found
