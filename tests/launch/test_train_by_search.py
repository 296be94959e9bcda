"""Learners by search on the command line: a run whose player searches, in matches and as an evaluator of others."""

from __future__ import annotations

import json
import pathlib
import re

import numpy as np
import pytest

from boardrl import registry, workers
from boardrl.runs.learned import load_run
from launch import cli, export, train
from launch.console import named_players
from launch.papers import brunton2013, jumper_limits, jumper_mlp, jumper_round_robin, trained
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
    learned, other = named_players.make(f"{path},negascout(depth=2,net={path})", game)
    assert isinstance(learned.host, SearchPlayer)
    assert isinstance(other.host, SearchPlayer)
    weights = np.asarray(load_run(path).policy.params)
    np.testing.assert_array_equal(learned.host.searcher.memory.weights, weights)
    np.testing.assert_array_equal(other.host.searcher.memory.weights, weights)
    assert np.abs(weights).max() > 0

    file = tmp_path / "weights.json"
    with pytest.raises(SystemExit) as stop:
        cli.run(export.main, export.Config, argv=["export", f"--run={path}", f"--to={file}"])
    assert stop.value.code == 0
    (shipped,) = named_players.make(f"negascout(depth=2,learned={file})", game)
    assert isinstance(shipped.host, SearchPlayer)
    np.testing.assert_array_equal(shipped.host.searcher.memory.weights, weights)
    made_by = json.loads(file.read_text())["made_by"]
    assert made_by.startswith("python -m launch.train --game=jumper:size=3")
    assert {"--seed=0", "--games=8", "--depth=1", "--features=extended"} <= set(made_by.split())
    assert "--decay" not in made_by  # as the algorithm has it


def test_exactly_so_many_games_are_played(tmp_path: pathlib.Path) -> None:
    """Two steps of four positions and one of two, where a line of metrics would have four steps."""
    path = tmp_path / "run"
    flags = ["--game=jumper:size=3", "--algo=gradient_fit", "--games=10", "--evaluate_against=random", f"--run={path}"]
    with pytest.raises(SystemExit) as ended:
        cli.run(train.main, train.TrainConfig, more=train.more, argv=["train", *flags, *SMALL, "--log_every=4"])
    assert ended.value.code == 0
    rows = [json.loads(line) for line in (path / "metrics.jsonl").read_text().splitlines()]
    assert [(row["kind"], row["games"]) for row in rows] == [("strength", 0), ("train", 10), ("final", 10)]
    assert rows[1]["updates"] == 3


def test_figure_4_counts_wins_by_colour(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trained, "FOLDER", tmp_path)
    monkeypatch.setattr(brunton2013, "FIXED", {"0.5 pieces, 0.5 safe": "brunton2013_even"})
    with workers.lent(workers.Local(1)):
        cells = brunton2013.figure_4(6, 0)
    assert [cell.row.split(":")[0].rpartition(", ")[2] for cell in cells] == ["as White", "as Black", "both"]
    counts = [[int(number) for number in re.findall(r"\d+", cell.row.split(": ")[1])] for cell in cells]
    assert [sum(count) for count in counts] == [3, 3, 6]
    assert [a + b for a, b in zip(*counts[:2], strict=True)] == counts[2]
    assert [cell.paper for cell in cells] == pytest.approx([100 * 29 / 49, 100 * 35 / 46, 100 * 55 / 95])


def test_figure_1_is_counted_for_white_and_goes_on_where_it_was(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trained, "FOLDER", tmp_path)
    names = list(jumper_round_robin.PRINTED)[:2]
    monkeypatch.setattr(jumper_round_robin, "PRINTED", dict.fromkeys(names, (50.0, 60.0)))
    texts = dict(zip(names, ["random", "corner"], strict=True))
    cells = jumper_round_robin.cells(texts, 8, 0)
    assert [cell.paper for cell in cells] == [50.0, 60.0, 50.0, 60.0]
    (file,) = tmp_path.iterdir()
    lines = file.read_text().splitlines()
    assert [json.loads(line)["key"] for line in lines] == [f"{a} : {b}" for a in texts.values() for b in texts.values()]
    assert cells[1].ours == pytest.approx(100 * json.loads(lines[1])["found"][0] / 8)
    file.write_text("\n".join([*lines[:-1], lines[-1][:10]]))  # killed while it wrote
    assert jumper_round_robin.cells(texts, 8, 0) == cells


def test_limits_are_measured_from_outside(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trained, "FOLDER", tmp_path)
    monkeypatch.setattr(jumper_limits, "GAME", "jumper:size=4")
    monkeypatch.setattr(jumper_limits, "GAME_MS", 0.5)  # that no game keeps
    cells = jumper_limits.cells("jumper_best(game_ms=60)", "alphabeta(depth=1)", 4, 0)
    found = {cell.row.partition(":")[0]: cell.ours for cell in cells}
    assert found["games of more than 0.0005 s"] == 4
    assert found["games with more than 1024 KB"] == 0
    assert 0 < found["memory"] <= 1024
    assert 0 < found["seconds a game"] <= found["the longest game"] < 5
    (file,) = tmp_path.iterdir()
    kept = file.read_text()
    assert len(kept.splitlines()) == 4
    assert jumper_limits.cells("jumper_best(game_ms=60)", "alphabeta(depth=1)", 4, 0) == cells
    assert file.read_text() == kept
    jumper_limits.cells("jumper_best(game_ms=60)", "alphabeta(depth=2)", 2, 0)
    assert len(list(tmp_path.iterdir())) == 2  # games of other players are not mixed in


def test_figure_5_counts_the_lead_in_pieces(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trained, "FOLDER", tmp_path)
    monkeypatch.setattr(jumper_mlp, "SIZES", (3,))
    monkeypatch.setattr(jumper_mlp, "POINTS", 2)
    monkeypatch.setattr(jumper_mlp, "PLAYED", 2)
    cells = jumper_mlp.cells(200, 0)
    assert [cell.row.partition(", ")[0] for cell in cells] == ["3×3"] * 3
    assert all(cell.low <= cell.ours <= cell.high and abs(cell.ours) <= 9 for cell in cells)
    (picture,) = tmp_path.glob("*.png")
    assert picture.read_bytes().startswith(b"\x89PNG")
    (kept,) = tmp_path.glob("*-fig5.jsonl")
    lines = [json.loads(line) for line in kept.read_text().splitlines()]
    assert len(lines) == 6  # the first and the last point against each of three
    assert cells[-1].ours == pytest.approx(np.mean(lines[-1]["found"]))
    assert jumper_mlp.cells(200, 0) == cells  # nothing is done again
