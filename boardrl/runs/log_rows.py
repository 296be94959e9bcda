"""Rows of a run's logs: the fields of each kind, and a reader that tolerates truncated, damaged or foreign logs."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from boardrl.system import untrusted_files

MOST = 1e300  # largest magnitude of a number; larger ones cannot be plotted
MOST_TEXT = 1000  # characters
ROUNDING = 1e-12  # tolerance of "a rate lies in its interval"

Check = Callable[[Any], bool]


def is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**63


def is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) < MOST


def is_text(value: Any) -> bool:
    return type(value) is str and len(value) <= MOST_TEXT and value.isprintable()


def _are_numbers(value: Any) -> bool:
    return type(value) is list and all(map(is_number, value))


COUNTS: dict[str, Check] = {"updates": is_count, "games": is_count}
POPULATION = ("best", "mean", "worst")  # points per game of the members, in place of a loss
STRENGTH: dict[str, Check] = {  # fields of boardrl.runs.training.Strength
    **COUNTS,
    "opponent": is_text,
    **dict.fromkeys(("played", "wins", "draws", "losses", "seed"), is_count),
    **dict.fromkeys(("win_rate", "low", "high", "points"), is_number),
    "seats": _are_numbers,
}
LATER: dict[str, Check] = dict.fromkeys(("duplicate", "control"), lambda value: type(value) is bool)  # not in old rows
SPEED: dict[str, Check] = {**COUNTS, "seconds": is_number, "games_per_second": is_number}


def is_metrics(row: Mapping[str, Any]) -> bool:
    """Whether a row is a valid row of metrics.jsonl."""
    if row.get("kind") == "train":
        return has_progress(row) and _has(row, COUNTS) and all(is_number(row[name]) for name in row if name != "kind")
    if row.get("kind") not in ("strength", "final") or not _has(row, STRENGTH):
        return False
    if not all(check(row[name]) for name, check in LATER.items() if name in row):
        return False
    points = (0.0, row["low"], row["win_rate"], row["high"], 1.0)
    return all(one <= other + ROUNDING for one, other in itertools.pairwise(points))


def has_progress(row: Mapping[str, Any]) -> bool:
    """Whether the metrics of an update have the data of a learning curve: a loss, or the points of a population."""
    return "loss" in row or all(name in row for name in POPULATION)


def is_speed(row: Mapping[str, Any]) -> bool:
    """Whether a row is a valid row of speed.jsonl."""
    return _has(row, SPEED) and row["seconds"] > 0 and row["games_per_second"] >= 0


CHECKS: dict[str, Callable[[Mapping[str, Any]], bool]] = {"metrics.jsonl": is_metrics, "speed.jsonl": is_speed}


class Rows(NamedTuple):
    """The valid rows of a log."""

    rows: list[dict[str, Any]]
    num_bad: int  # number of invalid lines


def read(name: str, data: bytes) -> Rows:
    """The rows of the named log; invalid lines are counted and skipped."""
    found = Rows([], 0)
    for line in data.split(b"\n"):
        if not line.strip():
            continue
        try:
            row = untrusted_files.parse(line)
        except ValueError:
            row = None
        if isinstance(row, dict) and CHECKS[name](row):
            found.rows.append(row)
        else:
            found = found._replace(num_bad=found.num_bad + 1)
    return found


def _has(row: Mapping[str, Any], checks: Mapping[str, Check]) -> bool:
    return all(name in row and check(row[name]) for name, check in checks.items())
