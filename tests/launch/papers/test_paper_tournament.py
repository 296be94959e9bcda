"""The tournament of all Ludo players: which runs are taken, and what comes out."""

from __future__ import annotations

import json
import pathlib

import pytest

from boardrl import registry
from launch import reproduce
from launch.papers import tournament, trained


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.setattr(trained, "FOLDER", tmp_path)


def test_all_papers_are_there():
    assert reproduce.PAPERS["tournament"] is tournament
    assert set(tournament.ITEMS) == {"sdu_java", "alhajry2012"}
    papers = {learner.preset for learner in tournament.LEARNERS.values() if learner.preset}
    assert papers == {"alhajry2012", "szurkowski2021", "derakhshan2010", "saederup2010"}
    offered = set(registry.make("ludo").strategies) - {"expert"}  # which is another name of mixed
    assert set(tournament.SCRIPTED) == offered


def test_a_finished_run_of_the_paper_is_taken_and_else_a_short_one_trained(tmp_path, monkeypatch):
    asked = {}

    def train(name, seed, flags):
        asked[name] = flags
        return tmp_path / name

    monkeypatch.setattr(trained, "run", train)
    learner = tournament.LEARNERS["TD(λ), alhajry2012"]
    short = tmp_path / "tournament-td_lambda-alhajry2012-alhajry2012"
    assert tournament._path(learner, "alhajry2012", 0, quick=False) == short
    assert (asked[short.name]["games"], asked[short.name]["preset"]) == (learner.games, "alhajry2012")
    item = tmp_path / f"{learner.items[0]}-s0"
    item.mkdir()
    monkeypatch.setattr(trained, "game_of", lambda path: "ludo")
    assert tournament._path(learner, "alhajry2012", 0, quick=False) == short  # it is not finished
    final = {"kind": "final", "updates": 1, "games": 1, "opponent": "random", "played": 1, "win_rate": 1.0, "low": 0.2,
             "high": 1.0, "points": 1.0, "wins": 1, "draws": 0, "losses": 0, "seats": [1.0], "seed": 0}  # fmt: skip
    (item / "metrics.jsonl").write_text(json.dumps(final) + "\n")
    assert tournament._path(learner, "alhajry2012", 0, quick=False) == item
    assert tournament._path(learner, "alhajry2012", 0, quick=True) == short
    assert asked[short.name]["games"] == learner.quick
    assert tournament._path(learner, "sdu_java", 0, quick=False) != item  # of other rules


def test_the_table_is_that_of_the_tournament(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(tournament, "SCRIPTED", ("random", "pacifistic"))
    monkeypatch.setattr(tournament, "LEARNERS", {})
    monkeypatch.setattr(tournament, "BEST", {})
    cells = tournament.play("sdu_java", 6, 0)
    folder = pathlib.Path(tmp_path / "tournament-sdu_java-6-s0")
    stored = json.loads((folder / "ratings.json").read_text())
    ratings = {player["name"]: player["rating"] for player in stored["players"]}
    assert {cell.row: cell.ours for cell in cells} == ratings
    assert [cell.ours for cell in cells] == sorted(ratings.values(), reverse=True)
    assert (folder / "ratings.png").exists()
    assert "ludo:rules=sdu_java: 6 games, seed 0" in capsys.readouterr().out
