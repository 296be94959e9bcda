"""Numbers of papers computed again, each beside the printed one.

    python -m launch.reproduce --paper=alhajry2012 --items=table1,table2 --json=out.json
    python -m launch.reproduce --paper=alhajry2012 --quick

What is trained has a run directory under runs/reproduce: a second call goes on where the first was stopped.

Intervals are of 95 %. A paper is a module of launch/papers with a table ITEMS; what differs says so.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

import rich.table

from boardrl import options
from boardrl.config import setting
from boardrl.errors import UserError
from boardrl.workers import text_form
from launch import cli
from launch.console import output
from launch.papers import (
    alhajry2012,
    arena,
    brunton2013,
    derakhshan2010,
    jumper_baselines,
    saederup2010,
    sdu_baselines,
    szurkowski2021,
    tournament,
    training_time,
)
from launch.papers.cell import Cell, Item

PAPERS: dict[str, ModuleType] = {
    module.__name__.rpartition(".")[2]: module
    for module in (
        *(alhajry2012, arena, brunton2013, derakhshan2010, jumper_baselines),
        *(saederup2010, sdu_baselines, szurkowski2021, tournament, training_time),
    )
}


@dataclasses.dataclass(frozen=True)
class Config:
    paper: str = setting("alhajry2012", f"whose numbers: {', '.join(PAPERS)}")
    items: str = setting("", "tables and figures, joined by commas; empty: all of the paper")
    games: int = setting(0, "games of a row or of a training; 0: as many as the item needs")
    quick: bool = setting(False, "few games, for a first look at everything; the numbers are not to be quoted")
    seed: int = setting(0, "same seed, same numbers")
    workers: str = setting("local", text_form.HELP)
    json: str = setting("", "file for the numbers; empty: none")
    overwrite: bool = setting(False, "replace the --json file if it exists")


def main(config: Config) -> None:
    chosen = _choose(config)
    if config.games < 0:
        raise UserError(f"--games={config.games} is no number of games; expected 1 or more, or 0 for the item's own")
    path = output.free_path("json", config.json, overwrite=config.overwrite)
    results = []
    for name, item in chosen.items():
        games = config.games or (min(item.quick, item.games) if config.quick else item.games)
        cells = item.run(games, config.seed)
        _show(item, games, cells, quick=config.quick)
        results.append(
            {
                "item": name,
                "title": item.title,
                "games": games,
                "quick": config.quick,
                "cells": [_record(cell) for cell in cells],
            }
        )
    output.write_json(path, {"paper": config.paper, "seed": config.seed, "items": results})


def _choose(config: Config) -> Mapping[str, Item]:
    if config.paper not in PAPERS:
        raise UserError(f"unknown paper {config.paper!r}; known papers: {', '.join(PAPERS)}")
    items: Mapping[str, Item] = PAPERS[config.paper].ITEMS
    names = options.split(config.items) or list(items)
    for name in names:
        if name not in items:
            raise UserError(f"unknown item {name!r} of {config.paper}; known items: {', '.join(items)}")
    return {name: items[name] for name in names}


def _record(cell: Cell) -> dict[str, Any]:
    return cell._asdict() | {"verdict": cell.verdict()}


def _show(item: Item, games: int, cells: Sequence[Cell], *, quick: bool) -> None:
    console = output.console()
    table = rich.table.Table(
        title=f"{'Quick look: ' if quick else ''}{item.title} ({games:,} {item.unit})", title_justify="left"
    )
    for column in ("row", "player", "unit", "ours", "95 %", "paper", "expected", ""):
        table.add_column(column, justify="right" if column in ("ours", "95 %", "paper", "expected") else "left")
    for cell in cells:
        digits = 0 if cell.unit == "Elo" else 2 if cell.unit.startswith("%") else 3
        paper = "" if cell.paper is None else f"{cell.paper:.{digits}f}"
        paper += f" ± {cell.paper_error:.{digits}f}" if cell.paper_error else ""
        table.add_row(
            cell.row,
            cell.what,
            cell.unit,
            f"{cell.ours:.{digits}f}",
            f"{cell.low:.{digits}f} to {cell.high:.{digits}f}",
            paper,
            "" if cell.expected is None else f"{cell.expected:.{digits}f}",
            cell.verdict(),
        )
    console.print(table)
    for note in item.notes:
        console.print(f"  {note}")


if __name__ == "__main__":
    cli.run(main, Config)
