"""Benchmarks: our speed and that of peers on the same work, measured in one run.

    python -m launch.bench --suite=simulate --json=out.json

Timings on a shared machine are noisy, so we report ratios: each row measures ours and the peer's alternately, and
reports the median of the rounds' ratios with their range. Install the peers with `pip install -e '.[bench]'`.
"""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Callable, Sequence
from typing import Any

import rich.table

from boardrl.config import setting
from boardrl.errors import UserError
from boardrl.runs import progress
from launch import cli
from launch.bench import guests_suite, host_suite, learn_suite, play_suite, scale_suite, search_suite, simulate_suite
from launch.bench.row import Row
from launch.console import output

SUITES: dict[str, Callable[[int], Sequence[Row]]] = {
    "simulate": simulate_suite.rows,
    "host": host_suite.rows,
    "search": search_suite.rows,
    "learn": learn_suite.rows,
    "play": play_suite.rows,
    "guests": guests_suite.rows,
    "scale": scale_suite.rows,
}


@dataclasses.dataclass(frozen=True)
class Config:
    suite: str = setting("simulate", f"what to measure: {', '.join(SUITES)}")
    only: str = setting("", "measure only the rows whose name contains this text, like mcts; empty: all")
    rounds: int = setting(7, "number of measurements of each row")
    batch: int = setting(4096, "batch size in games, for ours and the peers'")
    json: str = setting("", "file for the numbers; empty: none")
    overwrite: bool = setting(False, "replace the --json file if it exists")


def main(config: Config) -> None:
    if config.suite not in SUITES:
        raise UserError(f"unknown suite {config.suite!r}; known suites: {', '.join(SUITES)}")
    if config.rounds < 1 or config.batch < 1:
        raise UserError(f"--rounds={config.rounds} --batch={config.batch}: expected at least 1 of each")
    path = output.free_path("json", config.json, overwrite=config.overwrite)
    results = []
    every = SUITES[config.suite](config.batch)
    rows = [row for row in every if config.only in row.name]
    if not rows:
        raise UserError(
            f"--only={config.only} names no row of {config.suite}; rows: {'; '.join(row.name for row in every)}"
        )
    with progress.track("measuring", len(rows) * config.rounds, "rounds") as bar:
        for index, row in enumerate(rows):
            results.append(measure(row, config, lambda n, i=index: bar.update(i * config.rounds + n)))  # type: ignore[misc]
    _show(config, results)
    output.write_json(path, {"suite": config.suite, "batch": config.batch, "rows": results})


def measure(row: Row, config: Config, tick: Callable[[int], None]) -> dict[str, Any]:
    """Alternating rates of ours and the peer's, and the ratio within each round."""
    ours, peers, ratios = [], [], []
    for number in range(config.rounds):
        ours.append(row.ours())
        if row.peer is not None:
            peers.append(row.peer())
            ratios.append(ours[-1] / peers[-1])
        tick(number + 1)
    result: dict[str, Any] = {"name": row.name, "unit": row.unit, "ours": statistics.median(ours)}
    if ratios:
        result |= {
            "peer_name": row.peer_name,
            "peer": statistics.median(peers),
            "ratio": statistics.median(ratios),
            "ratio_low": min(ratios),
            "ratio_high": max(ratios),
        }
    return result


def _show(config: Config, results: Sequence[dict[str, Any]]) -> None:
    table = rich.table.Table(title=f"suite {config.suite}, batch {config.batch}, {config.rounds} rounds")
    for column in ("work", "unit", "ours", "peer", "theirs", "ratio (least to most)"):
        table.add_column(column, justify="left" if column in ("work", "unit", "peer") else "right")
    for r in results:
        compared = "ratio" in r
        ratio = f"{r['ratio']:.2f}  ({r['ratio_low']:.2f} to {r['ratio_high']:.2f})" if compared else ""
        theirs = f"{r['peer']:,.0f}" if compared else ""
        table.add_row(r["name"], r["unit"], f"{r['ours']:,.0f}", r.get("peer_name", ""), theirs, ratio)
    output.console().print(table)


if __name__ == "__main__":
    cli.run(main, Config)
