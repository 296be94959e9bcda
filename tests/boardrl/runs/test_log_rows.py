"""Rows of logs: what is one is read, what is not is left out, and neither plots nor reports ever see it."""

import json

import pytest

from boardrl.runs import log_rows, plots
from boardrl.runs.training import Strength

TRAIN = {"kind": "train", "updates": 1, "games": 8, "loss": 0.5, "error": -1e-3}
STRENGTH = {
    "kind": "final", "updates": 2, "games": 16, "opponent": "random", "played": 100, "win_rate": 0.5, "low": 0.4,
    "high": 0.6, "points": -0.25, "wins": 50, "draws": 0, "losses": 50, "seats": [0.25, 0.75], "seed": 3,
}  # fmt: skip
SPEED = {"updates": 1, "games": 8, "seconds": 0.5, "games_per_second": 16}
POPULATION = {"kind": "train", "updates": 1, "games": 8, "best": 1.5, "mean": 0, "worst": -1.5}
GOOD = {
    "train": ("metrics.jsonl", TRAIN),
    "population": ("metrics.jsonl", POPULATION),
    "final": ("metrics.jsonl", STRENGTH),
    "speed": ("speed.jsonl", SPEED),
}
BAD = {
    "loss": ("train", ["0.5", None, True, [0.5], 10**400, float("nan"), float("inf")]),
    "error": ("train", ["", None]),
    "worst": ("population", ["", None]),
    "kind": ("train", ["", "other", None, ["train"]]),
    "updates": ("speed", [-1, 1.5, "1", 2**64, False]),
    "opponent": ("final", ["a\x1b[2J", "a" * 2000, 7]),
    "win_rate": ("final", [0.3, 0.7, -1]),
    "seats": ("final", [0.5, {"0": 1}, ["a"]]),
    "seconds": ("speed", [0, -1.0]),
    "games_per_second": ("speed", [-1.0]),
}


@pytest.mark.parametrize("kind", GOOD)
def test_rows_are_read(kind):
    name, row = GOOD[kind]
    assert log_rows.read(name, json.dumps(row).encode() + b"\n") == ([row], 0)


def test_every_strength_can_be_logged():
    assert {"kind", "updates", "games", *Strength._fields} == {*STRENGTH, *log_rows.LATER}


@pytest.mark.parametrize("field", BAD)
def test_rows_with_other_values_are_left_out(field):
    kind, values = BAD[field]
    name, row = GOOD[kind]
    lines = [json.dumps(row | {field: value}) for value in values]
    lines.append(json.dumps({key: value for key, value in row.items() if key != field}))
    number = len(lines) - (field == "error")  # a metric that only some algorithms have
    assert log_rows.read(name, "\n".join(lines).encode()).num_bad == number


def test_lines_that_are_no_rows():
    lines = [b"{", b"[1]", b"[" * 100_000, b'{"loss": 1e999}', b"\xff\x00", b"7" * 5000, json.dumps(TRAIN).encode()]
    assert log_rows.read("metrics.jsonl", b"\n".join(lines)) == ([TRAIN], 6)


def test_all_rows_can_be_drawn():
    edge = STRENGTH | {"win_rate": 1.0, "high": 1 - 1e-13, "low": 1.0}
    rows = log_rows.read("metrics.jsonl", "\n".join(map(json.dumps, (TRAIN, STRENGTH, edge))).encode()).rows
    assert len(rows) == 3
    assert plots.learning_curve(rows, [SPEED], "all", {})[:4] == b"\x89PNG"
