"""The items of szurkowski2021 on a run made by hand; `launch.reproduce --paper=szurkowski2021 --quick` runs all."""

import json

import pytest

from algorithms import q_table
from boardrl import presets, registry
from launch import reproduce
from launch.papers import szurkowski2021, trained


def strength(kind, games, rate):
    row = {"kind": kind, "updates": games, "games": games, "opponent": "random", "played": 100, "points": 0.0}
    row |= {"win_rate": rate, "low": rate - 0.1, "high": rate + 0.1, "wins": 0, "draws": 0, "losses": 0}
    return {**row, "seats": [rate] * 4, "seed": 0}


def test_the_first_measurement_is_the_pretrained_net(tmp_path, monkeypatch):
    asked = {}

    def run(name, seed, flags):
        asked[name] = flags
        path = tmp_path / name
        path.mkdir()
        lines = [strength("strength", 0, 0.2), strength("strength", 5, 0.3), strength("final", 10, 0.4)]
        (path / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        return path

    monkeypatch.setattr(trained, "run", run)
    learned, before = szurkowski2021.dqn(10, 0)
    assert (learned.what, learned.ours, learned.paper) == ("learned", pytest.approx(40), 24.4)
    assert (before.what, before.ours, before.paper) == ("pretrained only", pytest.approx(20), 22.5)
    assert before.paper_error == pytest.approx(5.79, abs=0.01)  # of 200 games
    assert (tmp_path / "szurkowski2021-dqn.png").exists()
    (cell,) = szurkowski2021.unprepared(10, 0)
    assert (cell.paper, asked["szurkowski2021-unprepared"]["pretrain_from"]) == (18.0, "")
    assert "pretrain_from" not in asked["szurkowski2021-dqn"]


def test_readings_are_means_over_trainings(monkeypatch):
    """Trained for no game, all tables are empty and play alike, so that their mean has no spread."""
    monkeypatch.setattr(szurkowski2021, "SEEDS", 2)
    monkeypatch.setattr(szurkowski2021, "READINGS", dict(list(szurkowski2021.READINGS.items())[:1]))
    monkeypatch.setattr(q_table, "update", lambda config, game, opponents, state: (state, {}))
    (cell,) = szurkowski2021.readings(2, 0)
    assert cell.low == cell.ours == cell.high > 40
    assert (cell.paper, cell.what) == (82.0, "a table for each piece, one reward a move")


def test_presets_are_there_and_the_paper_is_known():
    assert reproduce.PAPERS["szurkowski2021"] is szurkowski2021
    game = registry.make(szurkowski2021.GAME)
    assert all(szurkowski2021.PRESET in presets.known(algo, game) for algo in ("dqn", "q_table"))
    assert game.board.goal == 59  # 60 tiles with the base
