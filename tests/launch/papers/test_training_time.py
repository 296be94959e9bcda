"""`launch.reproduce --paper=training_time`: the table from finished runs."""

import json

import pytest

from launch.papers import trained, training_time
from launch.papers.training_time import BUDGETS


def test_the_table_has_the_seconds_and_win_rates_of_every_budget(tmp_path, monkeypatch, capsys):
    asked = []

    def run(name, seed, flags):
        asked.append(flags)
        path = tmp_path / name
        path.mkdir()
        counts = {"updates": 1, "games": flags["games"]}
        speed = [{**counts, "seconds": second, "games_per_second": 2.0} for second in (1.5, len(asked))]
        (path / "speed.jsonl").write_text("".join(json.dumps(row) + "\n" for row in speed))
        one = {"played": 4, "wins": 3, "draws": 0, "losses": 1, "seed": 0, "points": 0.5, "seats": [0.5] * 4}
        rows = [
            {
                "kind": "final",
                **counts,
                "opponent": name,
                **one,
                "win_rate": rate,
                "low": rate - 0.1,
                "high": rate + 0.1,
            }
            for name, rate in (("random", 0.75), ("mixed", 0.35))
        ]
        (path / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        return path

    monkeypatch.setattr(trained, "run", run)
    monkeypatch.setattr(trained, "FOLDER", tmp_path)
    cells = training_time.strength(BUDGETS[-1].games // 10, 0)
    assert [flags["games"] for flags in asked] == [budget.games // 10 for budget in BUDGETS]
    assert [cell.ours for cell in cells if cell.unit == "s"] == [2.5, 3.5, 4.5]
    assert [cell.ours for cell in cells if cell.what == "vs 3 mixed"] == pytest.approx([35.0] * len(BUDGETS))
    assert (tmp_path / f"training_time-{BUDGETS[-1].games // 10}-s0.png").read_bytes()[1:4] == b"PNG"
    assert "figure" in capsys.readouterr().out
