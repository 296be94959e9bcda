"""Learners by search on the command line: a run whose player searches, in matches and as an evaluator of others."""

from __future__ import annotations

import json
import pathlib
import re

import numpy as np
import pytest

from boardrl import registry
from launch import cli, export, lineup, train
from launch.papers import brunton2013, trained
from search.player import SearchPlayer

SMALL = ("--depth=1", "--kilobytes=256", "--batch=4", "--log_every=1", "--evaluate_games=1", "--final_games=1")


def test_a_run_plays_by_search(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "run"
    flags = ["--game=jumper:size=3", "--algo=tdleaf", "--games=8", "--evaluate_against=random", f"--run={path}"]
    with pytest.raises(SystemExit) as stop:
        cli.run(train.main, train.TrainConfig, more=train.more, argv=["train", *flags, *SMALL])
    assert stop.value.code == 0
    assert "--opening=6" in capsys.readouterr().out  # as the match that was shown
    rows = [json.loads(line) for line in (path / "metrics.jsonl").read_text().splitlines()]
    assert [row["games"] for row in rows if row["kind"] == "train"] == [4, 8]
    assert [row["played"] for row in rows if row["kind"] == "final"] == [1]
    assert max(row["leaf_error"] for row in rows if row["kind"] == "train") < 1e-6

    game = registry.make("jumper:size=3")
    learned, other = lineup.make(f"{path},negascout(depth=2,net={path})", game)
    assert isinstance(learned.host, SearchPlayer)
    assert isinstance(other.host, SearchPlayer)
    weights = np.asarray(lineup.load_run(path).policy.params)
    np.testing.assert_array_equal(learned.host.searcher.memory.weights, weights)
    np.testing.assert_array_equal(other.host.searcher.memory.weights, weights)
    assert np.abs(weights).max() > 0

    file = tmp_path / "weights.json"
    with pytest.raises(SystemExit) as stop:
        cli.run(export.main, export.Config, argv=["export", f"--run={path}", f"--to={file}"])
    assert stop.value.code == 0
    (shipped,) = lineup.make(f"negascout(depth=2,learned={file})", game)
    assert isinstance(shipped.host, SearchPlayer)
    np.testing.assert_array_equal(shipped.host.searcher.memory.weights, weights)
    made_by = json.loads(file.read_text())["made_by"]
    assert made_by.startswith("python -m launch.train --game=jumper:size=3")
    assert {"--seed=0", "--games=8", "--depth=1", "--features=extended"} <= set(made_by.split())
    assert "--decay" not in made_by  # as the algorithm has it


def test_figure_4_counts_wins_by_colour(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trained, "FOLDER", tmp_path)
    monkeypatch.setattr(brunton2013, "FIXED", {"0.5 pieces, 0.5 safe": "0.5+0.5+0+0"})
    cells = brunton2013.against_fixed("tdleaf", 1, 57.9, 6, 0)
    assert [cell.row.split(":")[0].rpartition(", ")[2] for cell in cells] == ["as White", "as Black", "both"]
    counts = [[int(number) for number in re.findall(r"\d+", cell.row.split(": ")[1])] for cell in cells]
    assert [sum(count) for count in counts] == [3, 3, 6]
    assert [a + b for a, b in zip(*counts[:2], strict=True)] == counts[2]
    assert [cell.paper for cell in cells] == [None, None, 57.9]
